"""A trial of two systems, and votes of a rater."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.human.sheet import rater_sheet
from eval.human.trial_file import read_trial
from tests.ape.cli.conftest import Run
from tests.eval.human.trial_factory import a_text

LINES = 14


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """The arguments that name a source and two systems, which have two identical lines."""
    texts = {"fr": "source", "mt": "mt", "tuned": "tuned"}
    for name, key in texts.items():
        lines = [a_text("same" if place < 2 and name != "fr" else f"{key}{place}") for place in range(LINES)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    languages = ("--source-language", "und", "--target-language", "en")
    return ("--source", "fr.txt", "--system", "mt=mt.txt", "--system", "tuned=tuned.txt", *languages)


@pytest.fixture
def trial(here: Run, files: tuple[str, ...], tmp_path: Path) -> Path:
    """A trial for two raters."""
    done = here("ab", "make", *files, "-o", "trial.json", "--raters", "anna,ben", "--repeats", "0.2")
    assert done.returncode == 0, done.stderr
    return tmp_path / "trial.json"


def saved(path: Path, rater: str, *, prefers: str = "tuned", tie: bool = False) -> Path:
    """The votes file of a careful rater who prefers one system, or none."""
    made = read_trial(path)
    votes: list[dict[str, Any]] = []
    for one in rater_sheet(made, rater):
        expected = one.item.systems[0] if one.item.kind == "spam" else prefers
        choice = "first" if one.first == expected else "second"
        votes.append({"item": one.item.id, "choice": "tie" if tie and one.item.kind != "spam" else choice})
    file = path.parent / f"{rater}.json"
    file.write_text(json.dumps({"trial": made.id, "rater": rater, "votes": votes}), encoding="utf-8")
    return file
