"""Readers of WMT's human ratings: MQM tables, and folders in the layout of mt-metrics-eval.

An MQM table (system, doc, seg_id, rater, source, target, category, severity) has one row for each error. A segment's
score is minus the weighted errors, averaged over raters: major 5, minor 1, minor punctuation 0.1, non-translation 25
(Freitag et al. 2021). It has no references. A folder has sources, references, system-outputs, human-scores and
documents, with one line for each segment; ratings of any kind (mqm, esa, da) are read from human-scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ape.errors import InputError
from ape.files.rows import read_utf8
from eval.corpus.human_scores import RatedSystem, RatingRow, group_ratings

_MQM_COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
_SPAN = re.compile(r"</?v>")
_WEIGHTS = {"major": 5.0, "critical": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0, "no error": 0.0}


def mqm_weight(category: str, severity: str) -> float:
    """The weight of one error."""
    category, severity = category.lower(), severity.lower()
    if category.startswith("non-translation"):
        return 25.0
    if severity == "minor" and category.startswith("fluency/punctuation"):
        return 0.1
    return _WEIGHTS.get(severity, 0.0)


def read_mqm_table(path: Path, *, source_language: str, target_language: str) -> tuple[RatedSystem, ...]:
    """The segments of a table of errors, with minus their weighted errors as scores."""
    lines = read_utf8(path, field="scores").splitlines()
    head = lines[0].split("\t") if lines else []
    if missing := [name for name in _MQM_COLUMNS if name not in head]:
        raise InputError(f"{path.name} is not an MQM table: it has no columns {', '.join(missing)}.", field="scores")
    errors: dict[tuple[str, str, str], dict[str, float]] = {}
    texts: dict[tuple[str, str, str], tuple[str, str]] = {}
    for number, line in enumerate(lines[1:], 2):
        cells = dict(zip(head, line.split("\t"), strict=False))
        if len(cells) < len(head):
            raise InputError(f"Line {number} of {path.name} has fewer cells than the first line.", field="scores")
        key = cells["system"], cells["doc"], cells["seg_id"]
        raters = errors.setdefault(key, {})
        raters[cells["rater"]] = raters.get(cells["rater"], 0.0) + mqm_weight(cells["category"], cells["severity"])
        texts[key] = _SPAN.sub("", cells["source"]), _SPAN.sub("", cells["target"])
    rows = (
        RatingRow.model_construct(
            sheet=document, sent=segment, system=system, src=texts[key][0], ref="", hyp=texts[key][1],
            score=-sum(raters.values()) / len(raters), document=document,
        )
        for key, raters in errors.items()
        for system, document, segment in [key]
    )  # fmt: skip
    return group_ratings(rows, source_language, target_language, place=path.name)


def read_metrics_folder(folder: Path, *, pair: str, kind: str = "mqm") -> tuple[RatedSystem, ...]:
    """A folder of mt-metrics-eval, such as wmt22: one language pair ("en-de") with one kind of ratings."""
    if not re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}", pair):
        raise InputError(f"{pair!r} is not a language pair such as en-de.", field="pair")
    ratings = folder / "human-scores" / f"{pair}.{kind}.seg.score"
    if not ratings.is_file():
        known = sorted(path.name for path in folder.glob("human-scores/*.seg.score"))
        raise InputError(f"There is no {ratings}. There are: {', '.join(known) or 'none'}.", field="scores")
    source, target = pair.split("-")
    return group_ratings(_folder_rows(folder, pair, ratings), source, target, place=ratings.name)


def _folder_rows(folder: Path, pair: str, ratings: Path) -> Iterator[RatingRow]:
    sources = _lines(folder / "sources" / f"{pair}.txt")
    references = sorted(folder.glob(f"references/{pair}.*.txt"))
    reference = _lines(references[0]) if references else [""] * len(sources)
    documents = [line.split("\t")[-1] for line in _lines(folder / "documents" / f"{pair}.docs")]
    scores: dict[str, list[str]] = {}
    for line in _lines(ratings):
        system, _, score = line.partition("\t")
        scores.setdefault(system, []).append(score)
    for system, values in scores.items():
        outputs = _lines(folder / "system-outputs" / pair / f"{system}.txt")
        for name, column in (("ratings", values), ("outputs", outputs), ("documents", documents)):
            if len(column) != len(sources):
                raise InputError(
                    f"{ratings.name}: {system} has {len(column):,} {name}, and {pair} has {len(sources):,} sources.",
                    field="scores",
                )
        for place, score in enumerate(values):
            if score not in ("None", ""):
                yield RatingRow.model_construct(
                    sheet=documents[place], sent=str(place + 1), system=system, src=sources[place],
                    ref=reference[place], hyp=outputs[place], score=float(score), document=documents[place],
                )  # fmt: skip


def _lines(path: Path) -> list[str]:
    return read_utf8(path, field="scores").splitlines()
