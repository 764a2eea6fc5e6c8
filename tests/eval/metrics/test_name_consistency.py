"""Consistency of the names of a ledger, by hand."""

from __future__ import annotations

import pytest

from ape.ledger.links import Wordings
from eval.corpus.corpus import Corpus, Document
from eval.metrics.ledger_names import find_rendering
from eval.metrics.name_consistency import NameConsistency
from eval.statistics.counts import MetricCounts, Score, Unmeasured

pytest.importorskip("pypinyin", reason="reads Chinese names aloud")

SOURCES = ("方召推开门。", "方召看了看雨。", "方召说他不饿。", "大家看着方召。", "方召笑了。")
OUTPUTS = (
    "Fang Zhao pushed the door open.",
    "Fang Zhao looked at the rain.",
    "Fang Zhao said he was not hungry.",
    "Everybody watched Fang Zhao.",
    "Fang Zao laughed.",
)


def corpus(outputs: tuple[str, ...], *, languages: tuple[str, str] = ("zh", "en"), copies: int = 1) -> Corpus:
    documents = [
        Document(id=f"d{number}", sources=SOURCES, references=(), outputs={"mt": outputs}) for number in range(copies)
    ]
    return Corpus(documents=tuple(documents), source_language=languages[0], target_language=languages[1])


def test_pairs_of_mentions_are_alike_or_not() -> None:
    counts = NameConsistency().count(corpus(OUTPUTS), "mt")
    assert isinstance(counts, MetricCounts)
    assert counts.rows.tolist() == [[6, 10]]  # by hand: four mentions alike make 6 pairs, five make 10
    score = counts.score()
    assert isinstance(score, Score)
    assert score.value == pytest.approx(0.6)
    assert score.signature.startswith("name-consistency|ledger:source+output|languages:zh-en|v:")


def test_one_name_throughout_is_consistent() -> None:
    counts = NameConsistency().count(corpus((*OUTPUTS[:4], "Fang Zhao laughed.")), "mt")
    assert isinstance(counts, MetricCounts)
    assert counts.rows.tolist() == [[10, 10]]


def test_pairs_are_counted_within_documents() -> None:
    counts = NameConsistency().count(corpus(OUTPUTS, copies=2), "mt")
    assert isinstance(counts, MetricCounts)
    assert counts.rows.tolist() == [[6, 10], [6, 10]]


def test_a_language_without_rules_is_not_measured() -> None:
    found = NameConsistency().count(corpus(OUTPUTS, languages=("zh", "de")), "mt")
    assert isinstance(found, Unmeasured)
    assert "English" in found.why


def test_of_overlapping_wordings_of_one_length_the_first_by_alphabet_is_read() -> None:
    # Read the other way round, "Lee Ray" would be a wrong rendering; the order of a set differs between runs.
    for number in range(20):
        family = f"Lee{number}"
        wordings = Wordings(frozenset({f"Ann {family}"}), {f"{family} Ray": f"Ann {family}"}, frozenset())
        assert find_rendering(f"Then Ann {family} Ray left.", wordings, "en") == ""
