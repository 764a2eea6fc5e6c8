"""`ape serve --engine vllm` and `ape models card`: bad input is one sentence and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prompts import SEP
from tests.ape.adapters.making import lora, make_adapter, make_base
from tests.ape.cli.conftest import Run
from tests.serve.fake_vllm import Fake

pytestmark = pytest.mark.subprocess

APE = Path(sys.executable).parent / "ape"
PASSAGE = {"source": "Claire posa son sac.", "mt": "Claire put down her bag."}


def run(*words: object, folder: Path, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    return subprocess.run(
        [str(word) for word in (APE, *words)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=inherited | home | environment,
        input=given,
        timeout=300,
        check=False,
    )


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_base(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--engine", "vllm"], "needs a model: set `model` to a directory or hub id. See --model."),
        (["--engine", "vllm", "--model", "tiny", "--adapter", "x"], "adapters must be NAME=VALUE pairs"),
        (["--engine", "vllm", "--model", "tiny", "--adapter", "a=b", "--adapter", "a=c"], "must not repeat a name"),
        (["--url", "http://127.0.0.1:9/v1", "--adapter", "a=b"], "--adapter is for the embedded engine"),
        (["--adapter", "a=b"], "The adapter a (b) can't be served. There is no directory b."),
        (["--", "--dtype", "float32"], "'--dtype' is not a known flag"),
        (["--engine", "vllm", "--url", "http://127.0.0.1:9/v1", "--", "--dtype"], "not a known flag"),
        (["--engine", "vllm", "--model", "tiny", "--port", "0", "--adapter", "a=none"], "no directory none"),
        (["--engine", "vllm", "--model", "tiny", "--port", "0", "--", "--api-key", "x"], "--api-key"),
    ],
)
def test_bad_input_is_one_sentence(here: Run, words: list[str], sentence: str, base: Path, tmp_path: Path) -> None:
    done = here("serve", *words, APE_VLLM_PYTHON=str(Fake(tmp_path).python))
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("ape: ")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_an_environment_without_vllm_is_reported_with_the_remedy(base: Path, tmp_path: Path) -> None:
    done = run("serve", "--engine", "vllm", "--model", base, "--port", "0", folder=tmp_path)
    assert done.returncode in (1, 2)
    assert "APE_VLLM_PYTHON" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_vllm_that_dies_at_start_is_reported_with_its_last_lines(base: Path, tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.set(die_after_start=True)
    done = run(
        "serve", "--engine", "vllm", "--model", base, "--port", "0",
        folder=tmp_path, APE_VLLM_PYTHON=str(fake.python),
    )  # fmt: skip
    assert done.returncode == 1
    assert "there is no model in there" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_passage_is_edited_on_a_vllm_that_is_started_for_it(base: Path, tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    done = run(
        "edit", "--engine", "vllm", "--model", base, "--json",
        folder=tmp_path, given=json.dumps(PASSAGE), APE_VLLM_PYTHON=str(fake.python),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["model"], json.loads(done.stdout)["decision"]) == ("tiny", "unchanged")
    assert not Path(f"/proc/{fake.life.api}").exists()


def test_a_card_is_written_for_an_adapter_from_elsewhere(here: Run, base: Path, tmp_path: Path) -> None:
    place = make_adapter(tmp_path / "a", base)
    (place / "ape.json").unlink()
    words = ["models", "card", place, "--base", base, "--prompt-format", "sep", "--languages", "fr-en"]
    done = here(*words)
    assert (done.returncode, done.stdout.strip()) == (0, str(place / "ape.json"))
    card = json.loads((place / "ape.json").read_text())
    assert (card["prompt"], card["languages"]) == (SEP.fingerprint, ["fr-en"])
    again = here(*words)
    assert (again.returncode, "--overwrite" in again.stderr) == (2, True)
    assert here(*words, "--overwrite").returncode == 0


@pytest.mark.parametrize(
    ("form", "layer", "sentence"),
    [("xml", 0, "one of chat, examples, sep"), ("sep", 7, "layers.7.self_attn.q_proj, which")],
)
def test_a_card_is_not_written_for_an_unservable_adapter(
    here: Run, form: str, layer: int, sentence: str, base: Path, tmp_path: Path
) -> None:
    tensors = {name.replace("layers.0", f"layers.{layer}"): value for name, value in lora().items()}
    place = make_adapter(tmp_path / "a", base, tensors=tensors)
    (place / "ape.json").unlink()
    done = here("models", "card", place, "--base", base, "--prompt-format", form)
    assert (done.returncode, sentence in done.stderr) == (2, True)
    assert not (place / "ape.json").exists()
