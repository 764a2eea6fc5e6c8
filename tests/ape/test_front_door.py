"""The Python interface, as a user types it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ape
from ape.models import DEFAULT_MODEL
from tests.scripted import Fail, Say, ScriptedServer, translation_in


@pytest.fixture
def configured(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """The scripted server, set as the engine by environment variables."""
    monkeypatch.setenv("APE_URL", scripted.url)
    monkeypatch.setenv("APE_RETRY_ATTEMPTS", "1")
    return scripted


def test_every_public_name_can_be_imported() -> None:
    for name in ape.__all__:
        assert getattr(ape, name).__name__ == name
    assert set(ape.__all__) <= set(dir(ape))
    with pytest.raises(AttributeError, match="no attribute 'tidy'"):
        ape.tidy  # noqa: B018


@pytest.mark.subprocess
def test_importing_ape_imports_no_engine_and_no_pydantic() -> None:
    code = "import sys, ape; print([name for name in ('pydantic', 'httpx2', 'ape.engines') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_passage_is_edited_in_one_call(configured: ScriptedServer) -> None:
    configured.play(Say("<translation>It is raining cats and dogs.</translation>"))
    result = ape.edit("Il pleut des cordes.", "It is raining cat and dogs.")
    assert (result.post_edit, result.decision) == ("It is raining cats and dogs.", "edited")


def test_languages_and_options_reach_the_engine(configured: ScriptedServer) -> None:
    ape.edit("Il pleut.", "Es regnet.", target_language="German", temperature=0.3, instructions="Be terse.")
    request = configured.requests[0]
    assert request["temperature"] == 0.3
    assert "German" in str(request["messages"])
    assert "Be terse." in str(request["messages"])


async def test_it_works_inside_a_running_event_loop(configured: ScriptedServer) -> None:
    assert asyncio.get_running_loop().is_running()
    assert ape.edit("Il pleut.", "It rains.").decision == "unchanged"
    assert len(configured.requests) == 1


def edit_small_book(folder: Path) -> str:
    source, mt, output = (folder / name for name in ("livre.txt", "mt.txt", "book.txt"))
    source.write_text("Il pleut.\n\nElle dort.\n")
    mt.write_text("It rain.\n\nShe sleeps.\n")
    settings = ape.load_settings(jobs=str(folder / "jobs.sqlite"))
    summary = ape.edit_book(source, mt, output, source_language="fr", target_language="en", settings=settings)
    assert (summary.counts.edited, summary.counts.unchanged, summary.job.state) == (1, 1, "done")
    return output.read_text()


def correct_rain(request: dict[str, Any], turn: int) -> Say:
    return Say(translation_in(request).replace("rain.", "rains."))


def test_a_book_is_edited_in_one_call(configured: ScriptedServer, tmp_path: Path) -> None:
    configured.script = correct_rain
    assert edit_small_book(tmp_path) == "It rains.\n\nShe sleeps.\n"
    requests = len(configured.requests)
    assert edit_small_book(tmp_path) == "It rains.\n\nShe sleeps.\n"
    assert len(configured.requests) == requests


async def test_a_book_is_edited_inside_a_running_event_loop(configured: ScriptedServer, tmp_path: Path) -> None:
    configured.script = correct_rain
    assert edit_small_book(tmp_path) == "It rains.\n\nShe sleeps.\n"


async def test_a_books_errors_reach_the_caller_inside_a_loop(configured: ScriptedServer, tmp_path: Path) -> None:
    configured.play(Fail(500))
    with pytest.raises(ape.ApeError):
        edit_small_book(tmp_path)


def test_its_errors_are_those_of_the_library(configured: ScriptedServer) -> None:
    with pytest.raises(ape.InputError, match=r"max_attempts must be at most 10, not 11\.") as refused:
        ape.edit("Il pleut.", "It rains.", max_attempts=11)
    assert refused.value.field == "max_attempts"
    configured.play(Fail(500))
    with pytest.raises(ape.EngineError):
        ape.edit("Il pleut.", "It rains.")


def test_a_book_with_options_out_of_bounds_is_refused_before_its_files_are_opened(tmp_path: Path) -> None:
    with pytest.raises(ape.InputError, match=r"instructions has 4,001 characters") as refused:
        ape.edit_book("missing.txt", None, tmp_path / "out.txt", instructions="x" * 4_001)
    assert refused.value.field == "instructions"


async def test_the_asynchronous_core_takes_a_segment_without_languages(configured: ScriptedServer) -> None:
    async with ape.open_engine(ape.load_settings()) as engine:
        result = await ape.post_edit(ape.Segment("Il pleut.", "It rains."), engine, options=ape.Options(seed=3))
    assert result.decision == "unchanged"
    assert configured.requests[0]["seed"] == 3


def test_a_segment_detects_the_languages_that_are_left_out() -> None:
    segment = ape.Segment("罗德把帽子往桌上一扔，就走了。", "Rhode threw the hat on the table and left.")
    assert (segment.source_language, segment.target_language) == ("zh", "en")
    assert ape.Segment("Il pleut.", "It rains.", "fr").target_language == "en"


@pytest.mark.subprocess
def test_a_script_edits_with_the_small_model_and_ends(smollm2: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import ape\n"
        f"result = ape.edit('Claire posa son sac.', 'Claire posed his bag.', model={DEFAULT_MODEL!r}, max_attempts=1)\n"
        "print(result.model, result.post_edit)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(DEFAULT_MODEL)
