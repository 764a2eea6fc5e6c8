"""`ape judge` with a scripted server as the judge."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run
from tests.eval.judge.conftest import biased, honest, prompt_texts, verdict
from tests.scripted import Fail, Say, ScriptedServer, scripted_server

GOOD = ["He put the kettle on.", "He put the kettle away.", "Then he put the kettle down."]
BAD = ["He posed the kettle.", "He posed the kettle far.", "Then he posed the kettle."]
SOURCE = ["Il mit la bouilloire.", "Il rangea la bouilloire.", "Puis il posa la bouilloire."]


@pytest.fixture
def typed(tmp_path: Path, scripted: ScriptedServer) -> tuple[str, ...]:
    """The arguments that name the set and the judge."""
    scripted.script = honest
    rows = [
        {"doc": "c1", "source": source, "systems": {"good": good, "bad": bad}}
        for source, good, bad in zip(SOURCE, GOOD, BAD, strict=True)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "set.jsonl").write_text(lines, encoding="utf-8")
    engine = ("--engine", "url", "--url", scripted.url)
    return ("set.jsonl", "--source-language", "fr", "--target-language", "en", *engine)


def votes_file(folder: Path) -> None:
    votes = [
        {"item": f"c1:{at + 1}", "rater": "r", "first": "bad", "second": "good", "choice": choice}
        for at, choice in enumerate(["second", "second", "first"])
    ]
    (folder / "votes.jsonl").write_text("".join(json.dumps(vote) + "\n" for vote in votes), encoding="utf-8")


def test_pairs_are_judged_and_bias_and_agreement_are_printed(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer
) -> None:
    done = here("judge", "pairs", *typed, "--price-in", "1000", "--price-out", "0")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split()[:6] == ["good", "bad", "3", "0", "0", "0"]
    assert "3 of 3 pairs have a verdict." in lines
    assert "Position bias: the text shown first was chosen 50% of the time" in done.stdout
    assert "A judge is a model, not a reader. There are no human votes to compare with." in lines
    # The scripted server counts 100 tokens for each of 6 prompts, which cost 0.6.
    assert "Cost: 6 requests, 600 tokens read and 120 written, cost 0.6000." in lines
    assert lines[-1].startswith(f"judge_pairs|model:scripted|server:{scripted.url}|prompt:judge_pairs@")
    again = here("judge", "pairs", *typed)
    assert "Cost: 0 requests; 6 answers from the cache." in again.stdout
    assert len(scripted.requests) == 6


def test_the_cache_distinguishes_servers(here: Run, typed: tuple[str, ...], scripted: ScriptedServer) -> None:
    assert here("judge", "pairs", *typed).returncode == 0
    with scripted_server() as other:
        other.script = biased(1.0)
        done = here("judge", "pairs", *(word.replace(scripted.url, other.url) for word in typed))
    assert "Cost: 6 requests" in done.stdout
    assert "0 of 3 pairs have a verdict." in done.stdout
    assert done.stdout.splitlines()[-1].startswith(f"judge_pairs|model:scripted|server:{other.url}|")


def test_agreement_with_human_votes_is_reported(here: Run, typed: tuple[str, ...], tmp_path: Path) -> None:
    votes_file(tmp_path)
    done = here("judge", "pairs", *typed, "--votes", "votes.jsonl")
    assert "It agrees with raters on 2 of 3 pairs, 67% [21%, 94%]" in done.stdout
    output = json.loads(here("judge", "pairs", *typed, "--votes", "votes.jsonl", "--json").stdout)
    assert (output["agreement"]["agreed"], output["agreement"]["items"]) == (2, 3)
    assert [one["winner"] for one in output["verdicts"]] == ["good"] * 3


def test_without_a_pair_that_both_decided_there_is_a_sentence(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path
) -> None:
    votes_file(tmp_path)
    scripted.script = biased(1.0)
    done = here("judge", "pairs", *typed, "--votes", "votes.jsonl")
    sentence = "No pair was decided by both the judge and the raters."
    assert f"A judge is a model, not a reader. {sentence}" in done.stdout.splitlines()


def test_a_biased_judge_is_reported(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.script = biased(1.0)
    done = here("judge", "pairs", *typed, "--answers", "all.json")
    assert "0 of 3 pairs have a verdict." in done.stdout
    assert "3 order_flip: the verdict changed when the two texts were swapped" in done.stdout
    assert "the text shown first was chosen 100% of the time" in done.stdout
    assert "3 of 3 flips went to it" in done.stdout
    saved = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert saved["verdicts"][0]["answers"] == ["I have read both.\n<verdict>A</verdict>"] * 2


def test_an_interrupted_run_resumes(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("APE_RETRY_ATTEMPTS", "1")
    monkeypatch.setenv("APE_IN_FLIGHT", "1")
    scripted.script = lambda request, turn: honest(request, turn) if turn < 4 else Fail(500)
    broken = here("judge", "pairs", *typed, "--cache", "kept")
    assert broken.returncode == 1
    assert "The model server failed" in broken.stderr
    rows = sqlite3.connect(tmp_path / "kept" / "answers-1.sqlite").execute("SELECT count(*) FROM answers")
    assert rows.fetchone() == (4,)
    scripted.script = honest
    done = here("judge", "pairs", *typed, "--cache", "kept")
    assert "Cost: 2 requests" in done.stdout
    assert "4 answers from the cache" in done.stdout


def test_systems_are_chosen_by_name_or_given_by_file(
    here: Run, typed: tuple[str, ...], tmp_path: Path, scripted: ScriptedServer
) -> None:
    (tmp_path / "third.txt").write_text("Kettle one.\nKettle two.\nKettle three.\n", encoding="utf-8")
    scripted.script = lambda request, turn: verdict("B" if "Kettle" in prompt_texts(request).first else "A")
    third = ("--system", "third=third.txt")
    done = here("judge", "pairs", *typed, "--system", "good", *third, "--json")
    assert [one["systems"] for one in json.loads(done.stdout)["systems"]] == [["good", "third"]]
    done = here("judge", "pairs", *typed, "--system", "good", "--system", "bad", *third, "--against", "third", "--json")
    output = json.loads(done.stdout)
    assert [one["systems"] for one in output["systems"]] == [["good", "third"], ["bad", "third"]]
    assert [one["wins"] for one in output["systems"]] == [[3, 0], [3, 0]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "good"), "only one system"),
        (("--system", "good", "--system", "nobody"), "no system 'nobody'"),
        (("--trial", "t.json"), "--trial has its own texts"),
        (("--votes", "none.jsonl"), "none.jsonl can't be read"),
        (("--cache", "set.jsonl"), "can't be stored in"),
    ],
)
def test_bad_input_is_a_sentence_without_requests(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, words: tuple[str, ...], message: str
) -> None:
    done = here("judge", "pairs", *typed, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not scripted.requests


def marking(request: dict[str, object], turn: int) -> Say:
    wrong = json.dumps({"quote": "posed", "category": "literal", "severity": "major"})
    return Say(f"<errors>\n{wrong if 'posed' in str(request['messages']) else 'none'}\n</errors>")


def test_errors_are_marked_and_scored_as_by_a_metric(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.script = marking
    done = here("judge", "spans", *typed, "--baseline", "bad")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["system", "judge_spans", "↓"]
    # Expected: three major errors over the 4 + 4 + 5 words of the source.
    assert next(line for line in lines if line.startswith("bad")).split()[1] == "115.38"
    assert "3 of 3 segments were marked for every system." in lines
    assert "A judge is a model, not a reader. There are no human votes to compare with." in lines
    votes_file(tmp_path)
    agreed = here("judge", "spans", *typed, "--votes", "votes.jsonl")
    assert "good and bad: It agrees with raters on 2 of 3 pairs" in agreed.stdout
    output = json.loads(here("judge", "spans", *typed, "--votes", "votes.jsonl", "--json").stdout)
    assert output["systems"]["bad"]["errors"][0]["errors"][0]["category"] == "literal"
    assert output["agreement"]["good and bad"]["agreed"] == 2
    assert len(scripted.requests) == 6


def test_unusable_marks_are_reported(here: Run, typed: tuple[str, ...], scripted: ScriptedServer) -> None:
    scripted.play(Say("Very good."))
    done = here("judge", "spans", *typed)
    assert "0 of 3 segments were marked for every system." in done.stdout
    assert "good: 3 segments unscored, 0 marks dropped (3 no_verdict)" in done.stdout
    wrong = here("judge", "spans", *typed, "--baseline", "nobody")
    assert (wrong.returncode, "no system 'nobody'" in wrong.stderr) == (2, True)


@pytest.mark.parametrize("message", ["<errors>\nnone\n</errors>", "Very good."])
def test_votes_are_not_denied_where_the_marks_decide_nothing(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path, message: str
) -> None:
    votes_file(tmp_path)
    scripted.play(Say(message))
    done = here("judge", "spans", *typed, "--votes", "votes.jsonl")
    sentence = "good and bad: No pair was decided by both the judge and the raters."
    assert f"A judge is a model, not a reader. {sentence}" in done.stdout.splitlines()


def test_votes_on_other_pairs_are_reported(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path
) -> None:
    vote = {"item": "c9:1", "rater": "r", "first": "bad", "second": "good", "choice": "first"}
    (tmp_path / "votes.jsonl").write_text(json.dumps(vote) + "\n", encoding="utf-8")
    sentence = "A judge is a model, not a reader. No human vote is on a judged pair."
    assert sentence in here("judge", "pairs", *typed, "--votes", "votes.jsonl").stdout.splitlines()
    scripted.script = marking
    assert sentence in here("judge", "spans", *typed, "--votes", "votes.jsonl").stdout.splitlines()


def test_marks_are_not_compared_with_votes_on_other_texts(
    here: Run, typed: tuple[str, ...], scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.script = marking
    made = here("ab", "make", "--data", *typed[:5], "--number", "3", "-o", "trial.json")
    assert made.returncode == 0, made.stderr
    trial = ("--votes", "votes.jsonl", "--trial", "trial.json")
    output = json.loads((tmp_path / "trial.json").read_text(encoding="utf-8"))
    votes = [
        {"trial": output["id"], "item": item["id"], "rater": "r", "first": "bad", "second": "good", "choice": "b"}
        for item in output["items"]
        if item["kind"] == "pair"
    ]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(vote) + "\n" for vote in votes), encoding="utf-8")
    assert "agrees with raters on 3 of 3 pairs" in here("judge", "spans", *typed, *trial).stdout
    table = tmp_path / "set.jsonl"
    table.write_text(table.read_text(encoding="utf-8").replace("posed", "threw"), encoding="utf-8")
    done = here("judge", "spans", *typed, *trial)
    assert done.returncode == 2
    assert "trial.json showed raters another text of 'bad'" in done.stderr
