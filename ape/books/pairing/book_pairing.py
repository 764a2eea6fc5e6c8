"""Pair the paragraphs of a machine-translated book with those of its source.

A book is read twice: once for its profile (`ape.books.pairing.profile`), from which the pairs are computed, and once to
stream the texts. Every MT paragraph is in exactly one pair, in the order of the MT; unpaired ones have a skip reason.
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

# Pairs below this confidence are more likely wrong than right, and are skipped. Measured by `python -m
# benchmarks.studies.pairing`: of pairs with a confidence of 0.3 to 0.5 43% are right, from 0.5 to 0.7 64%, from 0.7 to
# 0.9 85%, and above 0.99 99.8%.
DOUBTFUL_CONFIDENCE = 0.5
# The confidence of pairs with conflicting numbers.
_CONFLICT_CONFIDENCE = 0.2
# With less than this share of the MT in confident pairs, the files are different books. Measured: different and
# shuffled books have 0 to 9%, a book and its translations, even free ones, 98% and more.
_MIN_PAIRED_SHARE = 0.2
# With more than this share of its paragraphs equal to the source, the MT is not a translation.
_MAX_EQUAL_SHARE = 0.8
# Shorter paragraphs may be equal in two languages: names, numbers, exclamations.
_MIN_CHARACTERS = 20
_MIN_WORDS = 4
_MAX_EXAMPLES = 50
_EXAMPLE_CHARACTERS = 80
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}。、！？」』”…]$")

SKIP_NO_SOURCE = "no source found for it"
SKIP_EMPTY = "the MT is empty"
SKIP_NO_WORDS = "no words"
SKIP_UNTRANSLATED = "not translated: the MT is the source"
SKIP_UNDIVIDED = "its source can't be separated from its neighbours'"


@dataclass(frozen=True, slots=True)
class ParagraphPair:
    """An MT paragraph with its source, or "" where there is none. `skip` is the reason not to edit it."""

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
    """Source paragraphs without MT: their number, and the first of them as (id, beginning)."""

    count: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)

    def add(self, paragraph: Paragraph) -> None:
        """Count a paragraph."""
        self.count += 1
        if len(self.first) < _MAX_EXAMPLES:
            self.first.append((paragraph.id, strip_marks(paragraph.text).strip()[:_EXAMPLE_CHARACTERS]))


class BookPairing:
    """Two books and their alignment. `unpaired_source` is complete once `pairs` is exhausted."""

    def __init__(
        self, source: Book | None, mt: Book, matched: BookMatch | None, languages: BookLanguages | None = None
    ) -> None:
        self.source, self.mt = source, mt
        self.unpaired_source = UnpairedCounter()
        self._matched = matched
        self._languages = languages or BookLanguages("", "")

    def pairs(self) -> Iterator[ParagraphPair]:
        """Iterate over all MT paragraphs with their sources."""
        self.unpaired_source = UnpairedCounter()
        if self.source is None or self._matched is None:
            return self._bilingual_pairs()
        return self._aligned_pairs(self.source, self._matched)

    def _bilingual_pairs(self) -> Iterator[ParagraphPair]:
        for position, paragraph in enumerate(self.mt.paragraphs()):
            if paragraph.skip == SKIP_NO_TRANSLATION and any(map(str.isalnum, strip_marks(paragraph.source or ""))):
                self.unpaired_source.add(replace(paragraph, text=paragraph.source or ""))
            yield _bilingual_pair(position, paragraph)
        for paragraph in self.mt.untranslated() if isinstance(self.mt, BilingualBook) else ():
            self.unpaired_source.add(paragraph)

    def _aligned_pairs(self, source: Book, matched: BookMatch) -> Iterator[ParagraphPair]:
        ours = (paragraph for paragraph in source.paragraphs() if not _blank(paragraph.text))
        theirs = enumerate(self.mt.paragraphs())
        for bead, how in zip(matched.beads, matched.how, strict=True):
            sources = _take(ours, bead.source_end - bead.source, source)
            run = _take_filled(theirs, bead.mt_end - bead.mt, self.mt)
            if not bead.paired:
                for paragraph in sources:
                    self.unpaired_source.add(paragraph)
            for pair in _pairs(bead, how, sources, run, matched):
                yield self._check_numbers(pair)
        for position, paragraph in theirs:
            yield _pair(position, paragraph, "", (), "alignment", 1.0)
        if next(ours, None) is not None:
            raise _changed(source)

    def _check_numbers(self, pair: ParagraphPair) -> ParagraphPair:
        """Lower the confidence of a pair with conflicting numbers."""
        languages = self._languages
        if pair.confidence <= _CONFLICT_CONFIDENCE or not numbers_conflict(
            pair.source, pair.mt, source_language=languages.source, target_language=languages.target
        ):
            return pair
        skip = pair.skip or _skip_reason(pair.mt, pair.source, pair.source_ids, _CONFLICT_CONFIDENCE)
        return replace(pair, confidence=_CONFLICT_CONFIDENCE, skip=skip)


def pair_books(source: Book | None, mt: Book, *, languages: BookLanguages | None = None) -> BookPairing:
    """Pair the paragraphs of two books, or of a bilingual one.

    Raises InputError where there is no source, no text, the same text on both sides, or two unrelated books. Languages
    are used to read numbers that are spelled out.
    """
    if mt.bilingual:
        _check_bilingual(source, mt)
        return BookPairing(None, mt, None)
    if source is None:
        raise InputError(
            f"{mt.path.name} has no source. Give the source book as well, or a bilingual file.", field="source"
        )
    _refuse_same_file(source, mt)
    known = languages or BookLanguages(source.language or "", mt.language or "")
    ours = profile_paragraphs(source.paragraphs(), language=known.source)
    theirs = profile_paragraphs(mt.paragraphs(), language=known.target)
    for book, numbers in ((source, ours), (mt, theirs)):
        _refuse_empty(book, len(numbers))
    _refuse_untranslated(source, mt, ours, theirs)
    matched = match_books(ours, theirs)
    _refuse_unrelated(source, mt, theirs, matched)
    return BookPairing(source, mt, matched, known)


# --- what can't be paired ----------------------------------------------------------------------------------------


def _check_bilingual(source: Book | None, mt: Book) -> None:
    if source is not None:
        raise InputError(
            f"{mt.path.name} is bilingual ({mt.format}) and includes its source. Leave out {source.path.name}.",
            field="source",
        )
    total = same = 0
    for paragraph in mt.paragraphs():
        text = strip_marks(paragraph.text).strip()
        total += bool(text)
        same += len(text) >= _MIN_CHARACTERS and text == strip_marks(paragraph.source or "").strip()
    _refuse_empty(mt, total)
    if same > _MAX_EQUAL_SHARE * total:
        raise InputError(
            f"In {mt.path.name} {same:,} of {total:,} translations equal the source. Translate it first, "
            "then post-edit it.",
            field="mt",
        )


def _refuse_same_file(source: Book, mt: Book) -> None:
    if source.path.resolve() == mt.path.resolve():
        raise InputError(
            f"{source.path.name} was given both as source and as MT. Give the machine translation as the second file.",
            field="mt",
        )


def _refuse_empty(book: Book, paragraphs: int) -> None:
    if not paragraphs:
        raise InputError(f"{book.path.name} has no paragraphs with words ({book.format}).")


def _refuse_untranslated(source: Book, mt: Book, ours: BookProfile, theirs: BookProfile) -> None:
    long_texts = theirs.texts[theirs.sizes >= _MIN_CHARACTERS]
    same = int(np.isin(long_texts, ours.texts).sum())
    if len(long_texts) and same > _MAX_EQUAL_SHARE * len(long_texts):
        raise InputError(
            f"The MT is the source: {same:,} of {len(long_texts):,} paragraphs of {mt.path.name} are in "
            f"{source.path.name} word for word. Give the machine translation as the second file.",
            field="mt",
        )


def _refuse_unrelated(source: Book, mt: Book, theirs: BookProfile, matched: BookMatch) -> None:
    share = paired_share(theirs, matched)
    if share < _MIN_PAIRED_SHARE:
        raise InputError(
            f"Only {share:.0%} of {mt.path.name} could be paired with {source.path.name}: these may be different "
            "books, or different parts of one. Check the two files.",
            field="mt",
        )


def paired_share(mt: BookProfile, matched: BookMatch) -> float:
    """The share of the MT, by size, in confident pairs; 0 where the total evidence is negative."""
    sizes = np.concatenate([[0.0], np.cumsum(mt.sizes)])
    paired = [bead for bead in matched.beads if bead.paired]
    if sum(bead.score for bead in paired) <= 0:
        return 0.0
    sure = sum(sizes[bead.mt_end] - sizes[bead.mt] for bead in paired if bead.confidence >= DOUBTFUL_CONFIDENCE)
    return float(sure / max(sizes[-1], 1.0))


# --- making pairs ------------------------------------------------------------------------------------------------


def _bilingual_pair(position: int, paragraph: Paragraph) -> ParagraphPair:
    source = (paragraph.source or "").strip()
    return _pair(position, paragraph, source, (paragraph.id,) if source else (), "bilingual", 1.0)


def _pairs(
    bead: Bead, how: str, sources: list[Paragraph], run: list[tuple[int, Paragraph]], matched: BookMatch
) -> Iterator[ParagraphPair]:
    """The pairs of one bead, and of the blank MT paragraphs among them."""
    filled = [paragraph.text for _, paragraph in run if not _blank(paragraph.text)]
    ids = tuple(paragraph.id for paragraph in sources)
    whole = _join([paragraph.text for paragraph in sources])
    if len(filled) > 1 and sources:
        shares = iter(divide_source(whole, filled, matched.model) or [("", 0.0)] * len(filled))
    else:
        shares = iter([(whole, 1.0)])
    for position, paragraph in run:
        if _blank(paragraph.text):
            yield _pair(position, paragraph, "", (), how, 1.0)
            continue
        text, sure = next(shares)
        yield _pair(position, paragraph, text, ids, how, round(bead.confidence * sure, 4))


def _pair(
    position: int, paragraph: Paragraph, source: str, ids: tuple[str, ...], how: str, confidence: float
) -> ParagraphPair:
    source = source if find_marks(source) == find_marks(paragraph.text) else strip_marks(source)
    return ParagraphPair(
        id=paragraph.id,
        chapter=paragraph.chapter,
        title=paragraph.title,
        position=position,
        mt=paragraph.text,
        source=source,
        source_ids=ids,
        how=how,
        confidence=confidence if source else 0.0,
        skip=paragraph.skip or _skip_reason(paragraph.text, source, ids, confidence),
    )


def _skip_reason(mt: str, source: str, ids: tuple[str, ...], confidence: float) -> str:
    """The reason not to edit a paragraph, apart from its file's own, or ""."""
    plain, plain_source = strip_marks(mt).strip(), strip_marks(source).strip()
    if not plain:
        return SKIP_EMPTY
    if not any(map(str.isalnum, plain)):
        return SKIP_NO_WORDS
    if not plain_source:
        return SKIP_UNDIVIDED if ids else SKIP_NO_SOURCE
    if plain == plain_source and len(words(plain)) >= _MIN_WORDS:
        return SKIP_UNTRANSLATED
    if confidence < DOUBTFUL_CONFIDENCE:
        return f"the pair is doubtful (confidence {confidence:.2f})"
    return ""


def _join(texts: list[str]) -> str:
    """Join texts to one paragraph, with spaces unless the script has none."""
    joined = ""
    for text in texts:
        joined += ("" if not joined or _UNSPACED.search(joined) else " ") + text.strip()
    return joined


def _blank(text: str) -> bool:
    return not strip_marks(text).strip()


def _take(paragraphs: Iterator[Paragraph], count: int, book: Book) -> list[Paragraph]:
    batch = [paragraph for _, paragraph in zip(range(count), paragraphs, strict=False)]
    if len(batch) < count:
        raise _changed(book)
    return batch


def _take_filled(paragraphs: Iterator[tuple[int, Paragraph]], count: int, book: Book) -> list[tuple[int, Paragraph]]:
    """Take `count` paragraphs with text, and the blank ones before them."""
    batch: list[tuple[int, Paragraph]] = []
    while count:
        position, paragraph = next(paragraphs, (None, None))
        if position is None or paragraph is None:
            raise _changed(book)
        batch.append((position, paragraph))
        count -= not _blank(paragraph.text)
    return batch


def _changed(book: Book) -> InputError:
    return InputError(f"{book.path.name} was changed while it was being read. Start again.")
