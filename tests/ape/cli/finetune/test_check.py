"""`ape finetune check` as typed: marked tokens before training, a refusal of what can't be, parity after."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ape.adapters import read_card
from finetune.base_model import find_base
from finetune.checks import stop_rate
from finetune.data.dataset import write_dataset
from finetune.export.gguf_lora import write_gguf_lora
from tests.ape.cli.conftest import Run
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny
from tests.finetune.toy_model import EXAMPLES, write_base

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and two sets of examples, of which one has a text that is blank."""
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    place = tmp_path_factory.mktemp("check")
    write_base(place / "base")
    write_dataset(place / "data", {"train": EXAMPLES[:6], "dev": EXAMPLES[6:8]}, {"made": "here"})
    blank = [replace(EXAMPLES[0], human=" "), *EXAMPLES[1:3]]
    write_dataset(place / "blank", {"train": blank}, {"made": "here"})
    return place


@pytest.fixture
def check(here: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Type `ape finetune check …` in that folder."""
    monkeypatch.chdir(folder)
    return partial(here, "finetune", "check")


def test_before_training_the_tokens_are_printed_with_their_marks(check: Run) -> None:
    done = check("--data", "data", "--base", "base", "--show", 1)
    assert done.returncode == 0, done.stderr
    heading, first, less, whole, *rest = done.stdout.splitlines()
    assert heading.startswith("chat (fr-en, edit), ")
    assert first.split(maxsplit=2)[:2] == ["-", "read"]
    assert less.startswith("  ~ learned 0.1")
    assert whole.startswith("  + learned 1")
    assert less.replace("│", "").endswith("The cat sleep.⏎⏎###⏎⏎")
    assert whole.replace("│", "").endswith("The cat sleeps.</s>")
    assert [line.split()[:2] for line in rest if line.startswith(("train", "dev"))] == [
        ["train", "6"],
        ["dev", "2"],
    ]


def test_what_can_not_be_trained_on_is_refused_with_the_example(check: Run) -> None:
    done = check("--data", "blank", "--base", "base", "--json")
    assert done.returncode == 2
    assert (
        "ape: 1 of 3 examples can't be trained on.\n- 'chat': source, MT or human text is blank."
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert not told["sound"]
    assert told["faults"] == [{"kind": "empty", "example": "chat", "detail": ""}]


def test_a_base_without_an_end_token_is_refused(check: Run, folder: Path, tmp_path: Path) -> None:
    base = shutil.copytree(folder / "base", tmp_path / "endless")
    told = json.loads((base / "tokenizer_config.json").read_bytes())
    (base / "tokenizer_config.json").write_text(json.dumps(told | {"eos_token": None}))
    done = check("--data", "data", "--base", base)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no end token" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "--base NAME"),
        (["adapter", "--config", "train.toml"], "--config is for the check before training"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(words: list[str], sentence: str, check: Run) -> None:
    done = check(*words, "--data", "data")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def adapter(folder: Path) -> Path:
    """Random weights on random weights, in float32 on both sides; it does not know how to stop."""
    make_gguf(make_tiny(folder / "tiny"), folder / "tiny.gguf")
    return make_adapter(folder / "adapter", folder / "tiny")


def test_tokens_that_the_engine_would_read_otherwise_are_refused_with_the_first_of_them(
    check: Run, folder: Path, adapter: Path, tmp_path: Path
) -> None:
    """The rule that each digit is a token is taken from the base, and stays in the GGUF file."""
    base = shutil.copytree(folder / "tiny", tmp_path / "lost")
    told = json.loads((base / "tokenizer.json").read_bytes())
    told["pre_tokenizer"] = told["pre_tokenizer"]["pretokenizers"][1]
    (base / "tokenizer.json").write_text(json.dumps(told))
    year = replace(EXAMPLES[0], id="year", mt="The cat sleep in 1812.")
    write_dataset(tmp_path / "years", {"train": [EXAMPLES[1], year]}, {"made": "here"})
    words = ("--data", tmp_path / "years", "--gguf", "tiny.gguf", "--show", 0)
    alike = check("--base", "tiny", *words)
    assert alike.returncode == 0, alike.stderr
    assert "llama.cpp, on tiny.gguf, reads the same tokens of every example." in alike.stdout
    done = check("--base", base, *words)
    assert done.returncode == 2
    assert "reads other tokens of an example." in done.stdout
    assert "1 of 2 examples can't be trained on.\n- 'year' (at token " in done.stderr
    assert "in its prompt: '12' (" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_gguf_file_it_says_that_the_engine_was_not_asked(check: Run) -> None:
    done = check("--data", "data", "--base", "base", "--show", 0)
    assert "The tokens of the embedded engine were not checked" in done.stdout


def test_after_training_the_engines_are_compared_and_the_card_has_it(check: Run, adapter: Path) -> None:
    before = json.loads((adapter / "ape.json").read_bytes())
    words = ("--base", "tiny", "--gguf", "tiny.gguf", "--prompts", 2, "--json")
    done = check(adapter, "--data", "data", *words)
    assert done.returncode == 3, done.stderr  # nobody taught it to stop
    assert "0.0% of the answers stop by themselves" in done.stderr
    told = json.loads(done.stdout)
    assert told["prompts"] == 2
    assert len(told["runaways"]) == 2
    assert told["embedded"]["engine"].endswith("tiny.gguf, weights in F32")
    # In float32 on both sides they part at near-ties alone, if at all.
    assert told["embedded"]["other_differences"] == 0, told["differences"]
    after = json.loads((adapter / "ape.json").read_bytes())
    assert after == before | {"parity": after["parity"]}
    assert after["parity"]["embedded"] == told["embedded"]
    assert not (adapter / "adapter.gguf").exists()


def test_an_engine_that_serves_something_else_is_told_and_fails_the_check(
    check: Run, folder: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that is served is the export of another training; whether it stops is no matter here."""
    monkeypatch.setattr(stop_rate, "MIN_STOP_RATE", 0.0)
    words = ("--data", "data", "--base", "tiny", "--gguf", "tiny.gguf", "--prompts", 2)
    sound = check(adapter, *words)
    assert (sound.returncode, sound.stderr) == (0, "")
    doctored = shutil.copytree(adapter, tmp_path / "doctored")
    other = make_adapter(tmp_path / "other", folder / "tiny", seed=9)
    write_gguf_lora(other, find_base(str(folder / "tiny")), doctored / "adapter.gguf")
    done = check(doctored, *words)
    assert done.returncode == 3
    told = "ape: embedded answers 2 of 2 prompts differently from transformers, by more than a near-tie: "
    assert told in done.stderr
    assert read_card(doctored).parity["embedded"]["other_differences"] == 2  # type: ignore[index,call-overload]


@pytest.fixture
def no_vllm(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that has none, whatever this one has; after `here`, which forgets what was set."""
    monkeypatch.setenv("APE_VLLM_PYTHON", str(shutil.which("false")))


@pytest.mark.usefixtures("no_vllm")
def test_engines_that_are_not_there_are_left_out_and_it_says_why(check: Run, adapter: Path) -> None:
    words = (adapter, "--data", "data", "--base", "tiny", "--prompts", 1)
    shown = check(*words)
    assert "vllm is left out: " in shown.stdout
    assert "false has no vllm. Set vllm_python (APE_VLLM_PYTHON)" in shown.stdout
    assert "embedded is left out: the base is no GGUF file. Give one with --gguf FILE." in shown.stdout
    told = json.loads(check(*words, "--json").stdout)
    assert "has no vllm" in told["left_out"]["vllm"]
    assert set(told["left_out"]) == {"embedded", "vllm"}


@pytest.mark.usefixtures("no_vllm")
def test_vllm_that_is_wanted_and_not_there_is_refused_before_any_work(check: Run, adapter: Path) -> None:
    done = check(adapter, "--data", "data", "--base", "tiny", "--vllm")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no vllm" in done.stderr


def test_vllm_that_can_not_be_started_costs_nothing_of_what_the_others_said(
    check: Run, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} -c pass\necho no memory >&2\nexit 1\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("APE_VLLM_PYTHON", str(broken))
    monkeypatch.setattr(stop_rate, "MIN_STOP_RATE", 0.0)
    done = check(adapter, "--data", "data", "--base", "tiny", "--prompts", 1, "--vllm")
    assert done.returncode == 1
    assert "vllm is left out: it failed. " in done.stdout
    assert read_card(adapter).parity["prompts"] == 1  # type: ignore[index]
