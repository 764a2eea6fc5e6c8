"""`ape eval mine`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.suites.dip.mined_set import read_mined_set
from tests.ape.cli.conftest import Run

SOURCE = "甲在屋里点灯。\n她累了，但还是唱歌。\n灯很旧。\n他走了。\n"
REFERENCE = "Mira lit the lantern.\nShe was tired, but she sang.\nThe lantern was old.\nHe left.\n"
FIRST = "Mira lit the lantern.\nHe was tired, but she sang.\nThe lamp was old.\nHe left.\n"
SECOND = "Mira lit the lantern.\nHe was tired. She sang.\nThe lantern was old.\nHe left.\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The arguments that name a source, a reference, two systems and an output file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in (("zh", SOURCE), ("en", REFERENCE), ("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    systems = ("--system", "first=first.txt", "--system", "second=second.txt")
    return ("--source", "zh.txt", "--reference", "en.txt", *systems, "-o", "set.jsonl")


def test_a_set_is_written_and_summarised(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("eval", "mine", *files, "--json")
    assert json.loads(done.stdout)["items"] == {"consistency": 1, "connectives": 1, "pronouns": 1}
    assert [item.word for item in read_mined_set(tmp_path / "set.jsonl").items] == ["lantern", "but", "She"]


def test_only_passages_that_all_systems_fail_are_mined(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("eval", "mine", *files, "--at-least", "2", "--phenomenon", "pronouns,connectives")
    assert "pronouns: 1 of 1" in done.stdout
    assert [item.word for item in read_mined_set(tmp_path / "set.jsonl").items] == ["She"]


def test_an_existing_set_is_not_replaced(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text("mine\n", encoding="utf-8")
    done = here("eval", "mine", *files)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
    assert (tmp_path / "set.jsonl").read_text(encoding="utf-8") == "mine\n"
