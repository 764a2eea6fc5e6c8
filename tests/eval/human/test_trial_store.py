"""Trial store: trials, rater links, and durable votes, one per item and rater."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ape.errors import Conflict, InputError, UnknownTrial
from ape.jobs.store import JobStore
from ape.jobs.tables import trials as trials_table
from eval.human.answer import RaterAnswer, VoteBuilder
from eval.human.trial import Trial
from eval.human.trial_file import write_trial
from eval.human.trial_store import TrialStore
from eval.human.vote import Vote
from tests.ape.jobs.postgres import Postgres, missing, running_postgres
from tests.eval.human.trial_factory import a_trial

ROOT = Path(__file__).parents[3]
TRIAL = a_trial()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    if why := missing():
        pytest.skip(why)
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def trials(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TrialStore]:
    """A store with one trial, on each database."""
    url = str(tmp_path / "jobs.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").url
    with TrialStore(url) as store:
        store.add(TRIAL)
        yield store
        with store._database.write_transaction() as connection:
            connection.execute(trials_table.delete())


def a_vote(place: int = 0, *, rater: str = "anna", choice: str = "first", trial: Trial = TRIAL) -> Vote:
    given = {"item": trial.items[place].id, "choice": choice, "at": "2030-01-01T10:00:00+00:00"}
    return VoteBuilder(trial, rater).build_vote(RaterAnswer.model_validate(given))


def test_a_vote_round_trips(trials: TrialStore) -> None:
    given = {
        "item": TRIAL.items[0].id,
        "choice": "tie",
        "confidence": "unsure",
        "believed_human": "both",
        "errors": {"second": ["discourse", "overly literal", "discourse"]},
        "comment": "Beide <b>gleich</b>\x00 ''; DROP TABLE votes; \U0001f4da",
        "at": "2030-01-01T12:00:00+02:00",
    }
    vote = VoteBuilder(TRIAL, "anna").build_vote(RaterAnswer.model_validate(given))
    assert trials.save(TRIAL.id, vote) == vote
    assert trials.votes(TRIAL.id) == [vote]
    assert vote.errors == {"second": ("overly literal", "discourse")}
    assert vote.at == "2030-01-01T10:00:00+00:00"


def test_a_stored_vote_has_the_kind_and_language_of_its_item(trials: TrialStore) -> None:
    for place in range(len(TRIAL.items)):
        trials.save(TRIAL.id, a_vote(place))
    found = {vote.item: vote for vote in trials.votes(TRIAL.id)}
    for item in TRIAL.items:
        assert (found[item.id].kind, found[item.id].repeats, found[item.id].language) == (item.kind, item.repeats, "fr")


def test_saving_the_same_vote_twice_stores_it_once(trials: TrialStore) -> None:
    first = trials.save(TRIAL.id, a_vote())
    later = replace(a_vote(), at="2030-01-01T10:00:05+00:00")
    assert trials.save(TRIAL.id, later) == first
    assert trials.votes(TRIAL.id) == [first]


def test_a_different_vote_must_replace_explicitly(trials: TrialStore) -> None:
    trials.save(TRIAL.id, a_vote())
    with pytest.raises(Conflict, match=r"anna has already voted differently on item"):
        trials.save(TRIAL.id, a_vote(choice="second"))
    changed = trials.save(TRIAL.id, a_vote(choice="second"), replace=True)
    assert trials.votes(TRIAL.id) == [changed]
    assert changed.choice == "second"


def test_two_raters_can_vote_on_the_same_item(trials: TrialStore) -> None:
    trials.save(TRIAL.id, a_vote())
    trials.save(TRIAL.id, a_vote(rater="ben"))
    assert [vote.rater for vote in trials.votes(TRIAL.id, rater="ben")] == ["ben"]
    assert [(rater.name, rater.votes) for rater in trials.raters(TRIAL.id)] == [("anna", 1), ("ben", 1)]


def test_a_vote_that_does_not_match_the_trial_is_rejected(trials: TrialStore) -> None:
    other = a_trial(seed=2)
    trials.add(other)
    with pytest.raises(InputError, match="There is no item 'nothing' in the trial"):
        trials.save(TRIAL.id, replace(a_vote(), item="nothing"))
    with pytest.raises(InputError, match="Is the vote from another trial"):
        trials.save(TRIAL.id, a_vote(trial=other))
    with pytest.raises(InputError, match="shows mt and tuned, but the vote is between mt and best"):
        trials.save(TRIAL.id, replace(a_vote(), first="mt", second="best"))
    with pytest.raises(UnknownTrial, match="There is no trial 'none'"):
        trials.save("none", a_vote())
    assert trials.votes(TRIAL.id) == []


def test_a_tie_is_rejected_if_the_trial_has_none(trials: TrialStore) -> None:
    strict = replace(TRIAL, ties=False)
    with pytest.raises(InputError, match="does not allow ties"):
        VoteBuilder(strict, "anna").build_vote(RaterAnswer(item=TRIAL.items[0].id, choice="tie"))


def test_saving_many_votes_is_atomic(trials: TrialStore) -> None:
    trials.save(TRIAL.id, a_vote(1))
    votes = [a_vote(0), a_vote(1, choice="second"), a_vote(2)]
    with pytest.raises(Conflict):
        trials.save_all(TRIAL.id, votes)
    assert len(trials.votes(TRIAL.id)) == 1
    assert trials.save_all(TRIAL.id, votes, replace=True) == {"new": 2, "replaced": 1}
    assert trials.save_all(TRIAL.id, votes) == {"same": 3}


def test_adding_a_trial_again_keeps_its_votes(trials: TrialStore) -> None:
    vote = trials.save(TRIAL.id, a_vote())
    trials.add(TRIAL)
    assert trials.votes(TRIAL.id) == [vote]
    assert trials.trials() == [TRIAL]


def test_removing_a_trial_removes_its_votes_and_links(trials: TrialStore) -> None:
    token = trials.invite(TRIAL.id, "anna")
    trials.save(TRIAL.id, a_vote())
    trials.remove(TRIAL.id)
    with pytest.raises(UnknownTrial):
        trials.votes(TRIAL.id)
    with pytest.raises(UnknownTrial):
        trials.find_link(token)
    trials.add(TRIAL)
    assert trials.votes(TRIAL.id) == []


def test_a_link_identifies_its_rater_and_altered_links_are_unknown(trials: TrialStore) -> None:
    tokens = {name: trials.invite(TRIAL.id, name) for name in ("anna", "ben")}
    assert [trials.find_link(token).rater for token in tokens.values()] == ["anna", "ben"]
    token = tokens["anna"]
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in (changed, token[:-1], token + "x", "", "anna", "%00", "\ud800" * 22, "'" * 22):
        with pytest.raises(UnknownTrial, match="This link is unknown"):
            trials.find_link(wrong)


def test_only_the_hash_of_a_token_is_stored(tmp_path: Path) -> None:
    with TrialStore(str(tmp_path / "jobs.db")) as store:
        store.add(TRIAL)
        token = store.invite(TRIAL.id, "anna")
    assert token.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_new_link_invalidates_the_old_one_and_keeps_votes(trials: TrialStore) -> None:
    old = trials.invite(TRIAL.id, "anna")
    trials.save(TRIAL.id, a_vote())
    new = trials.invite(TRIAL.id, "anna")
    with pytest.raises(UnknownTrial, match="a newer one has replaced it"):
        trials.find_link(old)
    assert trials.find_link(new).rater == "anna"
    assert [(rater.name, rater.votes, rater.invited) for rater in trials.raters(TRIAL.id)] == [("anna", 1, True)]


def test_concurrent_saves_lose_no_votes(trials: TrialStore) -> None:
    raters = [f"rater {number}" for number in range(6)]
    votes = [a_vote(place, rater=rater) for rater in raters for place in range(5)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda vote: trials.save(TRIAL.id, vote), votes * 2))
    assert len(trials.votes(TRIAL.id)) == 30


@pytest.mark.subprocess
def test_a_saved_vote_survives_a_killed_process(tmp_path: Path) -> None:
    write_trial(TRIAL, tmp_path / "trial.json")
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from eval.human.answer import RaterAnswer, VoteBuilder\n"
        "from eval.human.trial_file import read_trial\n"
        "from eval.human.trial_store import TrialStore\n"
        "trial = read_trial(Path(sys.argv[2]))\n"
        "trials = TrialStore(sys.argv[1])\n"
        "trials.add(trial)\n"
        "builder = VoteBuilder(trial, 'anna')\n"
        "for item in trial.items[:3]:\n"
        "    trials.save(trial.id, builder.build_vote(RaterAnswer(item=item.id, choice='first')))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "jobs.db"), str(tmp_path / "trial.json")]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=300).returncode == -9
    with TrialStore(str(tmp_path / "jobs.db")) as store:
        # Votes of the same millisecond are in the order of their items.
        assert {vote.item for vote in store.votes(TRIAL.id)} == {item.id for item in TRIAL.items[:3]}


def test_votes_and_jobs_share_a_database(tmp_path: Path) -> None:
    with JobStore(str(tmp_path / "jobs.db")) as store:
        assert store.jobs() == []
    with TrialStore(str(tmp_path / "jobs.db")) as trials:
        assert trials.trials() == []
