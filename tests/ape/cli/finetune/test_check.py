"""`ape finetune check` as typed: marked tokens before training, a refusal of what can't be, parity after."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from finetune.data.dataset import write_examples
from tests.ape.cli.conftest import Run
from tests.finetune.export.making import make_adapter, make_gguf, make_tiny
from tests.finetune.tiny import EXAMPLES, write_base


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and two sets of examples, of which one has a text that is blank."""
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    place = tmp_path_factory.mktemp("check")
    write_base(place / "base")
    write_examples(place / "data", {"train": EXAMPLES[:6], "dev": EXAMPLES[6:8]}, {"made": "here"})
    blank = [replace(EXAMPLES[0], human=" "), *EXAMPLES[1:3]]
    write_examples(place / "blank", {"train": blank}, {"made": "here"})
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


def test_after_training_the_engines_are_compared_and_the_card_has_it(check: Run, adapter: Path) -> None:
    before = json.loads((adapter / "ape.json").read_bytes())
    words = ("--base", "tiny", "--gguf", "tiny.gguf", "--prompts", 2, "--json")
    done = check(adapter, "--data", "data", *words)
    assert done.returncode == 3, done.stderr  # nobody taught it to stop
    assert "stops by itself on 0.0% of the prompts" in done.stderr
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
