"""Complete vote analysis as JSON and text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from eval.human.analysis import analyse_votes, format_analysis
from eval.human.analysis.preference_rates import Preference
from eval.human.vote import SHUFFLED_SYSTEM, Vote
from eval.statistics.confidence_sequence import SequentialLook
from eval.statistics.counts import Unmeasured
from tests.eval.human.analysis.vote_factory import votes


def _panel() -> list[Vote]:
    """Three systems, three careful raters, and one who always chooses the first text."""
    own = []
    for rater in ("ann", "ben", "cai", "zoe"):
        own += votes("xxxyxx=xxyxx", rater=rater, language="fr", book="one", believed_human="first")
        own += votes("xyxxyxxyx=xx", first="y", second="z", rater=rater, start=12, language="zh", book="two")
        own += [
            replace(vote, item=f"s{vote.item}")
            for vote in votes("xxxx", second=SHUFFLED_SYSTEM, rater=rater, kind="spam")
        ]
    return [replace(vote, choice="first") if vote.rater == "zoe" else vote for vote in own]


def test_results_are_json_without_nan() -> None:
    found = analyse_votes(_panel(), samples=60)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["flagged"] == ["zoe"]
    assert {one["system"] for one in values["preferences"]} == {"x", "y"}
    assert values["preferences"][0]["handling"] == "left out"
    assert values["preferences"][0]["interval"]["method"] == "Wilson, on effective votes"
    assert [rater["name"] for rater in values["rater_checks"]] == ["ann", "ben", "cai", "zoe"]
    assert values["agreement"]["alpha"]["low"] <= values["agreement"]["alpha"]["value"]


def test_the_text_has_every_part_and_names_flagged_raters() -> None:
    text = format_analysis(analyse_votes(_panel(), samples=60))
    for part in (
        "96 votes by 4 raters on 24 items, 3 systems",
        "x over y",
        "Without flagged raters",
        "By language",
        "By book",
        "By rater",
        "Position bias: the text shown first",
        "Strengths (Bradley-Terry",
        "Kruskal-Wallis",
        "Krippendorff's α",
        "zoe: took the same side in 24 of 24 votes",
        "Belief: the text believed human",
        "Votes needed for 80% power",
        "confidence sequence",
    ):
        assert part in text, part
    assert "nan" not in text.lower().replace("ann", "")


def test_rates_are_also_given_without_flagged_raters() -> None:
    found = analyse_votes(_panel(), samples=20)
    (every, _), (trusted, _) = found.preferences, found.trusted
    assert isinstance(every, Preference)
    assert isinstance(trusted, Preference)
    assert trusted.votes == every.votes - 12
    assert trusted.rate == pytest.approx(9 / 11)
    assert analyse_votes(votes("xxyy"), samples=20).trusted == ()


def test_looks_control_the_family_wise_error_over_all_pairs() -> None:
    found = analyse_votes(_panel(), samples=20)
    assert [one.pairs for one in found.looks if isinstance(one, SequentialLook)] == [2, 2]
    assert "family-wise over 2 pairs, by Bonferroni" in format_analysis(found)
    assert "Bonferroni" not in format_analysis(analyse_votes(votes("xxyy"), samples=20))


def test_a_lost_lead_is_reported() -> None:
    text = format_analysis(analyse_votes(votes("x" * 25 + "y" * 40), samples=20))
    assert ", for x" in text
    assert "y and x: since vote" in text
    assert "lead has been lost" in text


def test_untested_checks_are_reported() -> None:
    text = format_analysis(analyse_votes(votes("xxyyxy"), samples=20))
    assert "No rater is flagged.\nNot tested\n" in text
    assert "  spam of r: this rater has seen no attention item, and the check needs 2." in text
    assert "  repeats of r: this rater has seen no pair twice." in text


def test_the_analysis_is_determined_by_the_seed() -> None:
    own = _panel()
    assert analyse_votes(own, seed=7, samples=40) == analyse_votes(own, seed=7, samples=40)


@pytest.mark.parametrize(
    ("own", "part"),
    [
        ([], "There are no votes on a pair of systems"),
        (votes("===="), "all 4 votes between x and y are ties"),
        (votes("xxy"), "there is only one rater (r)"),
        ([replace(vote, kind="spam", second=SHUFFLED_SYSTEM) for vote in votes("x")], "There are no votes on a pair"),
    ],
    ids=["zero votes", "all ties", "one rater", "spam only"],
)
def test_an_unmeasured_part_gives_its_reason(own: list[Vote], part: str) -> None:
    found = analyse_votes(own, samples=20)
    assert part in format_analysis(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_without_votes_every_part_is_empty_or_unmeasured() -> None:
    found = analyse_votes([])
    assert not any((found.preferences, found.by_rater, found.needed, found.looks))
    for part in (found.position, found.bradley_terry, found.rankings, found.agreement, found.belief):
        assert isinstance(part, Unmeasured)


def test_no_votes_are_left_when_all_raters_are_flagged() -> None:
    own = [replace(vote, choice="first") for vote in votes("x" * 20)]
    text = format_analysis(analyse_votes(own, samples=50))
    assert "took the same side" in text
    assert "Without flagged raters no votes are left." in text


def test_the_p_value_of_independent_votes_stands_beside_the_clustered_one() -> None:
    clustered = format_analysis(analyse_votes([vote for rater in "abc" for vote in votes("xxxxxxxxyyyy", rater=rater)]))
    row = next(line for line in clustered.splitlines() if line.startswith("  x over y"))
    # By hand: 8 of 12 items and 24 of 36 votes against a coin.
    assert "p (independent votes)" in clustered
    assert ("0.388" in row, "0.065" in row) == (True, True)
    assert "independent" not in format_analysis(analyse_votes(votes("xxxy"), samples=20))
