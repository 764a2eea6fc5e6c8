"""Pair the paragraphs of a machine-translated book with those of its source, or tell why one has no partner.

A book is read twice: once for its numbers (`ape.books.pairing.profile`), from which the pairs are worked out, and once
for the texts, which go by in a stream. Every MT paragraph is in exactly one pair, in the order of the MT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import regex

from ape.books.book import BilingualBook, Book, Paragraph
from ape.books.pairing.aligner import Bead
from ape.books.pairing.languages import BookLanguages, check_languages
from ape.books.pairing.matching import BookMatch, match_books
from ape.books.pairing.number_conflicts import numbers_conflict
from ape.books.pairing.profile import BookProfile, profile_paragraphs
from ape.books.pairing.source_division import divide_source
from ape.books.record_fields import SKIP_NO_TRANSLATION
from ape.errors import InputError
from ape.text.inline_marks import find_marks, strip_marks
from ape.text.tokens import words

__all__ = [
    "DOUBTFUL_CONFIDENCE",
    "BookLanguages",
    "BookPairing",
    "ParagraphPair",
    "UnpairedCounter",
    "check_languages",
    "pair_books",
]

# Pairs below this are more likely wrong than right, and are skipped. Measured by `python -m
# benchmarks.studies.pairing`: of pairs with a confidence of 0.3 to 0.5 43% are right, from 0.5 to 0.7 64%, from 0.7 to
# 0.9 85%, and above 0.99 99.8%.
DOUBTFUL_CONFIDENCE = 0.5
# What is left of a confidence where the numbers of the two sides clash.
_CLASHING = 0.2
# With less than this share of the MT in pairs that are not doubtful, these are two different books. Measured: different
# books and shuffled ones have 0 to 9%, a book and its translations, free ones too, 98% and more.
_HARDLY_ANY = 0.2
# With more than this share of its paragraphs in the source as they are, the MT is no translation.
_UNTRANSLATED = 0.8
# A shorter paragraph may well be the same in two languages: a name, a number, a cry.
_SAYS_SOMETHING = 20
_FEW_WORDS = 4
_SHOWN = 50
_HEAD = 80
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}。、！？」』”…]$")

SKIP_NO_SOURCE = "no source found for it"
SKIP_EMPTY = "the MT is empty"
SKIP_NO_WORDS = "no words"
SKIP_UNTRANSLATED = "not translated: the MT is the source"
SKIP_UNDIVIDED = "its source can't be told from its neighbours'"


@dataclass(frozen=True, slots=True)
class ParagraphPair:
    """An MT paragraph with its source, which is "" where there is none. `skip` says why it is not edited."""

    id: str
    chapter: int
    title: str
    position: int
    mt: str
    source: str
    source_ids: tuple[str, ...]
    how: str
    confidence: float
    skip: str = ""


@dataclass(slots=True)
class UnpairedCounter:
    """Source paragraphs that no MT paragraph came from: how many, and the first of them as (id, how it begins)."""

    count: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)

    def add(self, paragraph: Paragraph) -> None:
        """One more."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append((paragraph.id, strip_marks(paragraph.text).strip()[:_HEAD]))


class BookPairing:
    """Two books and how they belong together. `unpaired_source` is complete once `pairs` has come to its end."""

    def __init__(
        self, source: Book | None, mt: Book, matched: BookMatch | None, languages: BookLanguages | None = None
    ) -> None:
        self.source, self.mt = source, mt
        self.unpaired_source = UnpairedCounter()
        self._matched = matched
        self._languages = languages or BookLanguages("", "")

    def pairs(self) -> Iterator[ParagraphPair]:
        """Every MT paragraph once, in order."""
        self.unpaired_source = UnpairedCounter()
        if self.source is None or self._matched is None:
            return self._side_by_side()
        return self._aligned(self.source, self._matched)

    def _side_by_side(self) -> Iterator[ParagraphPair]:
        for place, paragraph in enumerate(self.mt.paragraphs()):
            if paragraph.skip == SKIP_NO_TRANSLATION and any(
                map(str.isalnum, strip_marks(paragraph.source or ""))
            ):
                self.unpaired_source.add(replace(paragraph, text=paragraph.source or ""))
            yield _of_bilingual(place, paragraph)
        for paragraph in self.mt.untranslated() if isinstance(self.mt, BilingualBook) else ():
            self.unpaired_source.add(paragraph)

    def _aligned(self, source: Book, matched: BookMatch) -> Iterator[ParagraphPair]:
        ours = (paragraph for paragraph in source.paragraphs() if not _blank(paragraph.text))
        theirs = enumerate(self.mt.paragraphs())
        for bead, how in zip(matched.beads, matched.how, strict=True):
            sources = _take(ours, bead.source_end - bead.source, source)
            run = _take_filled(theirs, bead.mt_end - bead.mt, self.mt)
            if not bead.paired:
                for paragraph in sources:
                    self.unpaired_source.add(paragraph)
            for pair in _pairs(bead, how, sources, run, matched):
                yield self._doubted(pair)
        for place, paragraph in theirs:
            yield _pair(place, paragraph, "", (), "alignment", 1.0)
        if next(ours, None) is not None:
            raise _changed(source)

    def _doubted(self, pair: ParagraphPair) -> ParagraphPair:
        """The pair with less confidence where the numbers of its two sides have nothing in common."""
        languages = self._languages
        if pair.confidence <= _CLASHING or not numbers_conflict(
            pair.source, pair.mt, source_language=languages.source, target_language=languages.target
        ):
            return pair
        skip = pair.skip or _why_not(pair.mt, pair.source, pair.source_ids, _CLASHING)
        return replace(pair, confidence=_CLASHING, skip=skip)


def pair_books(source: Book | None, mt: Book, *, languages: BookLanguages | None = None) -> BookPairing:
    """Work out which paragraphs belong together.

    Raises InputError where there is nothing to pair: no source, no words, the same text on both sides, or two books
    that have nothing to do with each other. Knowing the languages helps a little, with numbers that are written out.
    """
    if mt.bilingual:
        _check_bilingual(source, mt)
        return BookPairing(None, mt, None)
    if source is None:
        raise InputError(
            f"{mt.path.name} has no source in it. Give the source book as well, or a bilingual file.",
            field="source",
        )
    _refuse_same_file(source, mt)
    known = languages or BookLanguages(source.language or "", mt.language or "")
    ours = profile_paragraphs(source.paragraphs(), language=known.source)
    theirs = profile_paragraphs(mt.paragraphs(), language=known.target)
    for book, numbers in ((source, ours), (mt, theirs)):
        _refuse_empty(book, len(numbers))
    _refuse_untranslated(source, mt, ours, theirs)
    matched = match_books(ours, theirs)
    _refuse_strangers(source, mt, theirs, matched)
    return BookPairing(source, mt, matched, known)


# --- what can't be paired ----------------------------------------------------------------------------------------


def _check_bilingual(source: Book | None, mt: Book) -> None:
    if source is not None:
        raise InputError(
            f"{mt.path.name} brings its source with it ({mt.format}), and {source.path.name} is one source too many. "
            "Leave it out.",
            field="source",
        )
    total = same = 0
    for paragraph in mt.paragraphs():
        text = strip_marks(paragraph.text).strip()
        total += bool(text)
        same += len(text) >= _SAYS_SOMETHING and text == strip_marks(paragraph.source or "").strip()
    _refuse_empty(mt, total)
    if same > _UNTRANSLATED * total:
        raise InputError(
            f"In {mt.path.name} {same:,} of {total:,} translations are the source itself: there is no translation to "
            "repair. Translate it first.",
            field="mt",
        )


def _refuse_same_file(source: Book, mt: Book) -> None:
    if source.path.resolve() == mt.path.resolve():
        raise InputError(
            f"{source.path.name} was given as source and as MT: the same file twice. Give the machine translation as "
            "the second.",
            field="mt",
        )


def _refuse_empty(book: Book, paragraphs: int) -> None:
    if not paragraphs:
        raise InputError(f"{book.path.name} has no paragraphs with words in them ({book.format}).")


def _refuse_untranslated(source: Book, mt: Book, ours: BookProfile, theirs: BookProfile) -> None:
    telling = theirs.texts[theirs.sizes >= _SAYS_SOMETHING]
    same = int(np.isin(telling, ours.texts).sum())
    if len(telling) and same > _UNTRANSLATED * len(telling):
        raise InputError(
            f"The MT is the source: {same:,} of {len(telling):,} paragraphs of {mt.path.name} stand in "
            f"{source.path.name} word for word. Give the machine translation as the second file.",
            field="mt",
        )


def _refuse_strangers(source: Book, mt: Book, theirs: BookProfile, matched: BookMatch) -> None:
    share = paired_share(theirs, matched)
    if share < _HARDLY_ANY:
        raise InputError(
            f"Only {share:.0%} of {mt.path.name} could be paired with {source.path.name}: these may be different "
            "books, or different parts of one. Check the two files.",
            field="mt",
        )


def paired_share(mt: BookProfile, matched: BookMatch) -> float:
    """How much of the MT, by size, is in pairs that are not doubtful, on a whole that speaks for being one book."""
    sizes = np.concatenate([[0.0], np.cumsum(mt.sizes)])
    paired = [bead for bead in matched.beads if bead.paired]
    if sum(bead.score for bead in paired) <= 0:
        return 0.0
    sure = sum(
        sizes[bead.mt_end] - sizes[bead.mt] for bead in paired if bead.confidence >= DOUBTFUL_CONFIDENCE
    )
    return float(sure / max(sizes[-1], 1.0))


# --- making pairs ------------------------------------------------------------------------------------------------


def _of_bilingual(place: int, paragraph: Paragraph) -> ParagraphPair:
    source = (paragraph.source or "").strip()
    return _pair(place, paragraph, source, (paragraph.id,) if source else (), "bilingual", 1.0)


def _pairs(
    bead: Bead, how: str, sources: list[Paragraph], run: list[tuple[int, Paragraph]], matched: BookMatch
) -> Iterator[ParagraphPair]:
    """The pairs of one bead, and of the blank MT paragraphs that stand between."""
    filled = [paragraph.text for _, paragraph in run if not _blank(paragraph.text)]
    ids = tuple(paragraph.id for paragraph in sources)
    whole = _joined([paragraph.text for paragraph in sources])
    if len(filled) > 1 and sources:
        shares = iter(divide_source(whole, filled, matched.model) or [("", 0.0)] * len(filled))
    else:
        shares = iter([(whole, 1.0)])
    for place, paragraph in run:
        if _blank(paragraph.text):
            yield _pair(place, paragraph, "", (), how, 1.0)
            continue
        text, sure = next(shares)
        yield _pair(place, paragraph, text, ids, how, round(bead.confidence * sure, 4))


def _pair(
    place: int, paragraph: Paragraph, source: str, ids: tuple[str, ...], how: str, confidence: float
) -> ParagraphPair:
    source = source if find_marks(source) == find_marks(paragraph.text) else strip_marks(source)
    return ParagraphPair(
        id=paragraph.id,
        chapter=paragraph.chapter,
        title=paragraph.title,
        position=place,
        mt=paragraph.text,
        source=source,
        source_ids=ids,
        how=how,
        confidence=confidence if source else 0.0,
        skip=paragraph.skip or _why_not(paragraph.text, source, ids, confidence),
    )


def _why_not(mt: str, source: str, ids: tuple[str, ...], confidence: float) -> str:
    """Why a paragraph is not to be edited, beyond what its own file says; nothing where it is."""
    plain, plain_source = strip_marks(mt).strip(), strip_marks(source).strip()
    if not plain:
        return SKIP_EMPTY
    if not any(map(str.isalnum, plain)):
        return SKIP_NO_WORDS
    if not plain_source:
        return SKIP_UNDIVIDED if ids else SKIP_NO_SOURCE
    if plain == plain_source and len(words(plain)) >= _FEW_WORDS:
        return SKIP_UNTRANSLATED
    if confidence < DOUBTFUL_CONFIDENCE:
        return f"the pair is doubtful (confidence {confidence:.2f})"
    return ""


def _joined(texts: list[str]) -> str:
    """As one paragraph: with a space between, but for scripts that have none."""
    joined = ""
    for text in texts:
        joined += ("" if not joined or _UNSPACED.search(joined) else " ") + text.strip()
    return joined


def _blank(text: str) -> bool:
    return not strip_marks(text).strip()


def _take(paragraphs: Iterator[Paragraph], count: int, book: Book) -> list[Paragraph]:
    taken = [paragraph for _, paragraph in zip(range(count), paragraphs, strict=False)]
    if len(taken) < count:
        raise _changed(book)
    return taken


def _take_filled(
    paragraphs: Iterator[tuple[int, Paragraph]], count: int, book: Book
) -> list[tuple[int, Paragraph]]:
    """So many that are not blank, and the blank ones before them."""
    taken: list[tuple[int, Paragraph]] = []
    while count:
        place, paragraph = next(paragraphs, (None, None))
        if place is None or paragraph is None:
            raise _changed(book)
        taken.append((place, paragraph))
        count -= not _blank(paragraph.text)
    return taken


def _changed(book: Book) -> InputError:
    return InputError(f"{book.path.name} was changed while it was being read. Begin again.")
