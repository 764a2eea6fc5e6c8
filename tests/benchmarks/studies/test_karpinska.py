"""The published votes of translators: rates, tests, position bias, and agreement of metrics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ape.errors import InputError
from benchmarks.studies.karpinska import (
    KARPINSKA_FILE,
    KarpinskaVotes,
    agreement_by_level,
    measure_metric_agreement,
    read_karpinska,
    score_versions,
    without_target_languages,
)
from eval.corpus.corpus import Corpus
from eval.human.analysis.metric_agreement import MetricAgreement
from eval.human.analysis.position_effect import PositionEffect, position_effect
from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval


@pytest.fixture(scope="module")
def published(shared_data: Path) -> KarpinskaVotes:
    return read_karpinska(shared_data / KARPINSKA_FILE)


@pytest.mark.parametrize(
    ("other", "wins", "p"), [("sent", 129, 5.5e-9), ("para_sent", 120, 9.1e-6), ("gtr", 150, 2.2e-20)]
)
def test_the_three_published_rates_and_their_p_values(
    published: KarpinskaVotes, other: str, wins: int, p: float
) -> None:
    found = measure_preference(published.votes, "para", other)
    assert isinstance(found, Preference)
    assert (found.wins, found.votes, found.ties) == (wins, 180, 0)
    assert found.p_value == pytest.approx(p, rel=0.03)
    assert found.itemwise is None


def test_there_is_no_position_bias(published: KarpinskaVotes) -> None:
    found = position_effect(published.votes)
    assert isinstance(found, PositionEffect)
    assert (found.successes, found.trials - found.successes) == (271, 269)
    assert found.rate == pytest.approx(0.5, abs=0.01)


def _accuracy(found: MetricAgreement | Unmeasured) -> float:
    assert isinstance(found, MetricAgreement)
    assert isinstance(found.accuracy, ConfidenceInterval)
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    return found.accuracy.value


def test_chrf_agrees_with_translators_little_more_often_than_chance(published: KarpinskaVotes) -> None:
    # A loop over sacrebleu's chrF++ gives 54.4%.
    ((_, found),) = measure_metric_agreement(without_target_languages(published), ["chrf++"], samples=200)
    assert _accuracy(found) == pytest.approx(0.544, abs=1e-3)
    assert isinstance(found, MetricAgreement)
    assert (found.votes, found.left_out) == (540, 0)


def test_a_word_metric_does_not_score_japanese(published: KarpinskaVotes) -> None:
    japanese = replace(published, corpora=tuple(one for one in published.corpora if one.target_language == "ja"))
    ((_, found),) = measure_metric_agreement(japanese, ["chrf++"], samples=200)
    assert isinstance(found, Unmeasured)
    assert "no spaces" in found.why


class _OnlyPolish:
    """A metric that supports one language only."""

    name = "only-polish"
    higher_is_better = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts:
        if corpus.target_language != "pl":
            raise InputError("There is no annotator.")
        number = len(corpus.documents)
        rows = np.arange(number, dtype=float)[:, None]
        return MetricCounts(rows, np.arange(number), lambda sums: sums[..., 0], "only-polish", unit="document")


def test_a_metric_that_fails_for_one_language_is_measured_on_the_others(published: KarpinskaVotes) -> None:
    found = score_versions(_OnlyPolish(), published.corpora)
    assert not isinstance(found, Unmeasured)
    assert {item.partition(":")[0][-2:] for item, _ in found[0]} == {"pl"}


def _row(**other: Any) -> dict[str, Any]:
    return {
        "source_lang": "fr",
        "target_lang": "en",
        "source": "La porte grinça.",
        "target": "The door creaked.",
        "text1": "The door squeaked.",
        "text2": "The gate creaked.",
        "text1_tag": "para",
        "text2_tag": "sent",
        "choice": "text2",
        "difficult_choice": "YES, it was.",
        "comment": None,
        "book": "a house",
        **other,
    }


def test_rows_are_votes_and_passages(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([_row(), _row(text2_tag="gtr", choice="text1")]), encoding="utf-8")
    found = read_karpinska(path)
    assert [(vote.item, vote.winner, vote.confidence) for vote in found.votes] == [
        ("fr-en:1", "sent", "unsure"),
        ("fr-en:1", "para", "unsure"),
    ]
    (corpus,) = found.corpora
    assert corpus.systems == ("para", "sent", "gtr")
    path.write_text(json.dumps([_row(choice="both")]), encoding="utf-8")
    with pytest.raises(InputError, match="text1 or text2"):
        read_karpinska(path)


def test_levels_sum_votes_and_scores_before_they_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    rows = [
        _row(choice=choice, source=f"La porte {number}.") for number, choice in enumerate(("text1", "text1", "text2"))
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    votes = read_karpinska(path).votes
    scores = {(vote.item, system): value for vote, gap in zip(votes, (1, -2, -5), strict=True)
              for system, value in (("para", gap), ("sent", 0))}  # fmt: skip
    # By hand: right in the first and third passage; people prefer para by 2 to 1, the metric sent by 6 points.
    assert agreement_by_level(votes, scores) == {
        "segment": (pytest.approx(2 / 3), 3),
        "document": (0, 1),
        "system": (0, 1),
    }
    assert agreement_by_level(votes, scores, higher_is_better=False)["system"] == (1, 1)
