"""The cache of counts: equal values, counted once for a text, and anew for another text, recipe or version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import use_annotation_cache
from eval.metrics import counts_cache
from eval.metrics.counts_cache import DATABASE_FILE, count_once
from eval.metrics.metric import Metric
from eval.metrics.registry import create_metrics
from eval.statistics.counts import MetricCounts

pytest.importorskip("textblob", reason="annotates English")

SOURCES = ("方召推开门。", "方召看了看雨，但是他不饿。", "方召说他不饿。", "大家看着方召。", "方召笑了。")
REFERENCES = (
    "Fang Zhao pushed the door open.",
    "Fang Zhao looked at the rain, but he was not hungry.",
    "Fang Zhao said that he was not hungry.",
    "Everybody watched Fang Zhao.",
    None,
)
OUTPUTS = (
    "Fang Zhao pushed the door open.",
    "Fang Zhao looked at the rain. She was not hungry.",
    "Fang Zhao said he was not hungry.",
    "Everybody watched Fang Zhao.",
    "Fang Zao laughed.",
)


def corpus(last: str = OUTPUTS[-1]) -> Corpus:
    outputs = {"mt": (*OUTPUTS[:-1], last), "other": OUTPUTS}
    documents = [Document(f"d{number}", outputs, (REFERENCES,), SOURCES) for number in range(2)]
    return Corpus(tuple(documents), "zh", "en")


class Calls:
    """Counts how often a value is counted."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> list[list[float]]:
        self.number += 1
        return [[0.1, 1 / 3], [2.0, float(self.number)]]


def test_a_value_is_counted_once_for_equal_texts(tmp_path: Path) -> None:
    calls = Calls()
    with use_annotation_cache(tmp_path):
        first = count_once(corpus(), "mt", "recipe", calls)
        assert count_once(corpus(), "mt", "recipe", calls) == first == [[0.1, 1 / 3], [2.0, 1.0]]
    assert calls.number == 1


def test_nothing_is_kept_outside_of_a_cache() -> None:
    calls = Calls()
    assert count_once(corpus(), "mt", "recipe", calls) != count_once(corpus(), "mt", "recipe", calls)


@pytest.mark.parametrize(
    "other",
    [
        corpus("Fang Zhao laughed."),
        replace(corpus(), target_language="en-GB"),
        replace(corpus(), documents=corpus().documents[:1]),
        replace(corpus(), documents=tuple(replace(one, references=()) for one in corpus().documents)),
        replace(corpus(), documents=tuple(replace(one, id=f"{one.id}b") for one in corpus().documents)),
    ],
    ids=["output", "language", "documents", "references", "ids"],
)
def test_another_text_is_counted_anew(tmp_path: Path, other: Corpus) -> None:
    calls = Calls()
    with use_annotation_cache(tmp_path):
        count_once(corpus(), "mt", "recipe", calls)
        count_once(other, "mt", "recipe", calls)
    assert calls.number == 2


def test_another_recipe_is_counted_anew(tmp_path: Path) -> None:
    calls = Calls()
    with use_annotation_cache(tmp_path):
        count_once(corpus(), "mt", "recipe", calls)
        count_once(corpus(), "mt", "another", calls)
    assert calls.number == 2


def test_another_version_of_our_code_or_of_a_library_counts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls()
    with use_annotation_cache(tmp_path):
        count_once(corpus(), "mt", "recipe", calls)
        before = counts_cache._code_digest()
        monkeypatch.setattr(counts_cache, "_LIBRARIES", ("regex",))
        counts_cache._code_digest.cache_clear()
        try:
            assert counts_cache._code_digest() != before
            count_once(corpus(), "mt", "recipe", calls)
        finally:
            counts_cache._code_digest.cache_clear()
    assert calls.number == 2


def test_texts_that_join_alike_are_told_apart() -> None:
    one = Corpus((Document("d", {"mt": ("ab", "c")}),), "zh", "en")
    other = Corpus((Document("d", {"mt": ("a", "bc")}),), "zh", "en")
    assert counts_cache._texts_digest(one, "mt") != counts_cache._texts_digest(other, "mt")


def test_a_damaged_file_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / DATABASE_FILE).write_bytes(b"this is no database" * 100)
    calls = Calls()
    with use_annotation_cache(tmp_path):
        assert count_once(corpus(), "mt", "recipe", calls) == [[0.1, 1 / 3], [2.0, 1.0]]


@pytest.mark.parametrize("metric", create_metrics(["discourse"]), ids=lambda metric: metric.name)
def test_a_discourse_metric_has_the_same_counts_from_the_cache(tmp_path: Path, metric: Metric) -> None:
    plain = metric.count(corpus(), "mt")
    with use_annotation_cache(tmp_path):
        cold, warm = metric.count(corpus(), "mt"), metric.count(corpus(), "mt")
    if not isinstance(plain, MetricCounts):
        assert cold == warm == plain
        return
    for found in (cold, warm):
        assert isinstance(found, MetricCounts)
        assert np.array_equal(found.rows, plain.rows)
        assert np.array_equal(found.documents, plain.documents)
        assert found.rows.dtype == plain.rows.dtype == float
        assert found.signature == plain.signature
        assert found.score() == plain.score()
