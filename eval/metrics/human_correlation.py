"""Does a metric see what people see? The correlation of its scores of segments with theirs.

A row of the scores file is one system's translation of one sentence, scored by a person. Not every system translated
every sentence, so each has a corpus of its own; the sheets are its documents. A resample draws sentences, each with all
its translations: what is hard for one system is hard for the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import numbered_lines
from eval.metrics.metric import Metric, corpus_for_metric
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import CONFIDENCE_LEVEL


@dataclass(frozen=True, slots=True)
class RatedSystem:
    """What one system made of some sentences, and what a person thought of each: higher is better."""

    corpus: Corpus
    system: str
    scores: Mapping[str, FloatArray]
    """By what was asked ("score" and, where the file has them, "zpr", "semantic", "other"), segment by segment."""
    sentences: tuple[str, ...]
    """Which sentence each segment is of; other systems have translations of the same."""


@dataclass(frozen=True, slots=True)
class HumanCorrelation:
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
    kendall_interval: tuple[float, float] | None = None
    """Where it lies in 95% of the resamples; None where none was asked for or none could be measured."""
    pearson_interval: tuple[float, float] | None = None


class _Row(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)
    sheet: str
    sent: str
    system: str
    src: str
    ref: str = Field(min_length=1)
    hyp: str
    score: FiniteFloat
    semantic: FiniteFloat | None = None
    zpr: FiniteFloat | None = None
    other: FiniteFloat | None = None


_ASKED = ("score", "semantic", "zpr", "other")


def read_human_scores(
    path: Path, *, source_language: str = "zh", target_language: str = "en"
) -> tuple[RatedSystem, ...]:
    """The file's systems, each with its sentences in the order of the file."""
    rows: dict[str, dict[str, list[_Row]]] = {}
    for number, line in numbered_lines(path):
        if line.strip():
            row = _parsed(line, f"Line {number} of {path.name}")
            rows.setdefault(row.system, {}).setdefault(row.sheet, []).append(row)
    if not rows:
        raise InputError(f"{path.name} has no scores in it.", field="scores")
    languages = source_language, target_language
    return tuple(_rated(system, sheets, languages) for system, sheets in rows.items())


def _parsed(line: str, place: str) -> _Row:
    try:
        return _Row.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if not name:
            raise InputError(f"{place} is not a JSON object: {first['msg']}.", field="scores") from error
        if first["type"] == "missing":
            raise InputError(f"{place}: there is no {name}.", field="scores") from error
        raise InputError(
            f"{place}: {name} is {json.dumps(first['input'], ensure_ascii=False)[:40]}: {first['msg']}. Leave out what "
            "nobody scored.",
            field="scores",
        ) from error


def _rated(system: str, sheets: Mapping[str, Sequence[_Row]], languages: tuple[str, str]) -> RatedSystem:
    documents = tuple(
        Document(
            sheet,
            {system: tuple(row.hyp for row in rows)},
            (tuple(row.ref for row in rows),),
            tuple(row.src for row in rows),
        )
        for sheet, rows in sheets.items()
    )
    every = [row for rows in sheets.values() for row in rows]
    columns = {name: [getattr(row, name) for row in every] for name in _ASKED}
    scores = {name: np.asarray(values, float) for name, values in columns.items() if None not in values}
    sentences = tuple(f"{row.sheet} {row.sent}" for row in every)
    return RatedSystem(Corpus(documents, *languages, system), system, scores, sentences)


def correlate_with_humans(
    metric: Metric, rated: Iterable[RatedSystem], *, asked: str = "score", samples: int = 0, seed: int = 1
) -> HumanCorrelation | Unmeasured:
    """The correlation over all segments of all systems together, with intervals where resamples are asked for."""
    ours, theirs, sheets = [], [], []
    sentences: list[str] = []
    signature = ""
    for one in rated:
        if asked not in one.scores:
            raise InputError(
                f"People were not asked about {asked!r} but about {', '.join(one.scores)}.", field="asked"
            )
        counted = metric.count(corpus_for_metric(metric, one.corpus), one.system)
        if isinstance(counted, Unmeasured):
            return counted
        values = counted.row_scores() * (1 if metric.higher_is_better else -1)
        if counted.unit != "segment" or len(values) != len(one.scores[asked]):
            return Unmeasured(
                f"{metric.name} scores {counted.unit}s, and people scored segments", counted.signature
            )
        ours.append(values)
        theirs.append(one.scores[asked])
        sheets += [document.id for document in one.corpus.documents for _ in document.outputs[one.system]]
        sentences += one.sentences
        signature = counted.signature
    values, people = np.concatenate(ours), np.concatenate(theirs)
    known = ~np.isnan(values)
    found = _correlated(values[known], people[known], np.asarray(sheets)[known], signature)
    if isinstance(found, Unmeasured):
        return found
    found = replace(found, left_out=int((~known).sum()))
    drawn = _resampled(values[known], people[known], np.asarray(sentences)[known], samples, seed)
    return replace(found, kendall_interval=_interval(drawn[0]), pearson_interval=_interval(drawn[1]))


def _correlated(
    ours: FloatArray, theirs: FloatArray, sheets: np.ndarray[Any, Any], signature: str
) -> HumanCorrelation | Unmeasured:
    from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

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
    return HumanCorrelation(
        kendall=float(tau.statistic),
        kendall_p=float(tau.pvalue),
        pearson=float(r.statistic),
        pearson_p=float(r.pvalue),
        segments=len(ours),
        left_out=0,
        signature=signature,
        by_sheet=by_sheet,
    )


def _resampled(
    ours: FloatArray, theirs: FloatArray, sentences: np.ndarray[Any, Any], samples: int, seed: int
) -> tuple[list[float], list[float]]:
    """Kendall's and Pearson's of so many resamples; one in which a side does not vary is left out."""
    from scipy.stats import kendalltau

    _, of = np.unique(sentences, return_inverse=True)
    places = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
    chance = np.random.default_rng(seed)
    taus, rs = [], []
    for _ in range(samples):
        drawn = np.concatenate([places[one] for one in chance.integers(len(places), size=len(places))])
        if _vary(ours[drawn], theirs[drawn]):
            taus.append(float(kendalltau(ours[drawn], theirs[drawn]).statistic))
            rs.append(float(np.corrcoef(ours[drawn], theirs[drawn])[0, 1]))
    return taus, rs


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    low, high = np.quantile(values, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def _vary(*sides: FloatArray) -> bool:
    return all(len(side) > 1 and np.ptp(side) > 0 for side in sides)
