"""Does a metric see what people see? The correlation of its scores of segments with theirs.

A row of the scores file is one system's translation of one sentence, scored by a person. Not every system translated
every sentence, so each has a corpus of its own; the sheets are its documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ape.errors import InputError
from eval.corpus import Corpus, Document
from eval.metric import Metric, Numbers, Unmeasured

FIELDS = ("sheet", "sent", "system", "src", "ref", "hyp", "score")


@dataclass(frozen=True, slots=True)
class Rated:
    """What one system made of some sentences, and what a person thought of each: higher is better."""

    corpus: Corpus
    system: str
    scores: Mapping[str, Numbers]
    """By what was asked ("score" and, where the file has them, "zpr", "semantic", "other"), segment by segment."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Positive where the metric's better is the people's better."""

    kendall: float
    """τ-b, as people's scores have many ties."""
    kendall_p: float
    pearson: float
    pearson_p: float
    segments: int
    left_out: int
    """Segments the metric has no score of."""
    signature: str
    by_sheet: Mapping[str, float] = field(default_factory=dict)
    """Kendall's τ-b in each sheet alone."""


def read_human_scores(path: Path) -> tuple[Rated, ...]:
    """The file's systems, each with its sentences in the order of the file."""
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in _rows(path):
        rows.setdefault(row["system"], {}).setdefault(row["sheet"], []).append(row)
    if not rows:
        raise InputError(f"{path} has no scores in it.")
    return tuple(_rated(system, sheets) for system, sheets in rows.items())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                missing = [name for name in FIELDS if name not in row]
            except (ValueError, TypeError) as error:
                raise InputError(f"{path}, line {number}: not a JSON object ({error}).") from error
            if missing:
                raise InputError(f"{path}, line {number}: there is no {' and no '.join(missing)}.")
            yield row


def _rated(system: str, sheets: Mapping[str, Sequence[Mapping[str, Any]]]) -> Rated:
    documents = tuple(
        Document(
            sheet,
            {system: tuple(row["hyp"] for row in rows)},
            (tuple(row["ref"] for row in rows),),
            tuple(row["src"] for row in rows),
        )
        for sheet, rows in sheets.items()
    )
    every = [row for rows in sheets.values() for row in rows]
    asked = [name for name in ("score", "semantic", "zpr", "other") if all(name in row for row in every)]
    scores = {name: np.asarray([row[name] for row in every], dtype=float) for name in asked}
    return Rated(Corpus(documents, "zh", "en", system), system, scores)


def agreement(metric: Metric, rated: Iterable[Rated], *, asked: str = "score") -> Agreement | Unmeasured:
    """The correlation over all segments of all systems together."""
    ours, theirs, sheets = [], [], []
    signature = ""
    for one in rated:
        counted = metric.count(one.corpus, one.system)
        if isinstance(counted, Unmeasured):
            return counted
        values = counted.each() * (1 if metric.higher_is_better else -1)
        if len(values) != len(one.scores[asked]):
            return Unmeasured(
                f"{metric.name} scores {counted.unit}s, and people scored segments", counted.signature
            )
        ours.append(values)
        theirs.append(one.scores[asked])
        sheets += [document.id for document in one.corpus.documents for _ in document.outputs[one.system]]
        signature = counted.signature
    return _correlated(np.concatenate(ours), np.concatenate(theirs), np.asarray(sheets), signature)


def _correlated(
    ours: Numbers, theirs: Numbers, sheets: np.ndarray[Any, Any], signature: str
) -> Agreement | Unmeasured:
    from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

    known = ~np.isnan(ours)
    ours, theirs, sheets = ours[known], theirs[known], sheets[known]
    if not _vary(ours, theirs):
        return Unmeasured(
            "one side has the same value everywhere, so there is nothing to correlate", signature
        )
    tau, r = kendalltau(ours, theirs), pearsonr(ours, theirs)
    inside = {str(sheet): sheets == sheet for sheet in dict.fromkeys(sheets.tolist())}
    by_sheet = {
        sheet: float(kendalltau(ours[here], theirs[here]).statistic)
        for sheet, here in inside.items()
        if _vary(ours[here], theirs[here])
    }
    left_out = int((~known).sum())
    return Agreement(
        float(tau.statistic),
        float(tau.pvalue),
        float(r.statistic),
        float(r.pvalue),
        len(ours),
        left_out,
        signature,
        by_sheet,
    )


def _vary(*sides: Numbers) -> bool:
    return all(len(side) > 1 and np.ptp(side) > 0 for side in sides)
