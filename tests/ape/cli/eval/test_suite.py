"""`ape eval suite`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run
from tests.eval.suites.cai_xiong.test_suite import CASES, write


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    write(tmp_path / "suite.jsonl")
    outputs = ["你们准备好了吗？", "你听见了吗？", "姐妹在唱歌。", "否则我们会淹死。", "我也做。"]
    (tmp_path / "ours.txt").write_text("\n".join(outputs) + "\n", encoding="utf-8")
    return ("--data", "suite.jsonl", "--system", "ours=ours.txt")


def test_the_tables_have_our_rows_and_the_published_ones_marked(here: Run, files: tuple[str, ...]) -> None:
    done = here("eval", "suite", "cai-xiong", *files)
    assert done.returncode == 0
    assert "CADec *" in done.stdout
    assert "undecided" in done.stdout
    assert "tok:zh" in done.stdout


def test_verdicts_are_written_as_json(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("eval", "suite", "cai-xiong", *files, "--json", "--cases", "cases.jsonl")
    table = json.loads(done.stdout)["tables"][1]
    assert table["rows"][0]["undecided"]["she (pl.)"] == 1
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 2 * len(CASES)
    assert [row["verdict"] for row in rows[:3]] == ["right", "wrong", "undecided"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nonesuch",), "There is no suite 'nonesuch'. Suites: cai-xiong, ltcr, bwb, dip."),
        (("cai-xiong",), "Give the data of the suite with --data PATH."),
        (("cai-xiong", "--data", "suite.jsonl", "--system", "ours"), "--system 'ours' is not NAME=FILE."),
    ],
)
def test_missing_inputs_are_reported(here: Run, files: tuple[str, ...], words: tuple[str, ...], message: str) -> None:
    done = here("eval", "suite", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_page_is_written_and_a_missing_folder_is_reported(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("eval", "suite", "cai-xiong", *files, "--html", "out.html")
    assert done.returncode == 0
    assert "The page is in out.html." in done.stderr
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.lower().lstrip().startswith("<!doctype html>")
    assert "1 undecided" in page
    assert "<img" not in page
    assert "there is no folder gone" in here("eval", "suite", "cai-xiong", *files, "--html", "gone/x.html").stderr


def test_the_suites_are_listed(here: Run) -> None:
    output = here("eval", "suite", "list").stdout
    assert "cai-xiong: Cai & Xiong 2020" in output
    assert "JSON lines with id, phenomenon (pronoun, connective or ellipsis), word, expected" in output


def test_help_says_in_which_form_data_is_read(here: Run) -> None:
    output = " ".join(here("eval", "suite", "--help").stdout.replace("│", " ").split())
    assert "as downloaded" not in output
    assert "a JSONL file (cai-xiong, ltcr)" in output
