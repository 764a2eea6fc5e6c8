"""`ape ab make`: trial files, sheets for raters, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.human.trial_file import read_trial
from tests.ape.cli.conftest import Run


def test_a_trial_is_made_and_summarised(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("ab", "make", *files, "-o", "trial.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "12 items with mt, tuned from 12 passages; also 1 repeat and 1 shuffled text.",
        "Left out: 2 pairs, where both systems have the same text.",
    ]
    trial = read_trial(tmp_path / "trial.json")
    assert trial.id in done.stdout
    assert trial.bilingual


def test_the_same_command_makes_the_same_trial(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("one.json", "other.json"):
        assert here("ab", "make", *files, "-o", name, "--seed", "7").returncode == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_the_design_is_printed_as_json(here: Run, files: tuple[str, ...]) -> None:
    done = here("ab", "make", *files, "-o", "t.json", "--number", "5", "--json", "--no-source", "--no-ties")
    output = json.loads(done.stdout)
    assert output["systems"] == ["mt", "tuned"]
    assert output["design"]["found_items"] == 5
    assert output["design"]["bilingual"] is False


def test_the_files_of_raters_hide_the_systems(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    flags = [word for flag in ("offline", "label-studio", "csv", "jsonl") for word in (f"--{flag}", flag)]
    done = here("ab", "make", *files, "-o", "t.json", "--raters", "anna, Ben O'Hara", *flags)
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*")}
    assert made == {
        *(f"{folder}/{name}.{ending}"
          for folder, ending in (("offline", "html"), ("label-studio", "json"), ("csv", "csv"), ("jsonl", "jsonl"))
          for name in ("anna", "Ben_O_Hara")),
        "label-studio/interface.xml",
    }  # fmt: skip
    for path in tmp_path.glob("*/anna.*"):
        assert "tuned" not in path.read_text(encoding="utf-8")


def test_tables_may_hold_several_systems_of_which_some_are_chosen(here: Run, tmp_path: Path) -> None:
    rows = [
        {"document": "d", "source": f"Phrase {n}.", "systems": {name: f"{name} {n} text here." for name in "abc"}}
        for n in range(9)
    ]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    languages = ("--source-language", "fr", "--target-language", "en")
    done = here("ab", "make", "--data", "set.jsonl", "--system", "a", "--system", "c", "-o", "t.json", *languages)
    assert done.returncode == 0, done.stderr
    assert read_trial(tmp_path / "t.json").systems == ("a", "c")
    done = here("ab", "make", "--data", "set.jsonl", "-o", "t.json", *languages)
    assert read_trial(tmp_path / "t.json").systems == ("a", "b", "c")


def test_a_missing_paragraph_is_reported_by_file_and_line(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    text = (tmp_path / "tuned.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "tuned.txt").write_text("\n".join(text[:-1]) + "\n", encoding="utf-8")
    done = here("ab", "make", *files, "-o", "t.json")
    assert done.returncode == 2
    assert "line 1 of tuned.txt, there are 14 lines in the first and 13 in the second" in done.stderr
    assert not (tmp_path / "t.json").exists()


def test_two_systems_with_the_same_text_can_not_be_compared(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "tuned.txt").write_bytes((tmp_path / "mt.txt").read_bytes())
    done = here("ab", "make", *files, "-o", "t.json")
    assert done.returncode == 2
    assert "There is nothing to compare" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--number", "50"), "The set has only 12 of 50 items. Left out: 2 with the same text"),
        (("--offline", "out"), "--offline writes a file for each rater: name them with --raters"),
        (("--raters", "anna,anna"), "Two raters have the same name"),
        (("--raters", "a/b,a b", "--csv", "out"), "Two raters would have files of the same name"),
        (("--name", "Is tuned better?"), "reveals the system 'tuned'"),
        (("--against", "best"), "compare against, 'best', is not among"),
        (("--system", "=x"), "is not NAME or NAME=FILE"),
        (("--system", "mt=mt.txt"), "Two systems are called 'mt'"),
        (("--by", "book"), "does not name the book"),
        (("--spam", "0.9"), "share of spam lies between 0 and 0.5"),
        (("--min", "5000"), "There is no suitable passage. Left out: 14 outside the range"),
        (("--condition", "document", "--paragraphs", "20"), "There is no suitable passage"),
        (("-o", "nowhere/t.json"), "nowhere/t.json can't be written: No such file or directory"),
        (("--raters", "anna", "--csv", "mt.txt"), "mt.txt/anna.csv can't be written"),
        (("--job", "7"), "A job has its own source and outputs"),
    ],
)
def test_bad_input_is_a_sentence(
    here: Run, files: tuple[str, ...], words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = here("ab", "make", *files, "-o", "t.json", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_trial_without_differences_is_refused(here: Run) -> None:
    done = here("ab", "make", "-o", "t.json")
    assert done.returncode == 2
    assert "give a table or the outputs of systems. See --data." in done.stderr
