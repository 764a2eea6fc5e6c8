"""Repair the names and pronouns of a paragraph from the ledger; what is not certain becomes a finding.

A wrong rendering is replaced only if the source of the same paragraph names its entity, no other entity there claims
the wording, and the right rendering does not already stand for every mention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from ape.ledger.clusters import FIRM
from ape.ledger.entity import Entity, EntityKind, Ledger, LedgerParagraph
from ape.ledger.links import LedgerIndex
from ape.ledger.pronouns import pronoun_changes
from ape.ledger.renderings import HEARD
from ape.ledger.replacement import PlannedChange, apply_changes
from ape.ledger.source_names import people_in
from ape.ledger.target_names import ADDRESS, is_ordinary, starts_sentence
from ape.passage.edit import EditKind
from ape.passage.result import Finding, Severity
from ape.text.common_words import is_common_word
from ape.text.inline_marks import strip_marks
from ape.text.lexicon import load_lexicon
from ape.text.romanisation import letter_similarity, plain_letters, sound_similarity
from ape.text.sentences import split_sentences

_WORD_BEFORE = regex.compile(r"([\p{L}\p{M}]+)[.]?[ \u00a0]$")
_WORD_AFTER = regex.compile(r"^[ \u00a0]([\p{L}\p{M}]+)")
_SMALL_WORD_AFTER = regex.compile(r"^[ \u00a0](\p{Ll}[\p{L}\p{M}]*+)(?![-'’]\p{L})")
# Nouns that keep the article after a name: the Donggong family.
_GROUPS = frozenset("family clan house household people members man men army guards sect side group".split())
_NAME_GOES_ON = regex.compile(r"([.·・•‧])?(\p{Han}{2,6})")
# A slip leaves this share of the letters: Chenng Anya.
_SLIP = 0.85
_PART_OF_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]")


@dataclass(frozen=True, slots=True)
class LedgerEdit:
    """One repair: `before`, at `mt_span` of the MT, became `after`, at `span` of the repaired text."""

    kind: EditKind
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]
    entity: str
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerRepair:
    """A repaired paragraph; without edits, the text is the MT as it was."""

    text: str
    edits: tuple[LedgerEdit, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Occurrence:
    start: int
    end: int
    text: str
    right: frozenset[str]
    wrong: frozenset[str]
    doubtful: frozenset[str]


def repair_paragraph(
    paragraph: LedgerParagraph, ledger: Ledger | LedgerIndex, *, previous: Sequence[LedgerParagraph] = ()
) -> LedgerRepair:
    """Repair one paragraph. `previous` are the paragraphs before it, nearest last; prepare an index for many calls."""
    index = ledger if isinstance(ledger, LedgerIndex) else LedgerIndex(ledger)
    if index.ledger.target_language.partition("-")[0] != "en":
        return LedgerRepair(paragraph.mt)
    counts = index.counts_in(paragraph.source)

    changes, findings = _name_changes(paragraph, counts, index) if counts else ([], [])
    more, doubts = pronoun_changes(paragraph, counts, index, previous=previous)
    text, spans = apply_changes(paragraph.mt, [*changes, *more])
    edits = tuple(
        LedgerEdit(
            change.kind, change.before, change.after, (change.start, change.end), span, change.entity, change.reason
        )
        for change, span in spans
    )
    return LedgerRepair(text, edits, tuple(_warn(message) for message in dict.fromkeys([*findings, *doubts])))


def _warn(message: str) -> Finding:
    return Finding(guard="ledger", severity=Severity.WARN, message=message)


def _names_nobody_else(source: str, wording: str, entity: Entity, counts: Collection[str], index: LedgerIndex) -> bool:
    """Whether a second wording for a person named once stands for a pronoun: it can mean nobody else that is named.

    A slip of a letter or two can't mean those that sound otherwise; any other wording could.
    """
    language = index.ledger.source_language
    if language != "zh" or entity.kind is not EntityKind.PERSON:
        return False
    forms = [form.text for form in entity.source_forms]
    named = people_in(strip_marks(source))
    named.update(form.text for key in counts if key != entity.id for form in index.entities[key].source_forms)
    others = [name for name in named if not any(name in form or form in name for form in forms)]
    right = index.wordings[entity.id].right
    is_slip = any(letter_similarity(plain_letters(wording), plain_letters(text)) >= _SLIP for text in right)
    return not others or (is_slip and all(sound_similarity(name, wording, language) < HEARD for name in others))


def _is_beside(mt: str, one: _Occurrence, right: Iterable[str]) -> bool:
    """Whether the sentence of an occurrence has the right wording too: "Rhode and Rhodes" may be two people."""
    begin = 0
    for sentence in split_sentences(mt):
        end = begin + len(sentence)
        if begin <= one.start < end:
            rest = mt[begin : one.start] + mt[one.end : end]
            return any(True for text in right for _ in _places(rest, text))
        begin = end
    return True


def _name_changes(
    paragraph: LedgerParagraph, counts: Counter[str], index: LedgerIndex
) -> tuple[list[PlannedChange], list[str]]:
    mt, texts_after = paragraph.mt, _texts_after(paragraph.source, index)
    occurrences = list(_occurrences(mt, counts, index))
    right = Counter(key for one in occurrences for key in one.right)
    changes, findings = [], []
    for one in occurrences:
        if one.right or not (one.wrong or one.doubtful):
            continue
        key = min(one.wrong or one.doubtful)
        entity = index.entities[key]
        after = index.wordings[key].wrong.get(one.text.title() if one.text.isupper() else one.text, "")
        texts = texts_after.get(key, [])
        dotted = [text for has_dot, text in texts if has_dot]
        is_used = right[key] >= counts[key] and not (
            _reads_text_after(mt, one, dotted) or _is_second_mention(paragraph, one, entity, counts, index)
        )
        is_longer = bool(dotted) or _reads_text_after(mt, one, [text for _, text in texts])
        doubt = _doubt(mt, one, entity, after, is_used=is_used, is_longer=is_longer)
        if doubt:
            findings.append(f"“{one.text}” may be a wrong rendering of {_form(entity)} ({entity.target}): {doubt}.")
        else:
            changes.append(_planned(mt, one, entity, after))
    return changes, findings


def _is_second_mention(
    paragraph: LedgerParagraph, one: _Occurrence, entity: Entity, counts: Collection[str], index: LedgerIndex
) -> bool:
    """Whether an occurrence, in a sentence without the right wording, stands for a pronoun of the source."""
    return not _is_beside(paragraph.mt, one, index.wordings[entity.id].right) and _names_nobody_else(
        paragraph.source, one.text, entity, counts, index
    )


def _occurrences(mt: str, counts: Counter[str], index: LedgerIndex) -> Iterator[_Occurrence]:
    """The known wordings of the text, longest first, none inside another."""
    owners: dict[str, tuple[set[str], set[str], set[str]]] = {}
    for key in counts:
        wordings = index.wordings[key]
        for place, texts in enumerate((wordings.right, wordings.wrong, wordings.doubtful)):
            for text in texts:
                owners.setdefault(text, (set(), set(), set()))[place].add(key)
    taken: list[tuple[int, int]] = []
    found = []
    for text in sorted(owners, key=len, reverse=True):
        for start in _places(mt, text):
            end = start + len(text)
            if all(end <= first or start >= last for first, last in taken):
                taken.append((start, end))
                found.append(_Occurrence(start, end, mt[start:end], *map(frozenset, owners[text])))
    yield from sorted(found, key=lambda one: one.start)


def _places(mt: str, text: str) -> Iterator[int]:
    for wanted in dict.fromkeys((text, text.upper())):
        start = mt.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if _is_whole(mt, start, end):
                yield start
            start = mt.find(wanted, start + 1)


def _is_whole(mt: str, start: int, end: int) -> bool:
    before, after = mt[start - 1 : start], mt[end : end + 1]
    if _PART_OF_WORD.match(before) or _PART_OF_WORD.match(after):
        return False
    joined_before = before in ("-", "'", "’") and _PART_OF_WORD.match(mt[max(0, start - 2) : start - 1])
    joined_after = after == "-" and _PART_OF_WORD.match(mt[end + 1 : end + 2])
    return not joined_before and not joined_after


def _texts_after(source: str, index: LedgerIndex) -> dict[str, list[tuple[bool, str]]]:
    """What follows the mentions of each entity: whether after a dot, as 艾兰特 in 罗德.艾兰特, and the text."""
    plain = strip_marks(source)
    found: dict[str, list[tuple[bool, str]]] = {}
    for _, end, key in index.places_in(plain):
        if match := _NAME_GOES_ON.match(plain, end):
            found.setdefault(key, []).append((bool(match[1]), match[2]))
    return found


def _reads_text_after(mt: str, one: _Occurrence, texts: Iterable[str]) -> bool:
    """Whether the word after an occurrence reads the text after the source name: both are parts of a longer name."""
    following = _WORD_AFTER.match(mt[one.end :])
    readings = (text[:size] for text in texts for size in range(2, len(text) + 1))
    return following is not None and any(sound_similarity(text, following[1], "zh") >= FIRM for text in readings)


def _doubt(mt: str, one: _Occurrence, entity: Entity, after: str, *, is_used: bool, is_longer: bool) -> str:
    """Why the occurrence can't be replaced safely, or ""."""
    if len(one.wrong) > 1:
        return "other names of the paragraph have the same wording"
    if not after:
        return "the link is weak"
    same_letters = plain_letters(one.text) == plain_letters(after)
    if is_used and not same_letters:
        return "the right rendering is there already"
    if is_ordinary(one.text) and not same_letters:
        if " " not in one.text and starts_sentence(mt, one.start):
            return "it is also an ordinary word"
        if one.text.islower() and not entity.vouched:
            return "it is also an ordinary word"
    if neighbour := _strange_neighbour(mt, one, is_longer=is_longer):
        return f"it is part of a longer name with “{neighbour}”"
    return ""


def _strange_neighbour(mt: str, one: _Occurrence, *, is_longer: bool) -> str:
    """A capitalised word next to the occurrence that makes it another name: Lin Muyu is not Muyu."""
    preceding = _WORD_BEFORE.search(mt[: one.start])
    following = None if is_longer else _WORD_AFTER.match(mt[one.end :])
    for match in (preceding, following):
        if match is None or not match[1][0].isupper() or one.text.isupper():
            continue
        if match is preceding and "." in match[0]:
            continue  # another sentence, or "Mr."
        word = match[1].lower()
        if match is following and word in load_lexicon("en").grammatical:
            continue  # a new clause with a stray capital
        # A common word may begin the sentence before the name; after it, a capital makes it a part: Shen Yan Autumn.
        if word not in ADDRESS and word not in ("i", "o", "oh") and (match is following or not is_common_word(word)):
            return str(match[1])
    return ""


def _planned(mt: str, one: _Occurrence, entity: Entity, after: str) -> PlannedChange:
    start, end, wording = one.start, one.end, after
    if one.text.isupper() and len(one.text) > 1:
        wording = after.upper()
    elif one.text[0].isupper() and after[0].islower() and starts_sentence(mt, start):
        wording = after[0].upper() + after[1:]
    # "Ye San shao" becomes "Ye Sanshao".
    rest = _SMALL_WORD_AFTER.match(mt[end:])
    if rest and plain_letters(one.text + rest[1]) == plain_letters(after):
        end += len(rest[0])
    # "Rhodes' sword" becomes "Rhode's sword".
    if one.text.endswith("s") and not wording.endswith(("s", "S")) and mt[end : end + 1] in ("'", "’"):
        mark = mt[end : end + 1]
        if not _PART_OF_WORD.match(mt[end + 1 : end + 2]):
            wording, end = f"{wording}{mark}s", end + 1
    # "a Rhode" but "an Erode".
    article = regex.search(r"\b([Aa]n?)[ \u00a0]$", mt[:start])
    if article and (wording[0].lower() in "aeiou") != (one.text[0].lower() in "aeiou"):
        right = article[1][0] + ("n" if wording[0].lower() in "aeiou" else "")
        start -= len(article[0])
        wording = right + article[0][len(article[1]) :] + wording
    # "in the East Palace" becomes "in Donggong", and "the East Palace guards" "the Donggong guards".
    the = regex.search(r"\b[Tt]he[ \u00a0]$", mt[:start])
    if the and is_ordinary(one.text) and not is_ordinary(after) and not _is_attribute(mt[end:]):
        start -= len(the[0])
    return PlannedChange(EditKind.NAME, start, end, mt[start:end], wording, entity.id, _reason(one.text, after, entity))


def _is_attribute(rest: str) -> bool:
    following = _WORD_AFTER.match(rest)
    return following is not None and following[1].lower() in _GROUPS


def _reason(before: str, after: str, entity: Entity) -> str:
    total = sum(variant.count for variant in entity.variants)
    votes = next((variant.count for variant in entity.variants if variant.text == after), 0)
    known = [f"in {votes} of {total} places"] * bool(votes) + ["confirmed"] * entity.vouched
    return f"{before} → {after}: {_form(entity)}" + (f" ({', '.join(known)})" if known else "")


def _form(entity: Entity) -> str:
    return entity.source_forms[0].text if entity.source_forms else entity.target
