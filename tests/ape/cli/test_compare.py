"""`ape compare` as a subprocess: models and ready outputs, resuming, merging, judges and votes."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.human.design import TrialDesign, make_trial
from eval.human.trial_file import write_trial
from tests.ape.cli.conftest import APE, Run
from tests.eval.compare.comparison_factory import BETTER, HUMAN, MT, SOURCES, WORSE
from tests.eval.human.trial_factory import a_corpus
from tests.scripted import Fail, Hang, Move, Say, ScriptedServer, scripted_server, translation_in

MEND = dict(zip(MT, BETTER, strict=True))
QUICK = ("--metric", "chrf", "--samples", "100", "--source-language", "fr", "--target-language", "en")


def mend(request: dict[str, Any], turn: int) -> Move:
    """Correct a known MT; repeat any other text, such as that of a health check."""
    text = translation_in(request)
    return Say(MEND.get(text, text))


def write_set(folder: Path, name: str = "set.jsonl", *, references: bool = True, **changes: str) -> None:
    rows = []
    for at, (source, mt, human) in enumerate(zip(SOURCES, MT, HUMAN, strict=True)):
        row = {"document": "north" if at < 2 else "south", "source": source, "mt": mt} | changes
        rows.append(row | ({"reference": human} if references else {}))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def words(tmp_path: Path, scripted: ScriptedServer) -> list[str]:
    """The arguments that compare a model with ready outputs."""
    write_set(tmp_path)
    (tmp_path / "worse.txt").write_text("\n".join(WORSE) + "\n", encoding="utf-8")
    scripted.script = mend
    model = f"model={scripted.url}#scripted"
    return ["compare", "--data", "set.jsonl", "--system", model, "--system", "worse=@worse.txt", *QUICK, "-o", "run"]


def a_vote(first: str, second: str, *, choice: str = "first", **more: str) -> dict[str, str]:
    return {"item": "i1", "rater": "ada", "first": first, "second": second, "choice": choice} | more


def write_votes(path: Path, *votes: dict[str, str]) -> None:
    path.write_text("".join(json.dumps(vote) + "\n" for vote in votes), encoding="utf-8")


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return found


def test_a_model_and_ready_outputs_are_compared_with_doing_nothing(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 4
    assert "model beats do-nothing in 100.0%" in done.stdout
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {
        "results.json", "manifest.json", "outputs.jsonl", "report.html",
    }  # fmt: skip
    output = {one["name"]: one for one in results(tmp_path / "run")["systems"]}
    assert list(output) == ["do-nothing", "model", "worse"]
    assert output["model"]["decisions"] == {"edited": 3, "unchanged": 1}
    lines = (tmp_path / "run" / "outputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["systems"]["model"] for row in rows] == list(BETTER)


def test_the_same_command_again_sends_no_request_and_gives_the_same_results(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*words).returncode == 0
    first = results(tmp_path / "run")
    scripted.play(Fail(500))
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert "all 4 paragraphs were done before" in done.stderr
    assert scripted.requests == []
    assert results(tmp_path / "run") == first


@pytest.mark.subprocess
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_comparison_resumes_without_repeated_requests(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path, how: signal.Signals
) -> None:
    def until_the_third(request: dict[str, Any], turn: int) -> Move:
        return mend(request, turn) if turn < 2 else Hang()

    scripted.script = until_the_third
    words += ["--concurrency", "1"]
    process = subprocess.Popen(
        [str(APE), *words],
        cwd=tmp_path,
        env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    deadline = time.monotonic() + 300
    while len(scripted.requests) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it never asked for the third"
        time.sleep(0.01)
    process.send_signal(how)
    _, output = process.communicate(timeout=300)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert b"2 of 4 paragraphs are finished and saved" in output
    scripted.requests.clear()
    scripted.script = mend
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert sorted(map(translation_in, scripted.requests)) == sorted(MT[2:])
    assert results(tmp_path / "run")["systems"][1]["decisions"] == {"edited": 3, "unchanged": 1}


def test_the_command_of_the_manifest_reproduces_the_results(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*words).returncode == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["data"]["files"].keys() == {"set.jsonl", "worse.txt"}
    model = manifest["systems"][1]
    assert re.fullmatch(r"chat@[0-9a-f]{12}", model["recipe"]["prompt"])
    assert (model["recipe"]["seed"], manifest["resampling"]["seed"]) == (1, 1)
    assert manifest["metrics"]["chrf"].startswith("chrf|")
    again = [word if word != "run" else "again" for word in shlex.split(manifest["command"])[1:]]
    assert here(*again).returncode == 0
    assert len(scripted.requests) == 8
    assert results(tmp_path / "again") == results(tmp_path / "run")
    other = json.loads((tmp_path / "again" / "manifest.json").read_text(encoding="utf-8"))
    changed = {key for key in manifest if manifest[key] != other[key]}
    assert changed == {"command", "arguments"}


def test_two_runs_over_the_same_set_are_merged(here: Run, words: list[str], tmp_path: Path) -> None:
    assert here(*words).returncode == 0
    (tmp_path / "mine.txt").write_text("\n".join(BETTER) + "\n", encoding="utf-8")
    second = ["compare", "--data", "set.jsonl", "--system", "mine=@mine.txt", *QUICK]
    assert here(*second, "--system", "worse=@mine.txt", "-o", "two").returncode == 0
    done = here("compare", "run", "two", "-o", "both", "--samples", "100")
    assert done.returncode == 0, done.stderr
    found = results(tmp_path / "both")
    assert [one["name"] for one in found["systems"]] == [
        "do-nothing", "model", "worse (run)", "worse (two)", "mine",
    ]  # fmt: skip
    assert found["identical"] == [["model", "worse (two)", "mine"]]
    assert found["systems"][1]["decisions"] == {"edited": 3, "unchanged": 1}
    assert {one["metric"] for one in found["scores"]} == {"chrf"}


def test_runs_over_other_data_are_not_merged(here: Run, words: list[str], tmp_path: Path) -> None:
    assert here(*words).returncode == 0
    write_set(tmp_path, "other.jsonl", mt="The same everywhere.")
    other = ["compare", "--data", "other.jsonl", "--system", "worse=@worse.txt", *QUICK]
    assert here(*other, "-o", "two").returncode == 0
    done = here("compare", "run", "two", "-o", "both")
    assert done.returncode == 2
    assert "not over the same set: paragraph 'north:1' has another MT" in done.stderr
    assert not (tmp_path / "both").exists()


def test_without_references_the_rest_is_still_reported(here: Run, words: list[str], tmp_path: Path) -> None:
    write_set(tmp_path, references=False)
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert "chrf is not applicable" in done.stdout
    assert "edited, 1 unchanged" in done.stdout
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Not applicable: chrf." in page


def test_a_quarantined_paragraph_keeps_its_mt_and_is_retried_by_the_next_run(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    def poisoned(request: dict[str, Any], turn: int) -> Move:
        return Fail(400) if translation_in(request) == MT[1] else mend(request, turn)

    scripted.script = poisoned
    done = here(*words, "--failures", "1")
    assert done.returncode == 3, done.stderr
    assert results(tmp_path / "run")["systems"][1]["decisions"]["quarantined"] == 1
    scripted.requests.clear()
    scripted.script = mend
    assert here(*words, "--failures", "1").returncode == 0
    assert list(map(translation_in, scripted.requests)) == [MT[1]]


def test_a_folder_of_another_comparison_is_refused(here: Run, words: list[str], tmp_path: Path) -> None:
    assert here(*words).returncode == 0
    write_set(tmp_path, source="Autre chose ici.")
    done = here(*words)
    assert done.returncode == 2
    assert "run holds a comparison over another set" in done.stderr


def test_a_finished_comparison_loses_no_system_without_replace(here: Run, words: list[str], tmp_path: Path) -> None:
    assert here(*words).returncode == 0
    before = (tmp_path / "run" / "report.html").read_bytes()
    (tmp_path / "mine.txt").write_text("\n".join(BETTER) + "\n", encoding="utf-8")
    other = ["compare", "--data", "set.jsonl", "--system", "mine=@mine.txt", *QUICK, "-o", "run"]
    done = here(*other)
    assert done.returncode == 2
    assert "a finished comparison of model, worse, which would lose model, worse" in done.stderr
    assert "See --overwrite." in done.stderr
    assert (tmp_path / "run" / "report.html").read_bytes() == before
    assert here(*words, "--system", "mine=@mine.txt").returncode == 0  # adding a system drops none
    assert here(*other, "--overwrite").returncode == 0
    assert [one["name"] for one in results(tmp_path / "run")["systems"]] == ["do-nothing", "mine"]


def test_a_system_keeps_its_settings(here: Run, words: list[str], scripted: ScriptedServer) -> None:
    assert here(*words).returncode == 0
    done = here(*words, "--temperature", "0.5")
    assert done.returncode == 2
    assert "temperature was 0.0 and is 0.5" in done.stderr


def test_texts_of_one_server_are_never_attributed_to_another(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*words).returncode == 0
    before = (tmp_path / "run" / "manifest.json").read_text(encoding="utf-8")
    with scripted_server() as other:
        done = here(*(word.replace(scripted.url, other.url) for word in words))
    assert done.returncode == 2, done.stderr
    assert f"engine was 'url {scripted.url} " in done.stderr
    assert f"and is 'url {other.url} " in done.stderr
    assert (tmp_path / "run" / "manifest.json").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "bleau"], "no metric called 'bleau'"),
        (["--system", "x=:p9"], "no system 'p9'"),
        (["--system", "x=:mt"], "x=:mt is the MT of the set, which is always compared as do-nothing"),
        (["--system", "x=@short.txt"], "short.txt has 2 lines of text, and the table has 4 segments"),
        (["--system", "x=@short.jsonl"], "'x' has no text for paragraph 'north:2'"),
        (["--system", "x=@gone.txt"], "There is no file gone.txt"),
        (["--mt", "deepl"], "no system 'deepl' to use as the MT"),
        (["-o", "set.jsonl/run"], "can't be written"),
        (["-o", "full"], "full contains other files"),
        (["old"], "Earlier runs have their own set"),
        (["--system", "x=smolm2"], "smolm2"),
        (["--judge", "smolm2"], "smolm2"),
        (["--judge", "gone.gguf"], "There is no file gone.gguf"),
        (["--votes", "gone.jsonl"], "gone.jsonl can't be read"),
        (["--votes", "strangers.jsonl"], "no vote between two of these: do-nothing, model, worse"),
        (["--votes", "twice.jsonl"], "has two votes on model and worse"),
        (["--trial", "gone.json"], "gone.json"),
        (["--trial", "strangers.json"], "strangers.json is a trial of 'mt', which is not compared here"),
        (["--trial", "other.json"], "other.json showed raters another text of 'worse'"),
    ],
)
def test_bad_input_is_refused_before_any_request(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path, more: list[str], message: str
) -> None:
    (tmp_path / "short.txt").write_text("One.\nTwo.\n", encoding="utf-8")
    (tmp_path / "short.jsonl").write_text('{"id": "north:1", "text": "One."}\n', encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "diary.txt").write_text("mine", encoding="utf-8")
    write_votes(tmp_path / "strangers.jsonl", a_vote("one", "two"))
    write_votes(tmp_path / "twice.jsonl", a_vote("model", "worse"), a_vote("model", "worse"))
    write_trial(make_trial(a_corpus(), seed=1, design=TrialDesign(items=2)), tmp_path / "strangers.json")
    others = a_corpus(systems=("model", "worse"))
    write_trial(make_trial(others, seed=1, design=TrialDesign(items=2)), tmp_path / "other.json")
    done = here(*words, *more)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert scripted.requests == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["gt", "mt"])
def test_an_ambiguous_mt_is_refused_although_a_candidate_has_a_usual_name(here: Run, tmp_path: Path, name: str) -> None:
    rows = [{"source": source, "systems": {"google": mt, "deepl": mt}} for source, mt in zip(SOURCES, MT, strict=True)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "set.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "better.txt").write_text("\n".join(BETTER) + "\n", encoding="utf-8")
    words = ("compare", "--data", "set.jsonl", "--system", f"{name}=@better.txt", *QUICK, "-o", "run")
    done = here(*words)
    assert done.returncode == 2
    assert "does not say which system is the MT. Choose one of: google, deepl. See --mt." in done.stderr
    assert here(*words, "--mt", "google").returncode == 0
    assert [one["changed"] for one in results(tmp_path / "run")["systems"]] == [0, 3]


def test_text_files_side_by_side_are_a_set_too(here: Run, scripted: ScriptedServer, tmp_path: Path) -> None:
    for name, texts in (("src", SOURCES), ("mt", MT), ("ref", HUMAN), ("better", BETTER)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    files = ("--source", "src.txt", "--mt", "@mt.txt", "--reference", "ref.txt", "--system", "b=@better.txt")
    done = here("compare", *files, *QUICK, "-o", "run", "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert [one["name"] for one in output["systems"]] == ["do-nothing", "b"]
    assert output == results(tmp_path / "run")


def test_a_judge_is_asked_in_both_orders_and_its_agreement_is_reported(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    def judge(request: dict[str, Any], turn: int) -> Move:
        is_judge = "verdict" in json.dumps(request["messages"])
        return Say("<verdict>A</verdict>") if is_judge else mend(request, turn)

    scripted.script = judge
    done = here(*words, "--judge", f"{scripted.url}#scripted", "--judge-items", "2")
    assert done.returncode == 0, done.stderr
    output = results(tmp_path / "run")["judge"]
    assert output["scored"] == 0
    assert output["unscored"]["order_flip"] > 0
    assert "no human votes" in output["agreement"]["not_applicable"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "A model’s verdicts do not replace human votes" in page
    assert "The agreement of the judge with raters is unknown" in page
    # A missing verdict is not a tie; this concerns the six cells of the judge only.
    assert page.count('<span class="rest">no verdict</span>') == 6
    assert "all ties" not in page
    assert "0 ties, 2 without a verdict" in page


def test_votes_are_reported_with_the_metrics(here: Run, words: list[str], tmp_path: Path) -> None:
    rows = [
        {"item": f"i{number}", "rater": rater, "first": "model", "second": "do-nothing", "choice": choice}
        for number, choice in enumerate(("first", "first", "second", "tie"))
        for rater in ("ada", "bo")
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "votes.jsonl").write_text(text, encoding="utf-8")
    done = here(*words, "--votes", "votes.jsonl")
    assert done.returncode == 0, done.stderr
    output = results(tmp_path / "run")["votes"]
    assert (output["votes"], output["raters"]) == (8, ["ada", "bo"])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "8 votes by 2 raters on 4 items" in page
    assert "it is not known whether raters read these texts" in page
    assert "Name it with --trial." in done.stderr
    (preference,) = output["preferences"]
    low, high = preference["interval"]["low"], preference["interval"]["high"]
    assert preference["interval"]["method"] == "Wilson, on effective votes"  # two votes on each item
    assert f"{low:.0%} to {high:.0%}" in page
    assert "the 95% interval (Wilson, on effective votes)" in page
    assert "no score for both texts of any vote" in output["metrics"]["chrf"]["not_applicable"]  # without the trial
    (tmp_path / "votes.jsonl").write_text(text.replace("model", "stranger"), encoding="utf-8")
    done = here(*words, "--votes", "votes.jsonl")
    assert done.returncode == 2
    assert "no vote between two of these" in done.stderr


def test_a_book_job_is_a_set_with_its_post_edit_in_it(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    pairs = [{"source": source, "mt": mt} for source, mt in zip(SOURCES, MT, strict=True)]
    text = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    (tmp_path / "pairs.jsonl").write_text(text, encoding="utf-8")
    languages = ("--source-language", "fr", "--target-language", "en")
    edited = here("book", "edit", "pairs.jsonl", "-o", "out.jsonl", *languages, "--url", scripted.url)
    assert edited.returncode == 0, edited.stderr
    job = re.search(r"Job ([0-9a-f]{10})", edited.stderr)
    assert job
    systems = ("--system", "job=:scripted", "--system", "worse=@worse.txt")
    done = here("compare", "--job", job[1], *systems, *QUICK, "-o", "run")
    assert done.returncode == 0, done.stderr
    assert [one["changed"] for one in results(tmp_path / "run")["systems"]] == [0, 3, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: (run / "manifest.json").unlink(), "is not a comparison"),
        (lambda run: (run / "manifest.json").write_text("{}", encoding="utf-8"), "not the manifest"),
        (lambda run: _reword(run / "manifest.json", '"complete": true', '"complete": false'), "not finished"),
        (lambda run: _reword(run / "outputs.jsonl", MT[1], "Marthe sang."), "was modified after"),
    ],
)
def test_an_incomplete_run_is_not_merged(
    here: Run, words: list[str], tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    ready = ["compare", "--data", "set.jsonl", "--system", "worse=@worse.txt", *QUICK, "-o", "run"]
    assert here(*ready).returncode == 0
    change(tmp_path / "run")
    done = here("compare", "run", "run", "-o", "both")
    assert done.returncode == 2
    assert message in done.stderr


def _reword(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_judge_is_compared_with_the_votes_of_a_trial_of_the_run(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*words).returncode == 0
    pair = ("--system", "model", "--system", "do-nothing")
    made = here("ab", "make", "--data", "run/outputs.jsonl", *pair, "--number", "3", "-o", "trial.json")
    assert made.returncode == 0, made.stderr
    trial = json.loads((tmp_path / "trial.json").read_text(encoding="utf-8"))
    rows = [
        {"trial": trial["id"], "item": item["id"], "rater": "ada", "first": "model", "second": "do-nothing"}
        | {"choice": "first"}
        for item in trial["items"]
        if item["kind"] == "pair"
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "votes.jsonl").write_text(text, encoding="utf-8")

    def prefers_the_model(request: dict[str, Any], turn: int) -> Move:
        question = request["messages"][-1]["content"]
        places = [question.find(text) for text in BETTER if text not in MT and text in question]
        old = [question.find(text) for text in MT if text not in BETTER and text in question]
        return Say(f"<verdict>{'A' if places[0] < old[0] else 'B'}</verdict>")

    scripted.script = prefers_the_model
    judge = ("--judge", f"{scripted.url}#scripted", "--votes", "votes.jsonl", "--trial", "trial.json")
    done = here(*words, *judge)
    assert done.returncode == 0, done.stderr
    agreement = results(tmp_path / "run")["judge"]["agreement"]
    assert (agreement["agreed"], agreement["items"]) == (len(rows), len(rows))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"The judge agrees with raters on {len(rows)} of {len(rows)} pairs" in page
    # The texts of the model are closer to the reference, so chrF must agree with votes for it.
    agreement_of_chrf = results(tmp_path / "run")["votes"]["metrics"]["chrf"]
    assert (agreement_of_chrf["votes"], agreement_of_chrf["accuracy"]["value"]) == (len(rows), 1.0)
    assert "Agreement of metrics with votes" in page
    assert "People prefer model to do-nothing in 100.0% [" in done.stdout
    assert f"chrf agrees with people in 100.0% [100.0%, 100.0%] of {len(rows)} votes." in done.stdout


def test_votes_on_other_texts_of_that_name_are_refused(here: Run, words: list[str], tmp_path: Path) -> None:
    assert here(*words).returncode == 0
    pair = ("--system", "worse", "--system", "do-nothing")
    made = here("ab", "make", "--data", "run/outputs.jsonl", *pair, "--number", "2", "-o", "trial.json")
    assert made.returncode == 0, made.stderr
    trial = json.loads((tmp_path / "trial.json").read_text(encoding="utf-8"))
    rows = [
        {"trial": trial["id"], "item": item["id"], "rater": "ada", "first": "worse", "second": "do-nothing"}
        | {"choice": "second"}
        for item in trial["items"]
        if item["kind"] == "pair"
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "votes.jsonl").write_text(text, encoding="utf-8")
    votes = ("--votes", "votes.jsonl", "--trial", "trial.json")
    done = here(*words, *votes)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "run")["votes"]["texts_checked"]
    (tmp_path / "worse.txt").write_text("\n".join(BETTER) + "\n", encoding="utf-8")
    done = here(*words, *votes)
    assert done.returncode == 2, done.stderr
    assert f"trial.json showed raters another text of 'worse', first in item {rows[0]['item']}" in (done.stderr)


def test_votes_against_the_human_translation_are_counted(
    here: Run, words: list[str], scripted: ScriptedServer, tmp_path: Path
) -> None:
    assert here(*words).returncode == 0
    three = ("--system", "worse", "--system", "do-nothing", "--system", "reference")
    made = here("ab", "make", "--data", "run/outputs.jsonl", *three, "--all-pairs", "-o", "trial.json")
    assert made.returncode == 0, made.stderr
    trial = json.loads((tmp_path / "trial.json").read_text(encoding="utf-8"))
    votes = [
        a_vote(*item["systems"], choice="second", trial=trial["id"], item=item["id"])
        for item in trial["items"]
        if item["kind"] == "pair"
    ]
    write_votes(tmp_path / "votes.jsonl", *votes)
    given = ("--votes", "votes.jsonl", "--trial", "trial.json")
    done = here(*words, *given)
    assert done.returncode == 0, done.stderr
    assert "People prefer reference to do-nothing in 100.0% [" in done.stdout
    output = results(tmp_path / "run")["votes"]
    assert (output["votes"], output["systems"]) == (len(votes), ["do-nothing", "reference", "worse"])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    against = sum("reference" in vote.values() and "worse" in vote.values() for vote in votes)
    assert f'title="reference over worse: {against} better, 0 worse, 0 ties"' in page
    _reword(tmp_path / "set.jsonl", HUMAN[0], "The lamp of the tower died.")
    done = here(*words[:-1], "other", *given)
    assert done.returncode == 2
    assert "trial.json showed raters another text of 'reference'" in done.stderr
    write_set(tmp_path, references=False)
    done = here(*words[:-1], "other", *given)
    assert done.returncode == 2
    assert "trial.json is a trial of 'reference', which is not compared here" in done.stderr
