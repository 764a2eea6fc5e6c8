"""A judge's agreement with people, over pairs that both decided, whatever order people saw them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.human.trial import Trial, TrialItem, TrialPassage
from eval.human.trial_index import votes_by_passage
from eval.human.vote import Choice, Vote
from eval.judge import (
    JudgeAgreement,
    Judgement,
    NoHumanVotes,
    PairJudgements,
    Unscored,
    Verdict,
    judge_agreement,
    pairs_from_trial,
)
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from tests.eval.judge.conftest import pairs


def judged(*verdicts: Choice | Judgement) -> PairJudgements:
    given = pairs(len(verdicts))
    found: dict[str, Judgement] = {
        pair.id: Verdict(one, ()) if isinstance(one, str) else one
        for pair, one in zip(given, verdicts, strict=True)
    }
    return PairJudgements(tuple(given), {}, found, "judge_pairs|test")


def vote(item: str, winner: str | None, rater: str = "r", *, swapped: bool = False) -> Vote:
    systems = ("good", "bad") if swapped else ("bad", "good")
    choice: Choice = "tie" if winner is None else ("first" if winner == systems[0] else "second")
    return Vote(item, rater, *systems, choice)


def agreed(found: JudgeAgreement | NoHumanVotes) -> JudgeAgreement:
    assert isinstance(found, JudgeAgreement)
    return found


def test_agreement_is_about_systems_and_not_about_places() -> None:
    # p0 and p2 have the bad text first, p1 and p3 the good one: the judge says good, good, bad, bad.
    ours = judged("second", "first", "first", "second")
    votes = [
        vote("p0", "good"),
        vote("p1", "good", swapped=True),
        vote("p2", "good"),
        vote("p3", "bad", swapped=True),
    ]
    found = agreed(judge_agreement(ours, votes))
    assert (found.share.successes, found.share.trials) == (3, 4)
    # By hand: they agree on 3 of 4; by chance on 2/4·3/4 + 2/4·1/4 = 1/2; so κ = (3/4 − 1/2)/(1/2).
    assert isinstance(found.kappa, ConfidenceInterval)
    assert found.kappa.value == pytest.approx(0.5)
    assert found.share.wilson.low == pytest.approx(0.3006, abs=1e-4)  # Wilson of 3/4, by hand
    assert "agrees with raters on 3 of 4 pairs, 75%" in str(found)


def test_the_majority_of_raters_is_what_people_say() -> None:
    ours = judged("second", "second")
    votes = [
        *(vote("p0", "good", rater) for rater in "ab"),
        vote("p0", "bad", "c"),
        vote("p2", "good", "a"),
        vote("p1", "good", "a"),
        vote("p1", "bad", "b"),
    ]
    found = agreed(judge_agreement(ours, votes))
    assert (found.share.successes, found.share.trials, found.tied) == (1, 1, 1)
    assert (found.votes, found.raters) == (5, 3)


def test_ties_and_what_is_unscored_are_left_out_and_told() -> None:
    ours = judged("second", "tie", Unscored("order_flip"), "second")
    votes = [vote("p0", None), vote("p1", "good"), vote("p2", "good"), vote("p3", "bad")]
    found = agreed(judge_agreement(ours, votes))
    assert (found.share.trials, found.tied, found.unscored) == (1, 2, 1)
    assert "2 ties, 1 without a verdict" in str(found)
    assert isinstance(found.kappa, Unmeasured)


def test_spam_repeats_and_other_systems_are_no_votes_on_it() -> None:
    ours = judged("second")
    spam = Vote("p0", "r", "bad", "good", "first", kind="spam")
    other = Vote("p0", "r", "bad", "third", "first")
    assert judge_agreement(ours, [spam]) == NoHumanVotes()
    assert str(judge_agreement(ours, [spam, other])) == "no human vote is on a judged pair"


def test_where_nobody_voted_the_verdicts_say_so() -> None:
    ours = judged("second")
    assert str(ours.agreement) == "there are no human votes to compare with"
    assert ours.to_dict()["agreement"]["not_applicable"] == "there are no human votes to compare with"
    assert ours.with_agreement([vote("p0", "good")]).to_dict()["agreement"]["share"] == 1.0
    assert str(judge_agreement(judged("tie"), [vote("p0", "good")])).startswith("no pair was decided by both")


def test_the_items_of_a_blind_test_are_judged_under_their_own_ids() -> None:
    trial = Trial(
        id="t",
        name="test",
        seed=1,
        systems=("bad", "good"),
        passages=(TrialPassage("c1:1-2", 2, ("Un.", "Deux."), language="fr"), TrialPassage("c1:3", 1)),
        items=(
            TrialItem("i7", "c1:1-2", ("bad", "good"), (("A one.", "A two."), ("One.", "Two."))),
            TrialItem(
                "i8", "c1:1-2", ("bad", "good"), (("A one.", "A two."), ("One.", "Two.")), "repeat", "i7"
            ),
            TrialItem("i9", "c1:3", ("good", "bad"), (("Three.",), ("A three.",))),
        ),
        target_language="en",
    )
    found = pairs_from_trial(trial)
    assert [pair.id for pair in found] == ["i7", "i9"]
    assert found[0].source == "Un.\n\nDeux."
    assert (found[0].second, found[0].second_system, found[0].source_language) == (
        "One.\n\nTwo.",
        "good",
        "fr",
    )
    assert found[1].source is None
    votes = [vote("i7", "good"), vote("i9", "bad", swapped=True)]
    assert [one.item for one in votes_by_passage(votes, trial)] == ["c1:1-2", "c1:3"]
    ours = PairJudgements(found, {}, {"i7": Verdict("second", ()), "i9": Verdict("first", ())}, "judge")
    assert agreed(judge_agreement(ours, votes)).share.successes == 1


@given(
    st.lists(st.tuples(st.sampled_from(["good", "bad", None]), st.sampled_from(["first", "second", "tie"])))
)
def test_every_pair_with_votes_is_agreed_on_or_not_or_left_out(
    said: list[tuple[str | None, Choice]],
) -> None:
    ours = judged(*(choice for _, choice in said))
    found = judge_agreement(ours, [vote(f"p{at}", winner) for at, (winner, _) in enumerate(said)])
    if isinstance(found, JudgeAgreement):
        assert found.share.trials + found.tied + found.unscored == len(said)
        assert 0 <= found.share.wilson.low <= found.share.rate <= found.share.wilson.high <= 1
