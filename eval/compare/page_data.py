"""Paragraph data of the comparison page: a small index for filters, and compressed blocks that are loaded on demand.

Text never becomes HTML: the script inserts it as text, and "<" is escaped so that no text can end its script element.
Without compression a page of 18 MB would block the browser for 180 ms while it is parsed.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from markupsafe import Markup

from ape.edits.diff import find_edits
from ape.reports.base_page import text_direction
from ape.reports.text_pieces import split_at_spans
from eval.compare.comparison import SystemComparison
from eval.compare.system import System

# Paragraphs per block; unpacking takes about 5 ms.
BLOCK_SIZE = 200


def script_json(values: Any) -> Markup:
    """JSON that is safe inside a script element."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def compressed_json(values: Any) -> str:
    """Compressed JSON in Base64; reproducible."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(text, mtime=0)).decode()


def paragraph_index(compared: SystemComparison) -> dict[str, Any]:
    """Index of all paragraphs without their texts."""
    corpus = compared.data.corpus
    decisions = list(dict.fromkeys(str(outcome.decision) for system in compared.systems for outcome in system.outcomes))
    code = {name: str(number) for number, name in enumerate(decisions)}
    columns = [[code[str(outcome.decision)] for outcome in system.outcomes] for system in compared.systems]
    return {
        "systems": list(compared.names),
        "kinds": [system.kind for system in compared.systems],
        "documents": [document.id for document in corpus.documents],
        "sizes": [len(document) for document in corpus.documents],
        "decisions": decisions,
        "decided": ["".join(row) for row in zip(*columns, strict=True)],
        "apart": [round(score_range, 4) for score_range in compared.score_ranges()],
        "metric": compared.leading,
        "block": BLOCK_SIZE,
        "languages": {
            side: {"code": code, "direction": text_direction(code)}
            for side, code in (("source", corpus.source_language), ("target", corpus.target_language))
        },
    }


def paragraph_blocks(compared: SystemComparison) -> Iterator[list[dict[str, Any]]]:
    """Yield the paragraphs in blocks."""
    paragraphs = _paragraphs(compared)
    while block := list(islice(paragraphs, BLOCK_SIZE)):
        yield block


def _paragraphs(compared: SystemComparison) -> Iterator[dict[str, Any]]:
    scores = compared.by_paragraph(compared.leading)
    for at, (_, document, place) in enumerate(compared.data.corpus.segments()):
        values: dict[str, Any] = {
            "texts": list(_texts(compared.systems, at, compared.data.corpus.target_language)),
            "references": list(document.references_of(place)),
        }
        if document.sources:
            values["source"] = document.sources[place]
        if scores:
            values["scores"] = [_rounded(scores[name][at]) if name in scores else None for name in compared.names]
        if findings := _findings(compared.systems, at):
            values["findings"] = findings
        yield values


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 2)


def _texts(systems: Sequence[System], at: int, language: str) -> Iterator[str | list[Any] | int]:
    """The MT, then for each system 0 if unchanged, or its text split at the edits."""
    mt = systems[0].outcomes[at].text
    yield mt
    for system in systems[1:]:
        text = system.outcomes[at].text
        yield 0 if text == mt else edit_pieces(mt, text, language)


def edit_pieces(mt: str, text: str, language: str) -> list[Any]:
    """Split a text at its edits: plain pieces, and [after, before, kind] for each edit."""
    spans = ((*edit.span, edit) for edit in find_edits(mt, text, language=language))
    return [
        [edit.after, edit.before, str(edit.kind)] if edit else piece
        for piece, edit in split_at_spans(text, spans, keep_empty=True)
    ]


def _findings(systems: Sequence[System], at: int) -> dict[int, list[list[str]]]:
    """Findings by system number."""
    return {
        number: [[finding.guard, str(finding.severity), finding.message] for finding in system.outcomes[at].findings]
        for number, system in enumerate(systems)
        if system.outcomes[at].findings
    }
