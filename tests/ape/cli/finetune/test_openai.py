"""`ape finetune openai` against a provider on loopback."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from ape.cli.finetune.hosted_progress import job_progress
from ape.cli.main import main
from finetune.data.dataset import read_dataset, write_dataset
from finetune.hosted.job import HostedJobEvent
from tests.ape.cli.conftest import APE
from tests.finetune.hosted.sample_text import examples
from tests.finetune.hosted.server import KEY, RESULTS, Cut, Fail, Hosting, Stage, hosting, said

FOREVER = (Stage("running", (said("Fine-tuning job started"),)),)


class Done(NamedTuple):
    code: int
    out: str
    err: str


Type = Callable[..., Done]


@pytest.fixture
def provider() -> Iterator[Hosting]:
    with hosting() as server:
        yield server


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training set as `ape finetune build` writes it."""
    directory = tmp_path_factory.mktemp("examples")
    splits = {"train": examples(12), "dev": examples(3, book="spring", first=20)}
    write_dataset(directory, splits, {"seed": 1})
    return directory


@pytest.fixture
def ape(provider: Hosting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run `ape finetune openai` with the API key and the URL of the provider."""
    for name in [name for name in os.environ if name.startswith(("APE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("APE_ENGINE_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)

    def run_openai(*words: str) -> Done:
        typed = ["ape", "finetune", "openai", "--url", provider.url, "--every", "0.01", *words]
        monkeypatch.setattr(sys, "argv", typed)
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        assert KEY not in output.out + output.err
        return Done(int(str(caught.value.code or 0)), output.out, output.err)

    return run_openai


@pytest.fixture
def order(data: Path) -> tuple[str, ...]:
    return ("--data", str(data), "--output", "out", "--base", "tiny", "--price", "2", "--yes")


def test_from_examples_to_a_model_and_how_to_use_it(
    ape: Type, order: tuple[str, ...], provider: Hosting, data: Path, tmp_path: Path
) -> None:
    done = ape(*order, "--epochs", "3", "--suffix", "novel")
    assert done.code == 0
    assert done.out == f"ape edit --engine url --url {provider.url} --model ft:tiny:ours:ape:1\n"
    assert "12 examples, 0 left out" in done.err
    assert "tiny, 3 epochs: " in done.err
    assert "at $2.00 a million (given)" in done.err
    assert "Step 3/3: training loss=1.00" in done.err
    card = json.loads((tmp_path / "out" / "card.json").read_bytes())
    assert card["data"] == read_dataset(data).manifest_hash
    assert card["prompt"].startswith("chat@")
    assert card["languages"] == ["fr-en"]
    assert (tmp_path / "out" / "results-1.csv").read_bytes() == RESULTS
    made = provider.jobs["ftjob-1"]
    assert provider.files[made["training_file"]] == (tmp_path / "out" / "train.jsonl").read_bytes()
    assert provider.files[made["validation_file"]].count(b"\n") == 3
    saved = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [path for path in saved if KEY.encode() in path.read_bytes()]


def test_the_same_command_again_costs_nothing(ape: Type, order: tuple[str, ...], provider: Hosting) -> None:
    first = ape(*order)
    provider.calls.clear()
    again = ape(*order, "--json")
    assert json.loads(again.out)["model"] == "ft:tiny:ours:ape:1"
    assert first.code == again.code == 0
    assert "no new job is started" in again.err
    assert not {"upload", "create"} & set(provider.calls)
    other = ape(*order, "--seed", "5")
    assert (other.code, other.out) == (2, "")
    assert "has the job ftjob-1 (succeeded), which was started with other seed" in other.err
    provider.looks.clear()
    assert ape(*order, "--seed", "5", "--again").code == 0
    assert (list(provider.jobs), provider.calls.count("upload")) == (["ftjob-1", "ftjob-2"], 0)


def test_a_dry_run_writes_and_checks_and_sends_nothing(
    ape: Type, data: Path, provider: Hosting, tmp_path: Path
) -> None:
    done = ape("--data", str(data), "--output", "out", "--base", "tiny", "--dry-run")
    assert (done.code, done.out) == (0, "out/train.jsonl\nout/dev.jsonl\n")
    assert "The price of a million tokens is not known. Set the price with --price." in done.err
    assert provider.calls == []
    assert len((tmp_path / "out" / "train.jsonl").read_bytes().splitlines()) == 12


def test_nothing_is_spent_without_confirmation(ape: Type, data: Path, provider: Hosting) -> None:
    done = ape("--data", str(data), "--output", "out", "--base", "tiny")
    assert (done.code, done.out) == (2, "")
    assert "use --yes" in done.err
    assert provider.calls == []


def test_a_failing_upload_is_retried_and_reported(ape: Type, order: tuple[str, ...], provider: Hosting) -> None:
    provider.faults["upload"] = [Fail(503, "come back later")]
    done = ape(*order)
    assert done.code == 0
    assert "503: come back later). Trying again" in done.err


def test_a_failed_job_is_a_sentence_and_exit_code_one(ape: Type, order: tuple[str, ...], provider: Hosting) -> None:
    error = {"code": "invalid_training_file", "message": "Line 3 has no answer.", "param": "training_file"}
    provider.plan = (Stage("validating_files"), Stage("failed", (), (("error", error),)))
    done = ape(*order)
    assert (done.code, done.out) == (1, "")
    assert "ape: Job ftjob-1 failed (training_file): Line 3 has no answer." in done.err


def test_a_wrong_key_is_a_sentence(ape: Type, order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APE_ENGINE_KEY", "sk-wrong-99")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)  # the key of OpenAI is never sent to another host
    done = ape(*order)
    assert (done.code, done.out) == (1, "")
    assert "rejected the key (401: Incorrect API key provided: ********.)" in done.err
    assert "sk-wrong-99" not in done.err


def test_an_interrupted_follow_prints_how_to_resume(
    ape: Type, provider: Hosting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APE_RETRY_ATTEMPTS", "1")
    provider.faults["job"] = [Cut()]
    done = ape("--follow", "ftjob-1")
    assert done.code == 1
    assert f"  ape finetune openai --follow ftjob-1 --url {provider.url}\n" in done.err
    assert f"  ape finetune openai --cancel ftjob-1 --url {provider.url}\n" in done.err


def test_a_job_is_followed_from_anywhere_and_cancelled(
    ape: Type, order: tuple[str, ...], provider: Hosting, tmp_path: Path
) -> None:
    provider.faults["job"] = [Fail(400, "not now")]
    assert ape(*order).code == 1
    done = ape("--follow", "ftjob-1", "--output", "elsewhere", "--json")
    card = json.loads(done.out)
    assert card == json.loads((tmp_path / "elsewhere" / "card.json").read_bytes())
    assert card["prompt"].startswith("chat@")
    assert ape("--cancel", "ftjob-1").err == "Job ftjob-1 is cancelled.\n"
    assert ape("--cancel", "ftjob-9").code == 1


def test_the_model_is_kept_when_results_cant_be_downloaded(
    ape: Type, order: tuple[str, ...], provider: Hosting
) -> None:
    provider.faults["content"] = [Fail(404)]
    done = ape(*order)
    assert (done.code, done.out[:8]) == (0, "ape edit")
    assert "The training results can't be downloaded" in done.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "--data is missing"),
        (("--data", "none"), "--output is missing"),
        (("--data", "none", "--output", "out"), "--base is missing"),
        (("--data", "none", "--output", "out", "--base", "tiny"), "none holds no examples"),
        (("--data", "none", "--output", "out", "--base", "b", "--suffix", "x" * 65), "--suffix has 65"),
        (("--follow", "ftjob-9"), "knows no job ftjob-9"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(ape: Type, words: tuple[str, ...], sentence: str) -> None:
    done = ape(*words)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "not true within 110 s"
        time.sleep(0.02)


@pytest.mark.subprocess
def test_killed_and_run_again_it_follows_the_same_job(
    ape: Type, order: tuple[str, ...], provider: Hosting, tmp_path: Path
) -> None:
    provider.plan = FOREVER
    words = [str(APE), "finetune", "openai", "--url", provider.url, "--every", "0.05", *order]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            _until(lambda: provider.calls.count("list_events") > 1)
        finally:
            child.kill()
    provider.plan = (*FOREVER, Stage("succeeded", (), (("fine_tuned_model", "ft:tiny"),)))
    done = ape(*order)
    assert (done.code, list(provider.jobs)) == (0, ["ftjob-1"])
    assert provider.calls.count("create") == 1


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Type lines at a pseudo-terminal."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "w") as keyboard, os.fdopen(theirs) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)

        def type_line(line: str) -> None:
            keyboard.write(line)
            keyboard.flush()

        yield type_line


def test_the_cost_is_confirmed_at_a_terminal(
    ape: Type, order: tuple[str, ...], provider: Hosting, at_a_terminal: Callable[[str], None]
) -> None:
    at_a_terminal("n\n")
    refused = ape(*order[:-1])
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.endswith("Send the files to 127.0.0.1 and start the job? [y/N] Nothing was sent.\n")
    assert provider.calls == []
    at_a_terminal("y\n")
    assert ape(*order[:-1]).code == 0


def test_ctrl_c_leaves_the_job_running_and_says_how_to_follow_it(
    ape: Type, order: tuple[str, ...], provider: Hosting
) -> None:
    provider.plan = FOREVER

    def interrupt() -> None:
        _until(lambda: provider.calls.count("list_events") > 1)
        os.kill(os.getpid(), signal.SIGINT)

    hand = threading.Thread(target=interrupt)
    hand.start()
    done = ape(*order)
    hand.join()
    assert (done.code, done.out) == (130, "")
    assert "Job ftjob-1 still runs" in done.err
    assert f"--follow ftjob-1 --url {provider.url} --output out" in done.err
    assert "cancel" not in provider.calls


def test_a_thousand_steps_are_ten_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with job_progress(Console(file=io.StringIO()), "ftjob-1") as watch:
        watch(HostedJobEvent("", "running"))
        watch(HostedJobEvent("", "running"))
        for number in range(1000):
            watch(HostedJobEvent(f"Step {number}", "running", step=number, steps=1000, loss=1.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["The job is running.", *(f"Step {number}" for number in range(0, 1000, 100))]


def test_a_terminal_has_a_bar_with_the_loss_and_messages_above_it() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=120, highlight=False)
    with job_progress(screen, "ftjob-1") as watch:
        watch(HostedJobEvent("Fine-tuning job [started]", "running"))
        watch(HostedJobEvent("Step 7/9", "running", step=7, steps=9, loss=0.5))
    printed = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "Fine-tuning job [started]" in printed
    assert "7/9" in printed
    assert "loss 0.500" in printed
