"""Statistics of the BWB paper computed by hand on a few lines, and scores by the share of omitted pronouns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eval.linguistics.bwb.markup import parse_markup, read_markup
from eval.linguistics.pronoun_gender import gender_of
from eval.statistics.counts import MetricCounts, mean_fold
from eval.suites.bwb.omission import OmissionBin, omitted_shares, score_by_omission
from eval.suites.bwb.plots import plot_chains, plot_omission
from eval.suites.bwb.statistics import EntityShare, chain_statistics, entity_statistics, pronoun_statistics

CHAPTER = parse_markup(
    [
        "<PER, T, 1>{Mira} took <O, 1>{her} <VEH, N, 2>{cart} to <GPE, T, 3>{Orlen}.",
        "Nobody was there.",
        "<P, 1>{She} sold <P, 2>{it} to <PER, N, 4>{a smith}.",
        "<PER, T, 1>{Mira} thanked <O, 4>{him}.",
    ]
)


def test_entities_are_counted_by_type_and_as_terminology() -> None:
    # 5 entity mentions: Mira twice, cart, Orlen, a smith. TERM: Mira twice and Orlen, 2 entities.
    assert entity_statistics([CHAPTER]) == {
        "PER": EntityShare(3, 3 / 5, 3 / 2),
        "VEH": EntityShare(1, 1 / 5, 1),
        "GPE": EntityShare(1, 1 / 5, 1),
        "NOM": EntityShare(2, 2 / 5, 1),
        "TERM": EntityShare(3, 3 / 5, 3 / 2),
    }


def test_an_entity_of_another_document_is_another_entity() -> None:
    assert entity_statistics([CHAPTER, CHAPTER])["PER"] == EntityShare(6, 3 / 5, 3 / 2)


def test_pronouns_are_counted_by_gender_and_by_what_is_omitted() -> None:
    table = pronoun_statistics([CHAPTER])
    assert table.by_gender == {"feminine": 2, "masculine": 1, "neuter": 1, "epicene": 0}
    assert (table.omitted, table.total, table.share_omitted) == (2, 4, 0.5)
    assert pronoun_statistics([parse_markup(["Nobody."])]).share_omitted is None


@pytest.mark.parametrize(
    ("word", "gender"),
    [("His", "masculine"), ("她们", "feminine"), ("它的", "neuter"), ("他们", "epicene"), ("you", "other")],
)
def test_the_gender_of_a_pronoun(word: str, gender: str) -> None:
    assert gender_of(word) == gender


def test_chains_by_hand() -> None:
    # Mira: lines 0 0 2 3; cart: 0 2; Orlen: 0; the smith: 2 3.
    chains = chain_statistics([CHAPTER])
    assert chains.distances == {0: 1, 2: 2, 1: 2}
    assert chains.spreads == {3: 1, 2: 1, 0: 1, 1: 1}
    assert chains.sizes == {4: 1, 2: 2, 1: 1}


def test_the_sample_omits_4_of_12_english_pronouns_and_no_chinese_one(shared_data: Path) -> None:
    folder = shared_data / "bwb_book0_0"
    english, chinese = (
        pronoun_statistics([read_markup(folder / f"coref_sample.{one}.an.txt")]) for one in ("en", "zh")
    )
    assert (english.by_gender["feminine"], english.omitted, english.total) == (11, 4, 12)
    assert (chinese.by_gender["feminine"], chinese.omitted, chinese.total) == (3, 0, 4)


# --- omission ----------------------------------------------------------------------------------------------------


def _counted() -> MetricCounts:
    """Four documents, the last with two rows; a row is a sum and a count."""
    rows = np.asarray([[1, 1], [0, 1], [3, 4], [1, 2], [0, 2]], dtype=float)
    return MetricCounts(rows, np.asarray([0, 1, 2, 3, 3]), mean_fold(), "half|v:0")


def test_the_documents_of_a_bin_are_scored_as_one() -> None:
    bins = score_by_omission(_counted(), np.asarray([0.05, 0.1, 0.19, 1.0]))
    assert bins == [OmissionBin(0.0, 0.1, 1, 1.0), OmissionBin(0.1, 0.2, 2, 3 / 5), OmissionBin(0.9, 1.0, 1, 1 / 4)]


def test_a_document_without_pronouns_is_in_no_bin() -> None:
    shares = omitted_shares({"a": CHAPTER, "b": parse_markup(["Nobody."])}, ["a", "b", "c"])
    assert shares[0] == 0.5
    assert np.isnan(shares[1:]).all()
    counted = MetricCounts(np.ones((3, 2)), np.arange(3), mean_fold(), "one|v:0")
    assert score_by_omission(counted, shares) == [OmissionBin(0.5, 0.6, 1, 1.0)]


def test_a_bin_without_a_score_has_no_value() -> None:
    counted = MetricCounts(np.zeros((1, 2)), np.arange(1), mean_fold(), "none|v:0")
    assert score_by_omission(counted, np.asarray([0.5])) == [OmissionBin(0.5, 0.6, 1, None)]


def test_the_figures_are_written(tmp_path: Path) -> None:
    plot_omission(
        {"one": score_by_omission(_counted(), np.asarray([0.05, 0.1, 0.19, 1.0]))}, tmp_path / "a.png", score="half"
    )
    plot_chains({"en": chain_statistics([CHAPTER])}, tmp_path / "b.png")
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
