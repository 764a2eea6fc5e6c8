"""The DiP suite on a set mined from one short tale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator, annotator_for
from eval.suites.dip.mined_set import MinedSet, read_mined_set, write_mined_set
from eval.suites.dip.mined_set_scores import mined_set_outputs
from eval.suites.dip.mining import mine_test_set
from eval.suites.dip.suite import DipSuite
from eval.suites.outputs import REFERENCES_LABEL
from eval.suites.suite import SuiteResult
from tests.eval.suites.dip.test_mining import FIRST, REFERENCE, SECOND, SOURCES

TALE = Corpus((Document("tale", {"first": FIRST, "second": SECOND}, (REFERENCE,), SOURCES),), "zh", "en", "tales")


@pytest.fixture(scope="module")
def english() -> Annotator:
    return annotator_for("en", prefer="textblob")


@pytest.fixture
def data(tmp_path: Path, english: Annotator) -> Path:
    write_mined_set(tmp_path / "set.jsonl", mine_test_set(TALE, annotator=english))
    return tmp_path / "set.jsonl"


def texts(mined: MinedSet, system: str) -> list[tuple[str, tuple[str, ...]]]:
    return list(mined_set_outputs(mined, TALE, system).items())


def write(path: Path, system: str, mined: MinedSet) -> Path:
    lines = [text for _, found in texts(mined, system) for text in found]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def cells(outcome: SuiteResult, name: str) -> list[dict[str, float | None]]:
    return [dict(row.cells) for table in outcome.tables for row in table.rows if row.name == name]


def test_systems_fail_on_their_mined_set_and_references_do_not(data: Path, tmp_path: Path, english: Annotator) -> None:
    mined = read_mined_set(data)
    systems = {name: write(tmp_path / f"{name}.txt", name, mined) for name in ("first", "second")}
    outcome = DipSuite(annotator=english).run(data, systems)
    assert [table.title.split()[0] for table in outcome.tables] == ["Lexical", "Connectives", "Pronouns"]
    assert cells(outcome, "first") == [
        {"%Con": 0, "%Full": 0},
        {"Acc": 100, "ANY": 100},
        {"right": 0, "wrong": 100, "lost": 0, "their score ↓": None},
    ]
    assert cells(outcome, "second")[1] == {"Acc": 0, "ANY": 0}
    assert [list(found.values())[:1] for found in cells(outcome, REFERENCES_LABEL)] == [[100], [100], [100]]
    verdicts = [(one["system"], one["word"], one["verdict"]) for one in outcome.cases]
    assert ("first", "lantern", "inconsistent") in verdicts
    assert ("second", "but", "lost") in verdicts
    assert ("first", "She", "wrong") in verdicts


def test_outputs_by_id_are_the_same_in_any_order(data: Path, tmp_path: Path, english: Annotator) -> None:
    mined = read_mined_set(data)
    rows = [json.dumps({"id": item, "output": found}) for item, found in reversed(texts(mined, "first"))]
    (tmp_path / "by-id.jsonl").write_text("\n".join(rows), encoding="utf-8")
    suite = DipSuite(annotator=english)
    by_id = suite.run(data, {"first": tmp_path / "by-id.jsonl"})
    assert by_id == suite.run(data, {"first": write(tmp_path / "first.txt", "first", mined)})


def test_the_published_rows_are_of_the_same_pair(data: Path, english: Annotator) -> None:
    outcome = DipSuite(annotator=english).run(data, {})
    names = [row.name for row in outcome.tables[0].rows if row.published]
    assert names == ["ANAPH zh-en", "TGTCON zh-en", "S2S zh-en", "CONCAT zh-en", "SAN zh-en"]
    assert cells(outcome, "S2S zh-en") == [
        {"%Con": 28.27, "%Full": 18.21},  # Table 6
        {"Acc": 55.24, "ANY": 80.66},  # Table 7
        {"right": None, "wrong": None, "lost": None, "their score ↓": 64.176},  # Table 9
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "One.\n", r"a.txt has 1 lines of text, and the set has \d+ segments"),
        ("a.jsonl", '{"id": "x"}\n', "Line 1 of a.jsonl: output"),
        ("a.jsonl", '{"id": "x", "output": "One."}\n', "Line 1 of a.jsonl: there is no item 'x' in the data of the"),
        ("a.jsonl", "\n", "a.jsonl has no output for item 'consistency/"),
        ("b.txt", None, "There is no file"),
    ],
)
def test_invalid_outputs_are_refused(
    data: Path, tmp_path: Path, english: Annotator, name: str, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        DipSuite(annotator=english).run(data, {"mine": tmp_path / name})


def test_an_empty_output_is_named_by_its_line(data: Path, tmp_path: Path, english: Annotator) -> None:
    path = write(tmp_path / "first.txt", "first", read_mined_set(data))
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], "", *lines[2:]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 2 of first.txt is empty"):
        DipSuite(annotator=english).run(data, {"first": path})
