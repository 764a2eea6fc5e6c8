"""`ape edit` and `ape models` with adapters on the embedded engine, and with the shipped tuned model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ape
from ape.cli.errors import PACKAGES
from ape.edits.filter import EditFilter
from ape.engines.model_selection import ModelSelection
from ape.jobs.run import describe_engine
from ape.settings import Settings
from prompts import CHAT, SEP
from tests.ape.adapters.making import make_gguf_adapter
from tests.ape.cli.conftest import Run

pytestmark = pytest.mark.subprocess

ROOT = Path(ape.__file__).parent.parent
GATE = EditFilter(features={"lead": (-1.0, 1.0, 2.0)}, bias=0.0, threshold=0.5)
PASSAGE = ("--source", "src.txt", "--mt", "mt.txt", "--max-attempts", "1", "--json")
LANGUAGES = ("--source-language", "fr", "--target-language", "en")


@pytest.fixture
def cached(tmp_path: Path, smollm2: Path) -> str:
    """A model cache that holds the small model alone: the large one, where it is cached, would be the default."""
    folder = tmp_path / "models"
    shutil.copytree(smollm2.parent, folder / smollm2.parent.name, copy_function=os.symlink)
    return str(folder)


@pytest.fixture
def shipped(tmp_path: Path, smollm2: Path, cached: str) -> Run:
    """Run `ape` from an installation that ships a tuned adapter."""
    site = tmp_path / "site"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__", "tuned"))
    make_gguf_adapter(site / "ape" / "models" / "tuned", smollm2)
    (tmp_path / "src.txt").write_text("Anna vint.\n")
    (tmp_path / "mt.txt").write_text("Anna come.\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("APE_")}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(site), "APE_CACHE": cached}

    def run_ape(*words: str) -> subprocess.CompletedProcess[str]:
        program = "from ape.cli.main import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=300,
            check=False,
        )

    return run_ape


def test_the_tuned_model_is_the_default_and_the_untuned_model_has_a_name(shipped: Run) -> None:
    done = shipped("edit", *PASSAGE, *LANGUAGES)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["model"], result["prompt"]) == ("smollm2-135m-ape", SEP.fingerprint)
    (warned,) = (finding for finding in result["findings"] if finding["guard"] == "languages")
    assert warned["severity"] == "warn"
    assert warned["message"].startswith("smollm2-135m-ape was tuned for et-en, ro-en, not for French to English")
    untuned = json.loads(shipped("edit", *PASSAGE, *LANGUAGES, "--model", "smollm2-135m").stdout)
    assert (untuned["model"], untuned["prompt"]) == ("smollm2-135m", CHAT.fingerprint)
    assert "languages" not in [finding["guard"] for finding in untuned["findings"]]
    listed = {row["name"]: row for row in json.loads(shipped("models", "list", "--json").stdout)}
    assert listed["smollm2-135m-ape"]["path"] == listed["smollm2-135m"]["path"]
    assert listed["smollm2-135m-ape"]["good_for"].startswith("The default")


@pytest.fixture
def book(tmp_path: Path, here: Run) -> tuple[str, ...]:
    (tmp_path / "livre.txt").write_text("Anna vint.\n\nElle partit.\n")
    (tmp_path / "book.txt").write_text("Anna come.\n\nShe go.\n")
    return ("livre.txt", "book.txt", *LANGUAGES, "--context", "0", "--max-attempts", "1")


def test_a_job_keeps_its_adapter(here: Run, book: tuple[str, ...], tmp_path: Path, smollm2: Path, cached: str) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        make_gguf_adapter(tmp_path / name, smollm2, seed=seed)
    words = ("book", "edit", *book, "-o", "out.txt", "--json")

    def edit(*flags: str) -> subprocess.CompletedProcess[str]:
        return here(*words, *flags, APE_CACHE=cached, APE_WINDOW="1024")

    mine = ("--adapter", "mine=a", "--model", "mine")
    done = edit(*mine)
    assert done.returncode == 0, done.stderr
    again = edit(*mine)
    assert "nothing to do" in again.stderr
    for flags, message in (
        (("--adapter", "mine=b", "--model", "mine"), "revision was"),
        (("--adapter", "mine=a", "--model", "smollm2-135m"), "model was 'mine' and is 'smollm2-135m'"),
    ):
        refused = edit(*flags)
        assert refused.returncode != 0
        assert message in refused.stderr


def test_a_plan_is_for_the_chosen_model(here: Run, book: tuple[str, ...], tmp_path: Path, smollm2: Path) -> None:
    make_gguf_adapter(tmp_path / "a", smollm2)
    words = ("book", "plan", *book, "--json", "--model", "smollm2-135m")
    done = here(*words)
    plain = json.loads(done.stdout)
    assert "smollm2-135m is tiny" in done.stderr
    tuned = json.loads(here(*words, "--adapter", "mine=a", "--use", "mine").stdout)
    # The prompt of the tuned model lacks the instructions of the chat format.
    assert tuned["tokens_in"]["high"] < plain["tokens_in"]["high"] / 3


@pytest.mark.parametrize("command", [("demo",), ("edit",), ("book", "plan", "livre.txt", "book.txt")])
def test_adapters_are_refused_for_a_server_by_url(command: tuple[str, ...], here: Run, book: tuple[str, ...]) -> None:
    done = here(
        *command, "--url", "http://127.0.0.1:9/v1", "--adapter", "a=b", stdin='{"source": "Oui.", "mt": "Yes."}'
    )
    assert done.returncode == 2
    assert "--adapter is for the embedded engine and vLLM" in done.stderr


def test_the_engine_description_changes_with_the_adapter(tmp_path: Path, smollm2: Path) -> None:
    """The description is read from files, without starting the engine."""
    place = make_gguf_adapter(tmp_path / "a", smollm2)
    settings = Settings(cache=tmp_path, adapters={"mine": place})
    before = describe_engine(settings, "mine")
    shutil.rmtree(place)
    make_gguf_adapter(place, smollm2, gate=GATE)
    assert describe_engine(settings, "mine") != before


def test_a_name_stands_for_a_model_and_its_format(tmp_path: Path, smollm2: Path) -> None:
    place = make_gguf_adapter(tmp_path / "a", smollm2)
    expected = ModelSelection("smollm2-135m", {"mine": place}, "mine")
    assert expected.name_and_format("default") == ("mine", "sep")
    assert expected.name_and_format("smollm2-135m") == ("smollm2-135m", "chat")
