"""Align named references through a book by translator, independent of their order in each document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ape.errors import InputError
from eval.corpus.raw_document import RawDocument, TextLines


def align_translators(given: Sequence[RawDocument]) -> list[RawDocument]:
    """Put the references of a book's translators in one order, with gaps where a translator lacks a document."""
    translators: dict[str, dict[str, None]] = {}
    for one in given:
        translators.setdefault(one.book, {}).update(dict.fromkeys(one.translators))
    if not any(translators.values()):
        return list(given)
    for one in given:
        if one.references and not one.translators:
            raise InputError(
                f"{one.location}: the references of document {one.id!r} have no names, and others have. "
                "Name them all, or none.",
                field="references",
            )
    return [_reorder_references(one, tuple(translators[one.book])) for one in given]


def _reorder_references(document: RawDocument, translators: tuple[str, ...]) -> RawDocument:
    if not document.references:
        return document
    known: Mapping[str, TextLines] = dict(zip(document.translators, document.references, strict=True))
    texts = next(iter(document.texts_by_label().values()))
    gap = replace(texts, texts=(None,) * len(texts), is_guessed=False)
    references = tuple(known.get(name, gap) for name in translators)
    return replace(document, references=references, translators=translators)
