"""Agreement of a judge with human votes."""

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
        pair.id: Verdict(one, ()) if isinstance(one, str) else one for pair, one in zip(given, verdicts, strict=True)
    }
    return PairJudgements(tuple(given), {}, found, "judge_pairs|test")


def vote(item: str, winner: str | None, rater: str = "r", *, swapped: bool = False) -> Vote:
    systems = ("good", "bad") if swapped else ("bad", "good")
    choice: Choice = "tie" if winner is None else ("first" if winner == systems[0] else "second")
    return Vote(item, rater, *systems, choice)


def measured(found: JudgeAgreement | NoHumanVotes) -> JudgeAgreement:
    assert isinstance(found, JudgeAgreement)
    return found


def test_agreement_is_on_systems_and_not_on_positions() -> None:
    # p0 and p2 have the bad text first, p1 and p3 the good one: the judge prefers good, good, bad, bad.
    ours = judged("second", "first", "first", "second")
    votes = [vote("p0", "good"), vote("p1", "good", swapped=True), vote("p2", "good"), vote("p3", "bad", swapped=True)]
    found = measured(judge_agreement(ours, votes))
    assert (found.share.successes, found.share.trials) == (3, 4)
    # By hand: they agree on 3 of 4; by chance on 2/4·3/4 + 2/4·1/4 = 1/2; so κ = (3/4 − 1/2)/(1/2).
    assert isinstance(found.kappa, ConfidenceInterval)
    assert found.kappa.value == pytest.approx(0.5)
    assert found.share.wilson.low == pytest.approx(0.3006, abs=1e-4)  # Wilson of 3/4, by hand
    assert "agrees with raters on 3 of 4 pairs, 75%" in str(found)


def test_verdicts_are_compared_with_the_majority_of_raters() -> None:
    ours = judged("second", "second")
    votes = [
        *(vote("p0", "good", rater) for rater in "ab"),
        vote("p0", "bad", "c"),
        vote("p2", "good", "a"),
        vote("p1", "good", "a"),
        vote("p1", "bad", "b"),
    ]
    found = measured(judge_agreement(ours, votes))
    assert (found.share.successes, found.share.trials, found.tied) == (1, 1, 1)
    assert (found.votes, found.raters) == (5, 3)


def test_ties_and_unscored_pairs_are_excluded_and_counted() -> None:
    ours = judged("second", "tie", Unscored("order_flip"), "second")
    votes = [vote("p0", None), vote("p1", "good"), vote("p2", "good"), vote("p3", "bad")]
    found = measured(judge_agreement(ours, votes))
    assert (found.share.trials, found.tied, found.unscored) == (1, 2, 1)
    assert "2 ties, 1 without a verdict" in str(found)
    assert isinstance(found.kappa, Unmeasured)


def test_spam_and_votes_on_other_systems_are_ignored() -> None:
    ours = judged("second")
    spam = Vote("p0", "r", "bad", "good", "first", kind="spam")
    other = Vote("p0", "r", "bad", "third", "first")
    assert judge_agreement(ours, [spam]) == NoHumanVotes()
    assert str(judge_agreement(ours, [spam, other])) == "no human vote is on a judged pair"


def test_without_votes_agreement_has_a_reason() -> None:
    ours = judged("second")
    assert str(ours.agreement) == "there are no human votes to compare with"
    assert ours.to_dict()["agreement"]["not_applicable"] == "there are no human votes to compare with"
    assert ours.with_agreement([vote("p0", "good")]).to_dict()["agreement"]["share"] == 1.0
    assert str(judge_agreement(judged("tie"), [vote("p0", "good")])).startswith("no pair was decided by both")


def test_pairs_from_a_trial_have_the_ids_of_its_items() -> None:
    trial = Trial(
        id="t",
        name="test",
        seed=1,
        systems=("bad", "good"),
        passages=(TrialPassage("c1:1-2", 2, ("Un.", "Deux."), language="fr"), TrialPassage("c1:3", 1)),
        items=(
            TrialItem("i7", "c1:1-2", ("bad", "good"), (("A one.", "A two."), ("One.", "Two."))),
            TrialItem("i8", "c1:1-2", ("bad", "good"), (("A one.", "A two."), ("One.", "Two.")), "repeat", "i7"),
            TrialItem("i9", "c1:3", ("good", "bad"), (("Three.",), ("A three.",))),
        ),
        target_language="en",
    )
    found = pairs_from_trial(trial)
    assert [pair.id for pair in found] == ["i7", "i9"]
    assert found[0].source == "Un.\n\nDeux."
    assert (found[0].second, found[0].second_system, found[0].source_language) == ("One.\n\nTwo.", "good", "fr")
    assert found[1].source is None
    votes = [vote("i7", "good"), vote("i9", "bad", swapped=True)]
    assert [one.item for one in votes_by_passage(votes, trial)] == ["c1:1-2", "c1:3"]
    ours = PairJudgements(found, {}, {"i7": Verdict("second", ()), "i9": Verdict("first", ())}, "judge")
    assert measured(judge_agreement(ours, votes)).share.successes == 1


@given(st.lists(st.tuples(st.sampled_from(["good", "bad", None]), st.sampled_from(["first", "second", "tie"]))))
def test_every_pair_with_votes_is_counted_once(answers: list[tuple[str | None, Choice]]) -> None:
    ours = judged(*(choice for _, choice in answers))
    found = judge_agreement(ours, [vote(f"p{at}", winner) for at, (winner, _) in enumerate(answers)])
    if isinstance(found, JudgeAgreement):
        assert found.share.trials + found.tied + found.unscored == len(answers)
        assert 0 <= found.share.wilson.low <= found.share.rate <= found.share.wilson.high <= 1
