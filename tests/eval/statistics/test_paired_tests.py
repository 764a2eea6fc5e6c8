"""Bootstrap and randomisation: hand-computed values, invariants, and agreement with sacrebleu."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.sacrebleu import Bleu
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured, mean_fold
from eval.statistics.paired_tests import (
    ConfidenceInterval,
    PairedComparison,
    SignificanceMethod,
    bootstrap_interval,
    compare_pair,
    part_counts,
    part_intervals,
)
from eval.statistics.resampling import ResamplingUnit

METHODS: tuple[SignificanceMethod, ...] = ("bootstrap", "randomisation")


def counted(values: Sequence[float], documents: Sequence[int] | None = None, *, weight: float = 1) -> MetricCounts:
    """Counts for a mean of values; negative values are unmeasured."""
    rows = np.array([[value, weight] if value >= 0 else [0, 0] for value in values], float)
    places = np.arange(len(values)) if documents is None else np.array(documents)
    return MetricCounts(rows, places.astype(np.intp), mean_fold(), "mean|v:1")


def compared(
    first: MetricCounts,
    second: MetricCounts,
    *,
    by: ResamplingUnit = "segment",
    method: SignificanceMethod = "bootstrap",
    samples: int = 1000,
) -> PairedComparison:
    found = compare_pair(first, second, higher_is_better=True, by=by, method=method, samples=samples)
    assert isinstance(found, PairedComparison)
    return found


@pytest.mark.parametrize("method", METHODS)
@given(values=st.lists(st.floats(0, 1), min_size=5, max_size=20))
@settings(max_examples=20, deadline=None)
def test_systems_that_never_differ_have_p_1(method: SignificanceMethod, values: list[float]) -> None:
    found = compared(counted(values), counted(values), method=method, samples=50)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)
    assert found.better is None


@pytest.mark.parametrize("method", METHODS)
def test_a_system_better_everywhere_is_significantly_better(method: SignificanceMethod) -> None:
    chance = np.random.default_rng(3)
    first = chance.random(200)
    found = compared(counted(list(first)), counted(list(first + 0.1)), method=method)
    assert found.difference == pytest.approx(0.1)
    assert [found.low, found.high] == pytest.approx([0.1, 0.1])
    assert found.p_value < 0.01
    assert found.better is True


@pytest.mark.parametrize("method", METHODS)
def test_a_difference_of_noise_is_not_significant(method: SignificanceMethod) -> None:
    chance = np.random.default_rng(4)
    found = compared(counted(list(chance.random(200))), counted(list(chance.random(200))), method=method)
    assert found.p_value > 0.05
    assert found.low < 0 < found.high


def test_lower_may_be_better() -> None:
    first, second = counted([0.5, 0.6] * 3), counted([0.1, 0.2] * 3)
    found = compare_pair(first, second, higher_is_better=False, by="segment", samples=10)
    assert isinstance(found, PairedComparison)
    assert found.better is True


def test_randomisation_of_five_rows_approximates_the_exact_p_value() -> None:
    # By hand: five differences of 1; of the 32 sign patterns, 2 have an absolute sum of 5: p = 1/16.
    found = compared(counted([0.0] * 5), counted([1.0] * 5), method="randomisation", samples=20_000)
    assert found.p_value == pytest.approx(1 / 16, abs=0.01)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_which_of_two_is_the_baseline_changes_only_the_sign(method: SignificanceMethod, seed: int) -> None:
    chance = np.random.default_rng(seed)
    first, second = counted(list(chance.random(30))), counted(list(chance.random(30)))
    one = compared(first, second, method=method, samples=200)
    other = compared(second, first, method=method, samples=200)
    assert one.difference == pytest.approx(-other.difference)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low])
    assert one.p_value == other.p_value


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    chance = np.random.default_rng(5)
    one = counted(list(chance.random(40)))
    found = [bootstrap_interval(one, by="segment", seed=seed, samples=100) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_resampling_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(6)
    one = counted(list(chance.random(50)))
    whole = bootstrap_interval(one, by="segment", samples=200)
    monkeypatch.setattr("eval.statistics.resampling._CELLS", 350)  # seven resamples of fifty
    assert bootstrap_interval(one, by="segment", samples=200) == whole


def test_documents_are_resampled_whole() -> None:
    # Six uniform documents: every resampled mean is a multiple of 1/6; segments would give other values.
    one = counted(([0.0] * 5 + [1.0] * 5) * 3, [place // 5 for place in range(30)])
    found = bootstrap_interval(one, by="document", samples=400)
    assert isinstance(found, ConfidenceInterval)
    assert [6 * found.low, 6 * found.high] == pytest.approx([1, 5])
    narrow = bootstrap_interval(one, by="segment", samples=400)
    assert isinstance(narrow, ConfidenceInterval)
    assert narrow.high - narrow.low < 0.5


def test_an_interval_has_about_its_nominal_coverage() -> None:
    chance = np.random.default_rng(7)
    hits = 0
    for trial in range(100):
        found = bootstrap_interval(counted(list(chance.random(60))), by="segment", samples=200, seed=trial)
        assert isinstance(found, ConfidenceInterval)
        hits += found.low <= 0.5 <= found.high
    assert hits >= 88  # nominally 95; the percentile interval is slightly narrow


def test_resamples_with_nothing_to_measure_are_counted_and_left_out() -> None:
    one = counted([0.7, -1, -1, -1, -1])
    found = bootstrap_interval(one, by="segment", samples=3000)
    assert isinstance(found, ConfidenceInterval)
    assert [found.low, found.high] == pytest.approx([0.7, 0.7])
    assert found.undefined / 3000 == pytest.approx((4 / 5) ** 5, abs=0.03)  # by hand: five draws miss the first
    other = compared(one, counted([0.9, -1, -1, -1, -1]), samples=300)
    assert 0 < other.undefined < 300
    assert other.p_value == other.p_value


def test_an_unmeasured_score_has_no_interval_and_no_test() -> None:
    nothing = counted([-1, -1, -1])
    assert bootstrap_interval(nothing, by="segment") == Unmeasured("nothing of what it measures occurs", "mean|v:1")
    assert isinstance(compare_pair(nothing, counted([1, 1, 1]), higher_is_better=True, by="segment"), Unmeasured)


@pytest.mark.parametrize(
    ("by", "number", "why"),
    [
        ("document", 1, "there is only one document, and tests need at least 5"),
        ("document", 2, "there are only 2 documents, and tests need at least 5"),
        ("segment", 4, "there are only 4 segments, and tests need at least 5"),
    ],
)
def test_too_few_units_have_no_test(by: ResamplingUnit, number: int, why: str) -> None:
    # The second is better everywhere; two documents alone would make that significant.
    documents = [place % number for place in range(4)]
    first, second = counted([0.1, 0.2, 0.1, 0.2], documents), counted([0.8, 0.9, 0.8, 0.9], documents)
    for found in (
        bootstrap_interval(first, by=by),
        *(compare_pair(first, second, higher_is_better=True, by=by, method=method) for method in METHODS),
        *part_intervals(replace(first, parts={"a": first.fold}), by=by).values(),
    ):
        assert isinstance(found, Unmeasured)
        assert found.why == why


def test_five_units_are_enough() -> None:
    assert isinstance(bootstrap_interval(counted([0.1] * 5), by="document", samples=10), ConfidenceInterval)


def test_systems_counted_over_different_rows_are_refused() -> None:
    with pytest.raises(InputError, match="not counted over the same segments"):
        compare_pair(counted([1, 2]), counted([1, 2, 3]), higher_is_better=True, by="segment")
    with pytest.raises(InputError, match="not counted over the same documents"):
        compare_pair(counted([1, 2], [0, 1]), counted([1, 2], [0, 2]), higher_is_better=True, by="document")


def test_counts_with_different_signatures_are_refused() -> None:
    other = MetricCounts(np.ones((2, 2)), np.arange(2), mean_fold(), "mean|case:lc|v:1")
    with pytest.raises(InputError, match="not counted the same way"):
        compare_pair(counted([1, 2]), other, higher_is_better=True, by="segment")


def test_zero_resamples_are_refused() -> None:
    with pytest.raises(InputError, match="at least one resample"):
        bootstrap_interval(counted([1, 2]), by="segment", samples=0)


def test_a_category_is_tested_like_a_metric() -> None:
    def second_column(sums: FloatArray) -> FloatArray:
        return sums[..., 1]

    whole = MetricCounts(
        np.array([[1.0, 4.0], [3.0, 4.0]] * 3), np.arange(6), mean_fold(), "m", parts={"b": second_column}
    )
    found = bootstrap_interval(part_counts(whole, "b"), by="segment", samples=20)
    assert isinstance(found, ConfidenceInterval)
    assert found.value == 24
    assert part_counts(whole, "b").signature == "m|part:b"


def test_batched_categories_equal_single_ones() -> None:
    chance = np.random.default_rng(8)
    parts = {"first": mean_fold(0, 2), "second": mean_fold(1, 2), "never": mean_fold(0, 3)}
    rows = np.column_stack([chance.random((30, 2)), np.ones(30), np.zeros(30)])
    whole = MetricCounts(rows, np.arange(30), mean_fold(0, 2), "m", parts=parts)
    found = part_intervals(whole, by="segment", samples=50)
    assert {name: bootstrap_interval(part_counts(whole, name), by="segment", samples=50) for name in parts} == found
    assert isinstance(found["never"], Unmeasured)


# --- against sacrebleu -------------------------------------------------------------------------------------------

WORDS = "the a old young captain sailor harbour letter wrote read found lost at in on night morning and".split()


def outputs(seed: int, harm: float) -> tuple[list[str], list[str]]:
    """References, and a system with wrong words at this rate."""
    chance = random.Random(seed)
    references = [" ".join(chance.choices(WORDS, k=chance.randint(6, 20))) for _ in range(150)]
    spoilt = random.Random(f"{seed}, {harm}")
    return references, [
        " ".join(spoilt.choice(WORDS) if spoilt.random() < harm else word for word in text.split())
        for text in references
    ]


def corpus(references: Sequence[str], **systems: Sequence[str]) -> Corpus:
    document = Document("d", {name: tuple(texts) for name, texts in systems.items()}, (tuple(references),))
    return Corpus((document,), target_language="en")


def sacrebleu_p(references: Sequence[str], systems: Sequence[Sequence[str]], test: str, samples: int) -> float:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    named: list[tuple[str, Sequence[str]]] = [(str(number), list(texts)) for number, texts in enumerate(systems)]
    metrics = {"BLEU": BLEU(references=[list(references)], force=True)}
    _, table = PairedTest(named, metrics, references=None, test_type=test, n_samples=samples)()
    result = table["BLEU"][1]
    assert not isinstance(result, str)
    assert result.p_value is not None
    return float(result.p_value)


def our_p(
    references: Sequence[str], systems: Sequence[Sequence[str]], method: SignificanceMethod, samples: int, seed: int
) -> float:
    whole = corpus(references, a=systems[0], b=systems[1])
    first, second = Bleu().count(whole, "a"), Bleu().count(whole, "b")
    assert isinstance(first, MetricCounts)
    assert isinstance(second, MetricCounts)
    found = compare_pair(first, second, higher_is_better=True, by="segment", samples=samples, seed=seed, method=method)
    assert isinstance(found, PairedComparison)
    return found.p_value


def sampling_error(p_value: float, samples: int) -> float:
    """Three standard errors of the difference of two estimates of a p-value."""
    return float(3 * (2 * p_value * (1 - p_value) / samples) ** 0.5 + 2 / samples)


@pytest.mark.parametrize("harm", [0.3, 0.34])
def test_the_bootstrap_has_sacrebleus_p_value(harm: float) -> None:
    references, baseline = outputs(1, 0.3001)
    _, other = outputs(1, harm)
    theirs = sacrebleu_p(references, (baseline, other), "bs", 1000)
    ours = our_p(references, (baseline, other), "bootstrap", 1000, seed=12345)
    assert ours == pytest.approx(theirs, abs=0.0011)  # its 32-bit sums may round one resample differently
    again = our_p(references, (baseline, other), "bootstrap", 1000, seed=1)
    assert again == pytest.approx(theirs, abs=sampling_error(theirs, 1000))


@pytest.mark.parametrize("harm", [0.3, 0.34])
def test_the_randomisation_agrees_with_sacrebleu_within_sampling_error(harm: float) -> None:
    references, baseline = outputs(2, 0.3001)
    _, other = outputs(2, harm)
    theirs = sacrebleu_p(references, (baseline, other), "ar", 2000)
    ours = our_p(references, (baseline, other), "randomisation", 2000, seed=1)
    assert ours == pytest.approx(theirs, abs=sampling_error(theirs, 2000))


def test_on_real_post_edits_both_tests_agree_with_sacrebleu(shared_data: Path) -> None:
    path = shared_data / "mlqe_pe" / "ro-en.dev.jsonl"
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:300]
    references = [row["post_edit"] for row in rows]
    baseline = [row["mt"] for row in rows]
    chance = random.Random(11)  # removes a word of the MT at random for a small difference
    other = [_shorter(text, chance) if chance.random() < 0.03 else text for text in baseline]
    for test, method in zip(("bs", "ar"), METHODS, strict=True):
        theirs = sacrebleu_p(references, (baseline, other), test, 500)
        ours = our_p(references, (baseline, other), method, 500, seed=1)
        assert ours == pytest.approx(theirs, abs=sampling_error(theirs, 500)), test


def _shorter(text: str, chance: random.Random) -> str:
    words = text.split()
    words.pop(chance.randrange(len(words)))
    return " ".join(words)
