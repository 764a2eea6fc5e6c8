"""Coreference scorers: the CoNLL scorer's test cases and hand-computed values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.linguistics.coreference.conll_reader import read_document_pairs
from eval.linguistics.coreference.partition import build_partition, repeated_mentions
from eval.linguistics.coreference.scorers import SCORERS, conll_f1, score_clusters, score_documents

NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceafm", "ceafe": "ceafe", "blanc": "blanc"}


def _entities(*words: str) -> list[tuple[str, ...]]:
    return [tuple(word) for word in words]


def test_all_36_cases_of_the_conll_scorer_agree_to_four_digits(shared_data: Path) -> None:
    folder = shared_data / "conll_scorer"
    cases = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert len(cases) == 36
    for case in cases:
        pairs = read_document_pairs(folder / "test" / case["key"], folder / "test" / case["response"])
        for name, expected in case["expected"].items():
            found = score_documents(NAMES[name], pairs)
            assert (found.recall, found.precision, found.f1) == pytest.approx(expected, abs=5e-5), (case["id"], name)


@pytest.mark.parametrize(
    ("key", "response", "recall", "precision"),
    [
        # abc has 3 links, 1 found in ab; de its 1: (3·1/3 + 2·1)/5. Of the response ab 1/1, de 1/1, c alone 0: 4/5.
        (["abc", "de"], ["ab", "c", "de"], 3 / 5, 4 / 5),
        # Singletons match only singletons: a matches, and bc lost its only link.
        (["a", "bc"], ["a", "b", "c"], 1 / 3, 1 / 3),
        (["a"], ["ab"], 0, 0),
        # 4 mentions, 6 links, of which ab and cd: 4·(2/6)/4; both of the response right.
        (["abcd"], ["ab", "cd"], 1 / 3, 1),
        # A mention without an entity costs precision: abx has 3 links, one right.
        (["ab"], ["abx"], 1, 1 / 3),
    ],
)
def test_lea_by_hand(key: list[str], response: list[str], recall: float, precision: float) -> None:
    found = score_clusters("lea", _entities(*key), _entities(*response))
    assert (found.recall, found.precision) == pytest.approx((recall, precision))


def test_conll_f1_is_the_mean_of_three() -> None:
    pairs = [(_entities("a", "bc", "def"), _entities("a", "de"))]
    # From the CoNLL scorer's case A2: MUC .5, B³ .56, CEAFe .72.
    assert conll_f1(pairs) == pytest.approx((0.5 + 0.56 + 0.72) / 3)


def test_counts_of_documents_are_added_before_dividing() -> None:
    pairs = [(_entities("ab"), _entities("ab")), (_entities("cdef"), _entities("c", "def"))]
    assert score_documents("muc", pairs).recall == pytest.approx((1 + 2) / (1 + 3))


def test_blanc_of_a_single_mention_is_1_or_0() -> None:
    assert score_clusters("blanc", _entities("a"), _entities("a")).f1 == 1
    assert score_clusters("blanc", _entities("a"), _entities("b")).f1 == 0
    assert score_clusters("blanc", _entities("a"), _entities("ab")).f1 == 0


@pytest.mark.parametrize("name", SCORERS)
def test_an_empty_response_is_zero_and_not_an_error(name: str) -> None:
    assert score_clusters(name, _entities("ab", "c"), []).f1 == 0
    assert score_clusters(name, [], []).f1 == 0


def test_only_the_first_of_repeated_mentions_counts() -> None:
    clusters = _entities("ab", "bc", "cc")
    assert build_partition(clusters) == (frozenset("ab"), frozenset("c"))
    assert list(repeated_mentions(clusters)) == ["b", "c", "c"]


@st.composite
def _partitions(draw: st.DrawFn) -> list[list[int]]:
    labels = draw(st.lists(st.integers(0, 4), min_size=2, max_size=12))
    return [[place for place, label in enumerate(labels) if label == one] for one in sorted(set(labels))]


@pytest.mark.parametrize("name", SCORERS)
@settings(max_examples=25, deadline=None)
@given(divided=_partitions(), other=_partitions())
def test_scores_are_shares_and_swapping_the_sides_swaps_recall_and_precision(
    name: str, divided: Sequence[Sequence[int]], other: Sequence[Sequence[int]]
) -> None:
    there, back = score_clusters(name, divided, other), score_clusters(name, other, divided)
    for value in (there.recall, there.precision, there.f1):
        assert -1e-9 <= value <= 1 + 1e-9
    if name != "blanc":  # it is not symmetric: only the key decides which links count
        assert (there.recall, there.precision) == pytest.approx((back.precision, back.recall))


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "muc"])
@settings(max_examples=25, deadline=None)
@given(divided=_partitions())
def test_a_perfect_response_is_one(name: str, divided: Sequence[Sequence[int]]) -> None:
    assert score_clusters(name, divided, reversed(divided)).f1 == pytest.approx(1)
