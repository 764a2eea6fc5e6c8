"""Classify edits into the categories that a translator would use.

The first of these that applies is the kind:

1. reordering    the same words in another order, or words deleted here and inserted nearby
2. casing        only capital letters differ
3. number        digits or number words differ
4. punctuation   only punctuation, spaces or mark-up differ
5. pronoun       one side consists of pronouns ("her" -> "the", "the old man" -> "he")
6. name          capitalised words or words in katakana differ (not detected in German, Chinese, Arabic …)
7. connective    one side consists of connectives ("but" -> "although")
8. verb form     the same verb, or only auxiliaries, in other forms ("had gone" -> "went")
9. insertion, deletion, or else word choice

So an inserted or deleted word gets its own class if it has one: an added "he" is a pronoun edit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from ape.edits.alignment import TokenizedText
from ape.edits.phrases import AlignedCell
from ape.passage.edit import EditKind
from ape.text.english_verbs import are_forms_of_one_verb
from ape.text.lexicon import Lexicon, WordGroup, describe_word

# The longest phrase that a pronoun may replace ("the old man" by "he"); a longer one was rewritten.
_MAX_PHRASE = 3
# In a longer edit a number or a name is incidental.
_MAX_TERM = 5
# The largest distance for each word that moved; farther off, the same word occurs by chance.
_MAX_TRAVEL = 12
# Endings that are rare in names and common in English words at the start of a sentence.
_ORDINARY_ENDINGS = (
    "ly", "ing", "ed", "tion", "tions", "sion", "sions", "ness", "ment", "ments", "ful", "less", "ous", "able",
    "ible", "ive", "ical", "ity", "ies", "ism", "ists", "tors",
)  # fmt: skip


class _Side(NamedTuple):
    """One side of an edit: the tokens `start` to `end` of a text, and their words in lower case."""

    cut: TokenizedText
    start: int
    end: int
    words: tuple[str, ...]

    def numbers(self, lexicon: Lexicon, *, surely: bool) -> list[str]:
        table = lexicon.sure["number"] if surely else lexicon.possible["number"]
        return [word for word in self.words if word in table or any(map(str.isdigit, word))]

    def names(self, lexicon: Lexicon, *, surely: bool) -> list[str]:
        """The possible names; with `surely`, only words that are capitalised within a sentence too."""
        if len(self.words) > 2 and not surely:
            return []
        found = []
        for position in range(self.start, self.end):
            if _could_be_name(self.cut.tokens[position]):
                name = self.cut.keys[position].removesuffix("'s")
                if self._is_name(name, lexicon, surely=surely):
                    found.append(name)
        return found

    def _is_name(self, name: str, lexicon: Lexicon, *, surely: bool) -> bool:
        if lexicon.grammatical.issuperset(describe_word(lexicon, name).parts[:1]):
            return False
        if name in self.cut.capitalised:
            return True
        if surely or name in lexicon.ordinary or name.endswith(_ORDINARY_ENDINGS):
            return False
        return _could_be_name(name) or name not in self.cut.vocabulary


def _could_be_name(token: str) -> bool:
    """Whether the token is capitalised, or in katakana, which is used for foreign names."""
    return token[0].isupper() or "ァ" <= token[0] <= "ヺ"


def classify_cells(
    cells: list[AlignedCell], mt: TokenizedText, post_edit: TokenizedText, lexicon: Lexicon
) -> list[EditKind]:
    """The kind of each changed cell."""
    moved = _moved(cells, mt, post_edit, lexicon)
    return [EditKind.REORDERING if cell in moved else _kind(cell, mt, post_edit, lexicon) for cell in cells]


def _moved(cells: list[AlignedCell], mt: TokenizedText, post_edit: TokenizedText, lexicon: Lexicon) -> set[AlignedCell]:
    """The deletions whose words are inserted nearby, and these insertions."""
    deleted: defaultdict[tuple[str, ...], list[AlignedCell]] = defaultdict(list)
    inserted: defaultdict[tuple[str, ...], list[AlignedCell]] = defaultdict(list)
    for cell in cells:
        if cell.b == cell.b_end:
            deleted[_content_keys(mt.keys[cell.a : cell.a_end], lexicon)].append(cell)
        elif cell.a == cell.a_end:
            inserted[_content_keys(post_edit.keys[cell.b : cell.b_end], lexicon)].append(cell)
    moved: set[AlignedCell] = set()
    for words in deleted.keys() & inserted.keys():
        moved |= _near(deleted[words], inserted[words], travel=_MAX_TRAVEL * len(words))
    return moved


def _content_keys(keys: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """The keys without function words, which change on their own."""
    described = [(key, describe_word(lexicon, key)) for key in keys]
    return tuple([key for key, word in described if word.parts and not word.is_function_word])


def _near(deleted: list[AlignedCell], inserted: list[AlignedCell], *, travel: int) -> set[AlignedCell]:
    """Pair the cells of two lists, in order, that are at most `travel` tokens of the MT apart."""
    pairs: set[AlignedCell] = set()
    left, right = iter(deleted), iter(inserted)
    lost, found = next(left, None), next(right, None)
    while lost and found:
        if abs(lost.a - found.a) <= travel:
            pairs |= {lost, found}
            lost, found = next(left, None), next(right, None)
        elif lost.a < found.a:
            lost = next(left, None)
        else:
            found = next(right, None)
    return pairs


def _kind(cell: AlignedCell, mt: TokenizedText, post_edit: TokenizedText, lexicon: Lexicon) -> EditKind:
    a, a_end, b, b_end = cell
    was, letters, has_number = _describe(mt.keys[a:a_end], lexicon)
    now, new_letters, new_number = _describe(post_edit.keys[b:b_end], lexicon)
    if len(was) == len(now) > 1 and was != now and sorted(was) == sorted(now):
        return EditKind.REORDERING
    same_letters = letters == new_letters
    if same_letters and mt.between(a, a_end).casefold() == post_edit.between(b, b_end).casefold():
        return EditKind.CASING
    if has_number or new_number:
        before, after = _Side(mt, a, a_end, was), _Side(post_edit, b, b_end, now)
        if _terms_differ(_Side.numbers, before, after, lexicon):
            return EditKind.NUMBER
    if same_letters:
        return EditKind.PUNCTUATION
    lost, gained = _without_shared_ends(was, now)
    # Most edits replace words that are in no table.
    grammatical = not (lexicon.grammatical.isdisjoint(lost) and lexicon.grammatical.isdisjoint(gained))
    if grammatical and _concerns("pronoun", lost, gained, lexicon):
        return EditKind.PRONOUN
    if _has_possible_name(mt.tokens[a:a_end]) or _has_possible_name(post_edit.tokens[b:b_end]):
        before, after = _Side(mt, a, a_end, was), _Side(post_edit, b, b_end, now)
        if _names_differ(before, after, lexicon):
            return EditKind.NAME
    if grammatical and _concerns("connective", lost, gained, lexicon):
        return EditKind.CONNECTIVE
    word_before = mt.keys[a - 1] if a else ""
    if _is_verb_form(lost, gained, word_before=word_before, lexicon=lexicon):
        return EditKind.VERB
    if not was:
        return EditKind.INSERTION
    return EditKind.WORD_CHOICE if now else EditKind.DELETION


def _describe(keys: tuple[str, ...], lexicon: Lexicon) -> tuple[tuple[str, ...], str, bool]:
    """The parts of the words, their letters, and whether one may be a number."""
    if len(keys) == 1:
        word = describe_word(lexicon, keys[0])
        return word.parts, word.letters, word.number
    words = [describe_word(lexicon, key) for key in keys]
    parts = tuple([part for word in words for part in word.parts])
    return parts, "".join([word.letters for word in words]), True in [word.number for word in words]


def _has_possible_name(tokens: tuple[str, ...]) -> bool:
    return _could_be_name(tokens[0]) if len(tokens) == 1 else True in map(_could_be_name, tokens)


def _names_differ(before: _Side, after: _Side, lexicon: Lexicon) -> bool:
    """Whether the names differ; an insertion or deletion must consist of names only."""
    if lexicon.language == "de" or not _terms_differ(_Side.names, before, after, lexicon):
        return False
    if before.words and after.words:
        return True
    names = before.names(lexicon, surely=True) + after.names(lexicon, surely=True)
    return len(names) == len(before.words + after.words)


def _terms_differ(terms: Callable[..., list[str]], before: _Side, after: _Side, lexicon: Lexicon) -> bool:
    """Whether the sure terms differ, or the doubtful ones if both sides have some."""
    if max(len(before.words), len(after.words)) > _MAX_TERM:
        return False
    if terms(before, lexicon, surely=True) != terms(after, lexicon, surely=True):
        return True
    was, now = terms(before, lexicon, surely=False), terms(after, lexicon, surely=False)
    return bool(was and now) and was != now


def _concerns(group: WordGroup, was: tuple[str, ...], now: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether both sides are words of the group, or one surely is and the other could replace it."""
    possible = lexicon.possible[group]
    if was and now and _consists_of(was, possible) and _consists_of(now, possible):
        return not lexicon.articles.issuperset(was + now)
    sure = lexicon.sure[group]
    if _consists_of(was, sure):
        return _could_replace_it(now, lexicon)
    return _consists_of(now, sure) and _could_replace_it(was, lexicon)


def _consists_of(words: tuple[str, ...], table: frozenset[str]) -> bool:
    if len(words) == 1:
        return words[0] in table
    return bool(words) and (table.issuperset(words) or " ".join(words) in table)


def _could_replace_it(words: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the words are few and include no preposition or auxiliary."""
    if len(words) > _MAX_PHRASE:
        return False
    return lexicon.function_words.isdisjoint(words) and lexicon.auxiliaries.isdisjoint(words)


def _is_verb_form(was: tuple[str, ...], now: tuple[str, ...], *, word_before: str, lexicon: Lexicon) -> bool:
    helpers = lexicon.helpers
    main_was = [word for word in was if word not in helpers]
    main_now = [word for word in now if word not in helpers]
    if main_was == main_now:
        # No word differs if a contraction is expanded ("don't", "do not").
        return _have_auxiliaries(was + now, lexicon) or not was + now
    if len(main_was) != 1 or len(main_now) != 1:
        return False
    if lexicon.language == "en":
        return are_forms_of_one_verb(main_was[0], main_now[0], word_before=word_before)
    return _have_auxiliaries(was + now, lexicon) and _share_a_stem(main_was[0], main_now[0])


def _have_auxiliaries(words: tuple[str, ...], lexicon: Lexicon) -> bool:
    return not lexicon.auxiliaries.isdisjoint(words)


def _share_a_stem(was: str, now: str) -> bool:
    shorter = min(len(was), len(now))
    stem = max(3, round(0.6 * shorter))
    return stem <= shorter and was[:stem] == now[:stem]


def _without_shared_ends(was: tuple[str, ...], now: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not was or not now or (was[0] != now[0] and was[-1] != now[-1]):
        return was, now
    start, shorter = 0, min(len(was), len(now))
    while start < shorter and was[start] == now[start]:
        start += 1
    end = 0
    while end < shorter - start and was[-1 - end] == now[-1 - end]:
        end += 1
    return was[start : len(was) - end], now[start : len(now) - end]
