"""`ape eval score`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run

HUMAN = "The fog lifted.\nHe counted the coins twice.\nNobody spoke.\n\nThe bridge was finished in spring.\nIt held.\n"
MINE = "The fog lifted.\nHe counted coins two times.\nNobody spoke.\n\nIn spring the bridge was finished.\nIt held.\n"
THEIRS = "Fog lifts.\nShe counts coin.\nNo one speak.\n\nSpring bridge done.\nHe hold.\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """The arguments that name two systems and a reference, with two documents each."""
    for name, text in (("human.txt", HUMAN), ("mine.txt", MINE), ("theirs.txt", THEIRS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return ("--system", "mine=mine.txt", "--system", "theirs=theirs.txt", "--reference", "human.txt")


def test_a_table_has_systems_metrics_intervals_and_signatures(here: Run, files: tuple[str, ...]) -> None:
    done = here("eval", "score", *files, "--metric", "chrf", "--metric", "ter", "--baseline", "theirs")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["system", "chrf", "↑", "ter", "↓"]
    assert lines[1].startswith("mine ")
    assert "[" in lines[1]
    assert any(line.startswith("chrf: chrf|nrefs:1|") for line in lines)


def test_the_test_may_be_randomisation(here: Run, files: tuple[str, ...]) -> None:
    words = ("eval", "score", *files, "--metric", "chrf", "--baseline", "theirs", "--test", "randomisation")
    done = here(*words)
    assert "(p < .05, approximate randomisation, Holm's correction)." in done.stdout
    assert "tests: paired-randomisation|baseline:theirs|by:segment|samples:1000|seed:1|" in done.stdout
    mine = json.loads(here(*words, "--json").stdout)["scores"][0]
    # Of the 32 permutations of five segments at least 2 reach the full difference: p ≥ 1/16.
    assert mine["p_value"] > 0.05
    assert mine["wilcoxon"]["pairs"] == 5


def test_scores_are_printed_as_json(here: Run, files: tuple[str, ...]) -> None:
    done = here("eval", "score", *files, "--metric", "bleu", "--json", "--by", "document")
    output = json.loads(done.stdout)
    assert output["corpus"]["documents"] == 2
    assert output["corpus"]["segments"] == 5
    mine, theirs = output["scores"]
    assert mine["score"] > theirs["score"]
    assert output["signatures"]["bleu"].startswith("bleu|")
    assert set(output["by_document"]["bleu"]) == {"1", "2"}


def test_scores_by_document_and_segment(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = here("eval", "score", *files, "--metric", "ter", "--by", "document", "--segments", "out.jsonl")
    assert "document" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 10
    assert rows[0]["scores"] == {"ter": 0.0}


def test_a_report_is_one_page(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("eval.report")
    done = here("eval", "score", *files, "--metric", "chrf", "--html", "out.html")
    assert done.returncode == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "chrf|nrefs:1|" in page


def test_lost_connectives_are_listed(here: Run, tmp_path: Path) -> None:
    texts = {
        "human": "He waited because it rained, but nobody came to the bridge before the fog had lifted.\n",
        "mine": "He waited because it rained. Nobody came to the bridge. The fog had lifted.\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    words = ("eval", "score", "--system", "mine=mine.txt", "--reference", "human.txt", "--target-language", "en")
    done = here(*words, "--metric", "dip-connectives", "--json", "--html", "out.html")
    found = json.loads(done.stdout)["connectives"]["mine"]
    assert found["because"] == {"in_reference": 1, "same": 1, "other": 0, "lost": 0, "errors": 0}
    assert found["but"] == {"in_reference": 1, "same": 0, "other": 0, "lost": 1, "errors": 0}
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "Lost connectives" in page
    assert '<th scope="row" lang="en">but</th><td>1</td><td>0</td><td>0</td><td>1</td>' in page
    assert '<th scope="row" lang="en">because</th>' not in page


@pytest.mark.parametrize(("times", "more"), [(1, ""), (25, "5 more malformed marks of dropped pronouns")])
def test_malformed_marks_of_dropped_pronouns_are_reported(here: Run, tmp_path: Path, times: int, more: str) -> None:
    rows = [{"source": "<他>_S走了。", "reference": "He left.", "mt": "He left."}]
    rows += [{"source": "<他>_X来了。", "reference": "He came.", "mt": "Came."}] * times
    (tmp_path / "book.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    words = ("eval", "score", "book.jsonl", "--source-language", "zh", "--target-language", "en")
    done = here(*words, "--metric", "zero-pronouns")
    assert done.returncode == 0
    assert "Document '1', segment 2, column 1: <他>_X: X is not a role; expected one of S, O, Pa, R, UN." in done.stderr
    assert done.stderr.count("is not a role") == min(times, 20)
    assert more in done.stderr
    assert "is not a role" not in here(*words, "--metric", "chrf").stderr


def test_what_is_not_applicable_says_why(here: Run, files: tuple[str, ...]) -> None:
    done = here("eval", "score", *files[:4], "--metric", "ter")
    assert done.returncode == 0
    assert "n/a" in done.stdout
    assert "ter is not applicable: there is no reference." in done.stdout
    both = here("eval", "score", *files[:4], "--metric", "ter", "--metric", "bleu")
    assert "ter, bleu are not applicable: there is no reference.\n" in both.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "blue"), "no metric called 'blue'"),
        (("--system", "mine.txt"), "is not NAME=FILE"),
        (("--system", "mine=mine.txt"), "Two systems are called 'mine'"),
        (("--documents", "nowhere.txt"), "--documents is auto, marks, blank, none or a file"),
        (("--baseline", "best"), "no system called 'best'"),
        (("--encoder", "x"), "--encoder is for --metric bertscore"),
        (("--leave-one-out", "--html", "x.html"), "--leave-one-out prints another table"),
        (("--job", "7"), "A job has its own source and outputs"),
        (("--segments", "gone/x.jsonl"), "--segments gone/x.jsonl: there is no folder gone."),
        (("--html", "."), "--html . is a folder"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    here: Run, files: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    done = here("eval", "score", *files, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_lines_that_don_t_fit_are_named(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("The fog lifted.\n\nHe counted.\n\nIn spring.\n", encoding="utf-8")
    done = here("eval", "score", *files)
    assert done.returncode == 2
    assert "Line 2 of mine.txt is blank, and line 2 of human.txt is not" in done.stderr


def test_references_are_scored_against_each_other(here: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text(MINE, encoding="utf-8")
    words = ("eval", "score", *files, "--reference", "other.txt", "--leave-one-out", "--metric", "sentence-bleu")
    done = here(*words)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split()[0] == "human"
    output = json.loads(here(*words, "--json").stdout)["sentence-bleu"]
    assert output["win_share"]["mine"] == 1.0
    assert "agg:leave-one-out|v:" in output["signature"]


def test_metrics_are_listed(here: Run) -> None:
    done = here("eval", "score", "--metric", "list")
    assert {"bleu", "blonde", "ltcr"} <= set(done.stdout.split())
