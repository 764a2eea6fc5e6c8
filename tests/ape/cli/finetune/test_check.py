"""`ape finetune check`: marked tokens and refusals before training, parity of engines after."""

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
from finetune.checks import parity
from finetune.data.dataset import write_dataset
from finetune.export.gguf_lora import write_gguf_lora
from tests.ape.cli.conftest import Run
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny
from tests.finetune.toy_model import EXAMPLES, write_base

pytestmark = [pytest.mark.torch, pytest.mark.subprocess]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and two training sets, of which one has a blank text."""
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
    """Run `ape finetune check` in that folder."""
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
    assert [line.split()[:2] for line in rest if line.startswith(("train", "dev"))] == [["train", "6"], ["dev", "2"]]


def test_unfit_examples_are_refused_by_id(check: Run) -> None:
    done = check("--data", "blank", "--base", "base", "--json")
    assert done.returncode == 2
    assert "ape: 1 of 3 examples can't be trained on.\n- 'chat': source, MT or human text is blank." in done.stderr
    assert "Traceback" not in done.stderr
    output = json.loads(done.stdout)
    assert not output["sound"]
    assert output["faults"] == [{"kind": "empty", "example": "chat", "detail": ""}]


def test_a_base_without_an_end_token_is_refused(check: Run, folder: Path, tmp_path: Path) -> None:
    base = shutil.copytree(folder / "base", tmp_path / "endless")
    output = json.loads((base / "tokenizer_config.json").read_bytes())
    (base / "tokenizer_config.json").write_text(json.dumps(output | {"eos_token": None}))
    done = check("--data", "data", "--base", base)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no end token" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [([], "--base NAME"), (["adapter", "--config", "train.toml"], "--config is for the check before training")],
)
def test_conflicting_flags_are_one_sentence(words: list[str], sentence: str, check: Run) -> None:
    done = check(*words, "--data", "data")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def adapter(folder: Path) -> Path:
    """A random adapter on a random base, both in float32; its answers never stop."""
    make_gguf(make_tiny(folder / "tiny"), folder / "tiny.gguf")
    return make_adapter(folder / "adapter", folder / "tiny")


def test_a_different_tokenization_of_the_engine_is_refused_with_the_first_difference(
    check: Run, folder: Path, adapter: Path, tmp_path: Path
) -> None:
    """The base loses the rule that each digit is a token; the GGUF file keeps it."""
    base = shutil.copytree(folder / "tiny", tmp_path / "lost")
    output = json.loads((base / "tokenizer.json").read_bytes())
    output["pre_tokenizer"] = output["pre_tokenizer"]["pretokenizers"][1]
    (base / "tokenizer.json").write_text(json.dumps(output))
    year = replace(EXAMPLES[0], id="year", mt="The cat sleep in 1812.")
    write_dataset(tmp_path / "years", {"train": [EXAMPLES[1], year]}, {"made": "here"})
    words = ("--data", tmp_path / "years", "--gguf", "tiny.gguf", "--show", 0)
    alike = check("--base", "tiny", *words)
    assert alike.returncode == 0, alike.stderr
    assert "llama.cpp, on tiny.gguf, tokenizes every example in the same way." in alike.stdout
    done = check("--base", base, *words)
    assert done.returncode == 2
    assert "tokenizes 1 example differently." in done.stdout
    assert "1 of 2 examples can't be trained on.\n- 'year' (at token " in done.stderr
    assert "in its prompt: '12' (" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_gguf_file_the_engine_is_not_checked(check: Run) -> None:
    done = check("--data", "data", "--base", "base", "--show", 0)
    assert "The tokens of the embedded engine were not checked" in done.stdout


def test_after_training_the_engines_are_compared_and_the_card_has_the_result(check: Run, adapter: Path) -> None:
    before = json.loads((adapter / "ape.json").read_bytes())
    words = ("--base", "tiny", "--gguf", "tiny.gguf", "--prompts", 2, "--json")
    done = check(adapter, "--data", "data", *words)
    assert done.returncode == 3, done.stderr  # it was not trained to stop
    assert "0.0% of the answers stop by themselves" in done.stderr
    output = json.loads(done.stdout)
    assert output["prompts"] == 2
    assert len(output["runaways"]) == 2
    assert output["embedded"]["engine"].endswith("tiny.gguf, weights in F32")
    # In float32 the engines differ at most by near-ties.
    assert output["embedded"]["other_differences"] == 0, output["differences"]
    after = json.loads((adapter / "ape.json").read_bytes())
    assert after == before | {"parity": after["parity"]}
    assert after["parity"]["embedded"] == output["embedded"]
    assert not (adapter / "adapter.gguf").exists()


def test_an_engine_with_other_weights_fails_the_check(
    check: Run, folder: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The served file is the export of another adapter; the stop rate is ignored here."""
    monkeypatch.setattr(parity, "MIN_STOP_RATE", 0.0)
    words = ("--data", "data", "--base", "tiny", "--gguf", "tiny.gguf", "--prompts", 2)
    sound = check(adapter, *words)
    assert (sound.returncode, sound.stderr) == (0, "")
    doctored = shutil.copytree(adapter, tmp_path / "doctored")
    other = make_adapter(tmp_path / "other", folder / "tiny", seed=9)
    write_gguf_lora(other, find_base(str(folder / "tiny")), doctored / "adapter.gguf")
    done = check(doctored, *words)
    assert done.returncode == 3
    output = "ape: embedded answers 2 of 2 prompts differently from transformers, by more than a near-tie: "
    assert output in done.stderr
    assert read_card(doctored).parity["embedded"]["other_differences"] == 2  # type: ignore[index,call-overload]


@pytest.fixture
def no_vllm(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter without vLLM; set after `here`, which clears the environment."""
    monkeypatch.setenv("APE_VLLM_PYTHON", str(shutil.which("false")))


@pytest.mark.usefixtures("no_vllm")
def test_missing_engines_are_skipped_with_the_reason(check: Run, adapter: Path) -> None:
    words = (adapter, "--data", "data", "--base", "tiny", "--prompts", 1)
    printed = check(*words)
    assert "vllm was not compared: " in printed.stdout
    assert "false has no vllm. Set vllm_python (APE_VLLM_PYTHON)" in printed.stdout
    assert "embedded was not compared: the base is not a GGUF file. Give one with --gguf FILE." in printed.stdout
    output = json.loads(check(*words, "--json").stdout)
    assert "has no vllm" in output["left_out"]["vllm"]
    assert set(output["left_out"]) == {"embedded", "vllm"}


@pytest.mark.usefixtures("no_vllm")
def test_a_required_but_missing_vllm_is_refused_before_any_work(check: Run, adapter: Path) -> None:
    done = check(adapter, "--data", "data", "--base", "tiny", "--vllm")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no vllm" in done.stderr


def test_a_vllm_that_fails_to_start_does_not_lose_the_other_results(
    check: Run, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} -c pass\necho no memory >&2\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("APE_VLLM_PYTHON", str(broken))
    monkeypatch.setattr(parity, "MIN_STOP_RATE", 0.0)
    done = check(adapter, "--data", "data", "--base", "tiny", "--prompts", 1, "--vllm")
    assert done.returncode == 1
    assert "vllm was not compared: it failed. " in done.stdout
    assert read_card(adapter).parity["prompts"] == 1  # type: ignore[index]
