"""What kind of change an edit is: the word a translator would put in the margin.

The first of these that holds names the kind:

1. reordering    the same words in another order, or words gone here that come back nearby
2. casing        the same but for capital letters
3. number        digits or number words differ
4. punctuation   the same letters: only marks, spaces or mark-up differ
5. pronoun       one side is nothing but pronouns ("her" -> "the", "the old man" -> "he")
6. name          the capitalised words differ (not told in German, nor in scripts without capitals)
7. connective    one side is nothing but connectives ("but" -> "although")
8. verb form     the same verb, or only auxiliaries, in other forms ("had gone" -> "went")
9. insertion, deletion, and for all the rest word choice

So a word that comes or goes is named by what it is, where that can be told: an added "he" is a pronoun.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ape.edit_alignment import Cell, Cut
from ape.english_verbs import NOUN_MARKERS, SUBJECTS, are_forms_of_one_verb, differ_by_final_s
from ape.lexicon import Group, Lexicon, Word, describe


class Kind(StrEnum):
    """The kinds of edits, by the names that users read."""

    NAME = "name"
    PRONOUN = "pronoun"
    CONNECTIVE = "connective"
    VERB = "verb form"
    NUMBER = "number"
    PUNCTUATION = "punctuation"
    CASING = "casing"
    WORD_CHOICE = "word choice"
    INSERTION = "insertion"
    DELETION = "deletion"
    REORDERING = "reordering"


# A pronoun may stand for so many words ("he" for "the old man"); what is longer was rewritten.
_LONGEST_PHRASE = 3
# In a longer edit a number or a name is by the way.
_LONGEST_TERM = 5
# So many words of the way for each word that moved; what is farther off is the same word by chance.
_TRAVEL = 12
_ORDINARY_ENDINGS = ("ly", "ing", "tion", "ness", "ment", "ed", "ful", "ous", "ies")


@dataclass(frozen=True, slots=True)
class _Side:
    """The tokens `start` to `end` of a text, as one side of an edit; `words` are those in them, in lower case."""

    cut: Cut
    start: int
    end: int
    lexicon: Lexicon
    described: list[Word]
    words: list[str]

    @property
    def letters(self) -> str:
        return "".join([word.letters for word in self.described])

    @property
    def word_before(self) -> str:
        return self.cut.keys[self.start - 1] if self.start else ""

    def numbers(self, *, surely: bool) -> list[str]:
        group = self.lexicon.sure["number"] if surely else self.lexicon.possible["number"]
        if group.isdisjoint(self.words) and not any([word.digits for word in self.described]):
            return []
        return [word for word in self.words if word in group or any(map(str.isdigit, word))]

    def names(self, *, surely: bool) -> list[str]:
        """The capitalised words; surely a name is only what has a capital within a sentence too."""
        if not surely and len(self.words) > 2:
            return []
        places = [place for place in range(self.start, self.end) if self.cut.tokens[place][0].isupper()]
        names = [self.cut.keys[place].removesuffix("'s") for place in places]
        return [name for name in names if self._is_name(name, surely=surely)]

    def _is_name(self, name: str, *, surely: bool) -> bool:
        if self.lexicon.apart(name)[0] in self.lexicon.grammatical:
            return False
        if name in self.cut.capitalised:
            return True
        is_ordinary = name in self.lexicon.ordinary or name.endswith(_ORDINARY_ENDINGS)
        return not surely and not is_ordinary and name not in self.cut.vocabulary


def kinds(cells: list[Cell], mt: Cut, post_edit: Cut, lexicon: Lexicon) -> list[Kind]:
    """The kind of each changed cell."""
    moved = _moved(cells, mt, post_edit, lexicon)
    return [
        Kind.REORDERING
        if cell in moved
        else _kind(_side(mt, cell.a, cell.a_end, lexicon), _side(post_edit, cell.b, cell.b_end, lexicon))
        for cell in cells
    ]


def _side(cut: Cut, start: int, end: int, lexicon: Lexicon) -> _Side:
    described = [describe(lexicon, key) for key in cut.keys[start:end]]
    return _Side(cut, start, end, lexicon, described, [part for word in described for part in word.parts])


def _moved(cells: list[Cell], mt: Cut, post_edit: Cut, lexicon: Lexicon) -> set[Cell]:
    """The deletions whose words an insertion nearby brings back, and these insertions."""
    gone: defaultdict[tuple[str, ...], list[Cell]] = defaultdict(list)
    come: defaultdict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.b == cell.b_end:
            gone[_telling(mt.keys[cell.a : cell.a_end], lexicon)].append(cell)
        elif cell.a == cell.a_end:
            come[_telling(post_edit.keys[cell.b : cell.b_end], lexicon)].append(cell)
    moved: set[Cell] = set()
    for words in gone.keys() & come.keys():
        moved |= _near(gone[words], come[words], travel=_TRAVEL * len(words))
    return moved


def _telling(keys: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """The words that are worth telling that they moved; a "the" comes and goes by itself."""
    described = [(key, describe(lexicon, key)) for key in keys]
    return tuple([key for key, word in described if word.parts and not word.light])


def _near(gone: list[Cell], come: list[Cell], *, travel: int) -> set[Cell]:
    """Pair the cells of two lists, in order, that are no farther apart than `travel` tokens of the MT."""
    pairs: set[Cell] = set()
    left, right = iter(gone), iter(come)
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


def _kind(before: _Side, after: _Side) -> Kind:
    if len(before.words) > 1 and before.words != after.words and sorted(before.words) == sorted(after.words):
        return Kind.REORDERING
    if _is_casing(before, after):
        return Kind.CASING
    if _terms_differ(_Side.numbers, before, after):
        return Kind.NUMBER
    if before.letters == after.letters:
        return Kind.PUNCTUATION
    was, now = _without_shared_ends(before.words, after.words)
    if _concerns("pronoun", was, now, before.lexicon):
        return Kind.PRONOUN
    if _names_differ(before, after):
        return Kind.NAME
    if _concerns("connective", was, now, before.lexicon):
        return Kind.CONNECTIVE
    if _is_verb_form(was, now, word_before=before.word_before, lexicon=before.lexicon):
        return Kind.VERB
    if not before.words:
        return Kind.INSERTION
    return Kind.WORD_CHOICE if after.words else Kind.DELETION


def _is_casing(before: _Side, after: _Side) -> bool:
    if before.letters != after.letters:
        return False
    return before.cut.between(before.start, before.end).casefold() == after.cut.between(after.start, after.end).casefold()


def _names_differ(before: _Side, after: _Side) -> bool:
    """Whether the names differ; and what comes or goes must be names and nothing else."""
    if before.lexicon.language == "de" or not _terms_differ(_Side.names, before, after):
        return False
    both = bool(before.words and after.words)
    return both or len(before.names(surely=True) + after.names(surely=True)) == len(before.words + after.words)


def _terms_differ(terms: Callable[..., list[str]], before: _Side, after: _Side) -> bool:
    """Whether the sure terms differ, or the doubtful ones of two sides that both have some."""
    if max(len(before.words), len(after.words)) > _LONGEST_TERM:
        return False
    if terms(before, surely=True) != terms(after, surely=True):
        return True
    was, now = terms(before, surely=False), terms(after, surely=False)
    return bool(was and now) and was != now


def _concerns(group: Group, was: list[str], now: list[str], lexicon: Lexicon) -> bool:
    """Whether both sides are words of the group, or one surely is and the other could stand in its place."""
    possible = lexicon.possible[group]
    if was and now and _consist(was, possible) and _consist(now, possible):
        return not lexicon.articles.issuperset(was + now)
    sure = lexicon.sure[group]
    return (_consist(was, sure) and _could_stand_for_it(now, lexicon)) or (
        _consist(now, sure) and _could_stand_for_it(was, lexicon)
    )


def _consist(words: list[str], table: frozenset[str]) -> bool:
    return bool(words) and (table.issuperset(words) or " ".join(words) in table)


def _could_stand_for_it(words: list[str], lexicon: Lexicon) -> bool:
    """Whether the words are few, and none is a preposition or an auxiliary: an article, a noun, nothing."""
    if len(words) > _LONGEST_PHRASE:
        return False
    return lexicon.function_words.isdisjoint(words) and lexicon.auxiliaries.isdisjoint(words)


def _is_verb_form(was: list[str], now: list[str], *, word_before: str, lexicon: Lexicon) -> bool:
    main_was, main_now = _main(was, lexicon), _main(now, lexicon)
    helped = not lexicon.auxiliaries.isdisjoint(was + now)
    if main_was == main_now:
        # No word differs where a contraction is written out ("don't", "do not").
        return helped or not was + now
    if len(main_was) != 1 or len(main_now) != 1:
        return False
    if lexicon.language == "en":
        return _is_english_verb_form(main_was[0], main_now[0], word_before)
    return helped and _share_a_stem(main_was[0], main_now[0])


def _main(words: list[str], lexicon: Lexicon) -> list[str]:
    """The words without what helps a verb."""
    return [word for word in words if word not in lexicon.auxiliaries and word not in ("to", "'s")]


def _is_english_verb_form(was: str, now: str, word_before: str) -> bool:
    """The words tell by themselves, but for a final -s: there the word before tells ("he walks", "long walks")."""
    if differ_by_final_s(was, now) and word_before in SUBJECTS:
        return True
    return are_forms_of_one_verb(was, now) and word_before not in NOUN_MARKERS


def _share_a_stem(was: str, now: str) -> bool:
    shared = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    return shared >= 3 and shared >= 0.6 * min(len(was), len(now))


def _without_shared_ends(was: list[str], now: list[str]) -> tuple[list[str], list[str]]:
    start, shorter = 0, min(len(was), len(now))
    while start < shorter and was[start] == now[start]:
        start += 1
    end = 0
    while end < shorter - start and was[-1 - end] == now[-1 - end]:
        end += 1
    return was[start : len(was) - end], now[start : len(now) - end]
