"""Recall and precision of repair: names are respelt or translated by character, and the ledger has to restore them.

A change is right if it restores what was injected; changes that the untouched text gets as well are counted apart.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import regex

from ape.ledger.entity import Entity, Ledger
from ape.ledger.links import LedgerIndex
from ape.passage.edit import EditKind
from benchmarks.studies.ledger.books import StudyBook, repair_book

# By paragraph: the places of variants, each with the wording that belongs there.
_Spans = dict[str, list[tuple[tuple[int, int], str]]]

MOST_FREQUENT = 10
RATE = 0.2
TRANSLATED = 0.5
_RESPELLINGS = (("zh", "z"), ("sh", "s"), ("ng", "n"), ("i", "y"), ("c", "k"), ("o", "u"), ("e", "a"), ("u", "oo"))


# What a machine might make of the characters of frequent names; written without the dictionary at hand.
TRANSLATIONS = {
    "罗德": "Net Virtue", "江晨": "River Morning", "裴逸": "Pei Leisure", "慕言君": "Admiring Words Lord",
    "程安雅": "Cheng Peaceful Elegance", "路易斯": "Road Easy", "杰森": "Outstanding Forest",
    "叶三少": "Leaf Third Youth", "唐舞麟": "Tang Dancing Unicorn", "林盛": "Forest Prosper",
    "宋扶": "Song Support", "苗毅": "Seedling Resolute", "陈歌": "Chen Song", "王一城": "King One City",
    "东宫": "East Palace", "黑鹰": "Dark Eagle", "洞主": "Hole Lord", "宁宁": "Peaceful Peace",
    "Candide": "Candid", "Pangloss": "Alltongue", "Cunégonde": "Kunigunde", "Martin": "Martyn",
}  # fmt: skip
# Others for the same names, written before the meanings of compounds were used, and tried only after.
OTHER_TRANSLATIONS = {
    "罗德": "Collect Virtue", "江晨": "Riverside Dawn", "裴逸": "Pei Escape", "慕言君": "Longing Speech Gentleman",
    "程安雅": "Journey Quiet Grace", "路易斯": "Way Easy", "杰森": "Hero Forest", "叶三少": "Ye Third Young",
    "唐舞麟": "Tang Dance Kirin", "林盛": "Woods Flourish", "宋扶": "Song Help", "苗毅": "Sprout Perseverance",
    "陈歌": "Old Song", "王一城": "Wang First City", "东宫": "Eastern Palace", "黑鹰": "Black Hawk",
    "洞主": "Cave Master", "宁宁": "Quiet Quiet",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class InjectionResult:
    """How many injected variants were restored, and how many other changes were made."""

    injected: int
    restored: int
    changed: int
    untouched: int
    """Changes that the text gets without any injection."""
    wrong: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    def format(self) -> str:
        """One line."""
        recall = 100 * self.restored / max(1, self.injected)
        precision = 100 * self.restored / max(1, self.changed)
        return (
            f"{self.injected} variants, recall {recall:.1f}%, precision {precision:.1f}% of {self.changed} changes; "
            f"{self.untouched} more that the untouched text gets too"
        )

    def __add__(self, other: InjectionResult) -> InjectionResult:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return InjectionResult(*(one + another for one, another in pairs))


def measure_injection(
    books: Sequence[StudyBook], *, seed: int = 1, translations: Mapping[str, str] = TRANSLATIONS
) -> InjectionResult:
    """Respell a fifth of the occurrences of the most frequent names, build the ledgers anew, and repair."""
    chance = random.Random(seed)  # a seeded sample, not a secret
    ledgers = [book.ledger() for book in books]
    names = sorted(
        ((one.count, place, one) for place, ledger in enumerate(ledgers) for one in ledger.entities),
        key=lambda item: -item[0],
    )[:MOST_FREQUENT]
    total = InjectionResult(0, 0, 0, 0)
    for place, (book, ledger) in enumerate(zip(books, ledgers, strict=True)):
        if chosen := [one for _, owner, one in names if owner == place]:
            spoilt, spans = _spoil(book, ledger, chosen, chance, translations)
            total += _compare(spoilt, spans, _changes(book, ledger))
    return total


def _changes(book: StudyBook, ledger: Ledger) -> Counter[tuple[str, str, str]]:
    """The changes of names that a book gets, by paragraph and wordings."""
    return Counter(
        (paragraph.id, edit.before, edit.after)
        for paragraph, repair in repair_book(book, ledger)
        for edit in repair.edits
        if edit.kind is EditKind.NAME
    )


def _compare(spoilt: StudyBook, spans: _Spans, usual: Counter[tuple[str, str, str]]) -> InjectionResult:
    restored = changed = untouched = 0
    wrong, missed = [], []
    for paragraph, repair in repair_book(spoilt, spoilt.ledger()):
        wanted = dict(spans.get(paragraph.id, ()))
        for edit in repair.edits:
            if edit.kind is not EditKind.NAME:
                continue
            if wanted.get(edit.mt_span) == edit.after:
                del wanted[edit.mt_span]
                restored += 1
            elif usual[paragraph.id, edit.before, edit.after]:
                untouched += 1
                continue
            else:
                wrong.append(f"{spoilt.name} {paragraph.id}: {edit.reason}")
            changed += 1
        missed += [
            f"{spoilt.name} {paragraph.id}: {paragraph.mt[start:end]} for {right}"
            for (start, end), right in wanted.items()
        ]
    injected = sum(map(len, spans.values()))
    return InjectionResult(injected, restored, changed, untouched, tuple(wrong), tuple(missed))


def _spoil(
    book: StudyBook, ledger: Ledger, names: Sequence[Entity], chance: random.Random, translations: Mapping[str, str]
) -> tuple[StudyBook, _Spans]:
    """The book with variants, and where each one is, by paragraph, with the wording that belongs there."""
    index = LedgerIndex(ledger)
    spans: _Spans = {}
    paragraphs = []
    for paragraph in book.paragraphs:
        here = index.counts_in(paragraph.source)
        targets = {one.target: one.source_forms[0].text for one in names if one.id in here}
        text, place = "", 0
        if targets:
            choice = "|".join(map(regex.escape, sorted(targets, key=len, reverse=True)))
            for match in regex.finditer(rf"(?<![\w-])(?:{choice})(?![\w-])", paragraph.mt):
                if chance.random() >= RATE:
                    continue
                translated = translations.get(targets[match.group()], "")
                variant = chance.choice(list(_variants(match.group())))
                if translated and chance.random() < TRANSLATED:
                    variant = translated
                text += paragraph.mt[place : match.start()]
                spans.setdefault(paragraph.id, []).append(((len(text), len(text) + len(variant)), match.group()))
                text += variant
                place = match.end()
        paragraphs.append(replace(paragraph, mt=text + paragraph.mt[place:]))
    return replace(book, paragraphs=tuple(paragraphs)), spans


def _variants(name: str) -> Iterator[str]:
    """Respellings of a name: letters doubled, dropped or replaced, and words joined or cut."""
    if " " in name:
        yield name.replace(" ", "").capitalize()
    letters = [place for place in range(2, len(name)) if name[place].islower() and name[place - 1].islower()]
    for place in letters[:3]:
        yield name[:place] + name[place] + name[place:]
    if len(name) > 5:
        for place in letters[-2:]:
            yield name[:place] + name[place + 1 :]
    for old, new in _RESPELLINGS:
        if old in name[1:]:
            yield name[0] + name[1:].replace(old, new, 1)
