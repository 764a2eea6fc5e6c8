"""Agreement of metrics with people: hand-computed values, and the human scores of dropped pronouns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.corpus.human_scores import read_human_scores
from eval.metrics.human_correlation import correlate_with_humans
from eval.metrics.metric import Metric
from eval.metrics.sacrebleu import Bleu
from eval.metrics.zero_pronouns import ZeroPronouns
from eval.statistics.correlation import HumanCorrelation
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold


@dataclass(frozen=True)
class Length:
    """The mean number of words, undefined for an empty output; with `whole`, only one row."""

    name: str = "length"
    higher_is_better: bool = True
    whole: bool = False

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        rows = [
            (len(text.split()), 1 if text else 0) for document in corpus.documents for text in document.outputs[system]
        ]
        if self.whole:
            rows = rows[:1]
        return MetricCounts(
            np.asarray(rows, dtype=float), np.zeros(len(rows), dtype=np.intp), mean_fold(), "length|v:0"
        )


def _file(path: Path, rows: Sequence[tuple[str, str, str, int]]) -> Path:
    lines = [
        json.dumps(
            {"sheet": sheet, "sent": at, "system": system, "src": "好", "ref": "good", "hyp": text, "score": score}
        )
        for at, (sheet, system, text, score) in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


ROWS = (
    ("A", "one", "a", 1), ("A", "one", "a b", 2), ("B", "one", "a b c", 3), ("B", "one", "", 0),
    ("A", "two", "a b c d", 5), ("B", "two", "a", 4),
)  # fmt: skip


def test_agreement_by_hand(tmp_path: Path) -> None:
    found = correlate_with_humans(Length(), read_human_scores(_file(tmp_path / "a", ROWS)))
    assert isinstance(found, HumanCorrelation)
    # Lengths 1 2 3 4 1 against 1 2 3 5 4: of 10 pairs 7 agree, 2 differ, one is a tie: τ-b = 5/√(9·10).
    assert found.kendall == pytest.approx(5 / np.sqrt(90))
    assert found.pearson == pytest.approx(np.corrcoef([1, 2, 3, 4, 1], [1, 2, 3, 5, 4])[0, 1])
    assert (found.segments, found.left_out) == (5, 1)
    assert found.by_sheet == pytest.approx({"A": 1.0, "B": -1.0})


def test_an_error_rate_is_negated(tmp_path: Path) -> None:
    rated = read_human_scores(_file(tmp_path / "a", ROWS))
    up, down = (correlate_with_humans(Length(), rated), correlate_with_humans(Length(higher_is_better=False), rated))
    assert isinstance(up, HumanCorrelation)
    assert isinstance(down, HumanCorrelation)
    assert down.kendall == -up.kendall


def test_a_correlation_that_is_undefined_is_unmeasured(tmp_path: Path) -> None:
    rated = read_human_scores(_file(tmp_path / "a", ROWS))
    assert isinstance(correlate_with_humans(Length(whole=True), rated), Unmeasured)
    alike = read_human_scores(_file(tmp_path / "b", [("A", "one", "a", 1), ("A", "one", "a", 2)]))
    assert isinstance(correlate_with_humans(Length(), alike), Unmeasured)


def test_a_resample_draws_sentences_with_all_their_translations(tmp_path: Path) -> None:
    path = _file(tmp_path / "a", ROWS)
    by_sentence = correlate_with_humans(Length(), read_human_scores(path), samples=200)
    assert isinstance(by_sentence, HumanCorrelation)
    assert by_sentence.kendall_interval is not None
    assert by_sentence.kendall_interval[0] < by_sentence.kendall < by_sentence.kendall_interval[1]
    assert correlate_with_humans(Length(), read_human_scores(path), samples=200) == by_sentence  # same seed
    # With a single sentence in one sheet, every resample is the whole file.
    rows = [json.loads(line) | {"sent": 0, "sheet": "A"} for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    whole = correlate_with_humans(Length(), read_human_scores(path), samples=5)
    assert isinstance(whole, HumanCorrelation)
    assert whole.kendall_interval == pytest.approx((whole.kendall, whole.kendall))
    assert whole.pearson_interval == pytest.approx((whole.pearson, whole.pearson))


def test_an_unknown_score_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no human scores for 'style', only for score"):
        correlate_with_humans(Length(), read_human_scores(_file(tmp_path / "a", ROWS)), score_name="style")


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no scores"), ("{}\n", "Line 1 of a: there is no sent"), ("[\n", "Line 1 of a is not a JSON object")],
)
def test_an_invalid_file_of_scores_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_human_scores(tmp_path / "a")


@pytest.mark.parametrize(
    ("metric", "tau", "r"),
    [
        # As measured: .271 and .309, .479 and .455.
        (Bleu(lowercase=True, effective_order=True), 0.27, 0.30),
        (ZeroPronouns(), 0.47, 0.45),
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_metrics_agree_with_3323_human_scores(shared_data: Path, metric: Metric, tau: float, r: float) -> None:
    rated = read_human_scores(shared_data / "mzprt" / "human_scores.jsonl")
    assert sum(len(one.corpus.documents) for one in rated) == 36
    found = correlate_with_humans(metric, rated)
    assert isinstance(found, HumanCorrelation)
    assert found.segments + found.left_out == 3323
    assert found.kendall > tau
    assert found.pearson > r


def test_recovery_agrees_best_with_the_human_scores_of_pronouns(shared_data: Path) -> None:
    rated = read_human_scores(shared_data / "mzprt" / "human_scores.jsonl")
    found = correlate_with_humans(ZeroPronouns(), rated, score_name="zpr")
    assert isinstance(found, HumanCorrelation)
    assert found.kendall > 0.7  # as measured: .716, Pearson .728
