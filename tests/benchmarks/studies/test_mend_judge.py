from __future__ import annotations

import math
from random import Random

import pytest

from ape.passage.segment import TokenLogprobs
from benchmarks.studies.mend_judge import ScoredRow, evaluate, mend_features


def tokens(*logprobs: tuple[float, float]) -> tuple[TokenLogprobs, ...]:
    """Tokens by their own log-probability and that of the likeliest token."""
    return tuple(TokenLogprobs("", own, (("", best),)) for own, best in logprobs)


def test_the_features_say_where_the_model_would_have_written_something_else() -> None:
    mean, worst, margin, most, differing, length = mend_features(tokens((-0.1, -0.1), (-3.1, -0.1)))
    assert (mean, worst, margin, most, differing) == pytest.approx((-1.6, -3.1, 1.5, 3.0, 0.5))
    assert length == math.log(2)


def made_up_rows(signal: float) -> list[ScoredRow]:
    random = Random(1)
    rows = []
    for number in range(400):
        good = random.random() < 0.4
        value = random.gauss(signal if good else -signal, 1)
        rows.append(ScoredRow("train" if number % 2 else "dev", "ro-en", (value, random.gauss(0, 1)), good))
    return rows


def test_a_telling_feature_finds_good_translations_on_unseen_rows() -> None:
    result = evaluate(made_up_rows(2.0))
    precision, recall, skipped = result.at_precision[0.9]
    assert result.area > 0.95
    assert precision > 0.8
    assert recall > 0.8
    assert 0.3 < skipped < 0.6


def test_noise_tells_nothing() -> None:
    assert evaluate(made_up_rows(0.0)).area == pytest.approx(0.5, abs=0.1)
