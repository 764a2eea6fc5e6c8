"""Sentences of the book in which a wording of an entity stands, to judge it by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ape.ledger.entity import LedgerParagraph
from ape.ledger.links import LedgerIndex
from ape.text.inline_marks import strip_marks
from ape.text.sentences import split_sentences
from ape.text.terms import find_terms

# A page with all sentences of a hero would be the book.
MAX_SENTENCES = 3
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class WordingSentence:
    """A sentence of the translation with a wording at `span`, and the source of its paragraph."""

    paragraph: str
    source: str
    text: str
    span: tuple[int, int]


def find_sentences(
    index: LedgerIndex, paragraphs: Iterable[LedgerParagraph], *, most: int = MAX_SENTENCES
) -> dict[tuple[str, str], list[WordingSentence]]:
    """The first sentences of each variant, by entity id and wording, in paragraphs whose source names the entity."""
    found: dict[tuple[str, str], list[WordingSentence]] = {}
    for paragraph in paragraphs:
        entities = index.entities_in(paragraph.source)
        wanted = {
            variant.text: entity.id
            for entity in entities
            for variant in entity.variants
            if len(found.get((entity.id, variant.text), ())) < most
        }
        if not wanted:
            continue
        source = strip_marks(paragraph.source)
        for sentence in split_sentences(strip_marks(paragraph.mt)):
            for wording in find_terms(sentence, wanted):
                start = sentence.lower().find(wording.lower())
                shown = found.setdefault((wanted[wording], wording), [])
                if start >= 0 and len(shown) < most:
                    shown.append(_cut(paragraph.id, source, sentence, start, len(wording)))
    return found


def _cut(id: str, source: str, text: str, start: int, length: int) -> WordingSentence:
    first = max(0, start - _LONGEST // 2)
    last = min(len(text), start + length + _LONGEST // 2)
    shown = ("…" if first else "") + text[first:last].strip("\n") + ("…" if last < len(text) else "")
    place = start - first + bool(first)
    return WordingSentence(
        id, source if len(source) <= _LONGEST else source[:_LONGEST] + "…", shown, (place, place + length)
    )
