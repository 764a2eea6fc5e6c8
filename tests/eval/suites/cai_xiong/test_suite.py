"""The suite: tables, files, and its references."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.errors import InputError
from eval.suites.cai_xiong.cases import CaiXiongCase, read_cases
from eval.suites.cai_xiong.suite import CASE_SETS, COLUMNS, CaiXiongSuite, score_cases
from eval.suites.outputs import REFERENCES_LABEL
from eval.suites.suite import accuracy_row

CASES = [
    CaiXiongCase("pronoun.0", "pronoun", "you", "你们", "Are you ready?", "你们准备好了吗？", "孩子们，"),
    CaiXiongCase("pronoun.1", "pronoun", "you", "你们", "Do you hear?", "你们听见了吗？", "孩子们，"),
    CaiXiongCase("pronoun.2", "pronoun", "they", "她们", "They sing.", "她们在唱歌。", "姐妹俩来了。"),
    CaiXiongCase("connective.0", "connective", "or", "否则", "Or we drown.", "否则我们会淹死。", "快游！"),
    CaiXiongCase("ellipsis.0", "ellipsis", "", "", "So do I.", "我也唱歌。", "她喜欢唱歌。"),
]


def write(path: Path) -> Path:
    rows = [
        {
            "id": one.id,
            "phenomenon": one.phenomenon,
            "word": one.word or None,
            "expected": one.expected or None,
            "source_context": "",
            "source": one.source,
            "reference_context": one.reference_context,
            "reference": one.reference,
        }
        for one in CASES
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_undecided_cases_give_bounds_and_no_value() -> None:
    outputs = ["你们准备好了吗？", "你听见了吗？", "姐妹在唱歌。", "否则我们会淹死。", "我也做。"]
    bleu, accuracy = score_cases(CASES, {"ours": outputs}).tables
    ours = accuracy.rows[0]
    assert ours.cells["you (pl.)"] == 50
    assert ours.cells["she (pl.)"] is None
    assert (ours.undecided["she (pl.)"], ours.undecided["pronoun"], ours.undecided["or"]) == (1, 1, 0)
    assert (ours.cells["pronoun"], ours.cells["or"], ours.cells["ellipsis"]) == (None, 100, 0)
    # By hand: of three pronouns one is right, one wrong, one undecided.
    assert ours.bounds["pronoun"] == pytest.approx((100 / 3, 200 / 3))
    assert (ours.bounds["she (pl.)"], "or" in ours.bounds) == ((0, 100), False)
    assert bleu.rows[0].cells.keys() == set(CASE_SETS)


def test_a_system_that_always_says_the_same_has_no_accuracy(shared_data: Path) -> None:
    cases = read_cases(shared_data / "cai_xiong_en_zh.jsonl")
    accuracy = score_cases(cases, {"me too": ["我也是。"] * len(cases)}).tables[1]
    ours = accuracy.rows[0]
    assert {ours.cells[column] for column in COLUMNS if ours.undecided[column]} == {None}
    assert ours.bounds["ellipsis"][0] < 15
    assert all(ours.bounds[column][0] == 0 for column in ("pronoun", "connective"))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_the_value_lies_between_the_bounds_and_needs_few_undecided(right: int, wrong: int, undecided: int) -> None:
    row = accuracy_row("a", {"x": (right, wrong, undecided)})
    low, high = row.bounds.get("x", (0, 100))
    value = row.cells["x"]
    assert low <= high
    if value is None:
        assert undecided * 10 > right + wrong + undecided or right + wrong == 0
    else:
        assert low - 1e-9 <= value <= high + 1e-9


def test_references_have_a_row_and_published_rows_are_marked() -> None:
    bleu, accuracy = score_cases(CASES, {}).tables
    own = next(row for row in accuracy.rows if row.name == REFERENCES_LABEL)
    assert own.cells["pronoun"] == 100
    assert [row.name for row in accuracy.rows if row.published] == ["thumt", "CADec", "bert-nmt"]
    assert all(row.published for row in bleu.rows)


def test_published_rows_equal_the_papers() -> None:
    # Table 3: CADec has pronoun 53, connective 60, ellipsis 2.25; Table 2: BLEU 19.1, 15.3, 25.5.
    bleu, accuracy = score_cases(CASES, {}).tables
    human = next(row for row in accuracy.rows if row.name == "CADec")
    assert [human.cells[column] for column in CASE_SETS] == [53, 60, 2.25]
    assert [bleu.rows[1].cells[column] for column in CASE_SETS] == [19.1, 15.3, 25.5]
    assert human.cells.keys() == set(COLUMNS)


def test_outputs_are_read_by_line_or_by_id(tmp_path: Path) -> None:
    data = write(tmp_path / "cases.jsonl")
    lines = tmp_path / "ours.txt"
    lines.write_text("".join(f"{one.reference}\n" for one in CASES), encoding="utf-8")
    objects = tmp_path / "ours.jsonl"
    rows = [{"id": one.id, "output": one.reference} for one in reversed(CASES)]
    objects.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    outcome = CaiXiongSuite().run(data, {"lines": lines, "objects": objects})
    bleu, accuracy = outcome.tables
    assert bleu.rows[0].cells["pronoun"] == pytest.approx(100)
    assert bleu.rows[0].cells == bleu.rows[1].cells
    assert accuracy.rows[0].cells == accuracy.rows[1].cells
    assert "tok:zh" in outcome.signatures["BLEU"]
    assert json.loads(json.dumps(outcome.to_dict()))["tables"][1]["rows"][0]["cells"]["pronoun"] == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [("一\n二\n", "has 2 lines, and the suite has 5 cases"), ("一\n二\n\n四\n五\n", "Line 3 of .* is empty")],
)
def test_invalid_outputs_are_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    data = write(tmp_path / "cases.jsonl")
    path = tmp_path / "ours.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        CaiXiongSuite().run(data, {"ours": path})


ENGLISH = "The sisters sang on the bridge until the fog lifted, and nobody spoke of it again. "


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda rows: rows[:1], r"ours\.jsonl has no output for case 'pronoun\.1'"),
        (lambda rows: [*rows, rows[1]], r"Line 6 of ours\.jsonl: case 'pronoun\.1' has an output in line 2 already"),
        (lambda rows: [*rows, {"id": "x", "output": "是"}], r"Line 6 of ours\.jsonl: there is no case 'x' in the data"),
        (lambda rows: [*rows[:4], rows[4] | {"output": " "}], r"Line 5 of ours\.jsonl is empty"),
        (lambda rows: [rows[0] | {"output": ["是", "否"]}, *rows[1:]], "Line 1 of .* its output has 2"),
        (lambda rows: [row | {"output": ENGLISH} for row in rows], "Line 1 of .*: the output seems to be English"),
    ],
)  # fmt: skip
def test_invalid_outputs_by_id_are_refused_by_line(
    tmp_path: Path, changed: Callable[[list[dict[str, str]]], list[dict[str, str]]], message: str
) -> None:
    data = write(tmp_path / "cases.jsonl")
    path = tmp_path / "ours.jsonl"
    rows = changed([{"id": one.id, "output": one.reference} for one in CASES])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        CaiXiongSuite().run(data, {"ours": path})


def test_invalid_data_is_refused_by_line(tmp_path: Path) -> None:
    data = tmp_path / "cases.jsonl"
    data.write_text(write(data).read_text(encoding="utf-8") + '{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 6 of .*: phenomenon: required"):
        CaiXiongSuite().run(data, {})
    with pytest.raises(InputError, match="can't be read"):
        CaiXiongSuite().run(tmp_path / "none.jsonl", {})


def test_every_class_of_the_references_is_right(shared_data: Path) -> None:
    _, accuracy = CaiXiongSuite().run(shared_data / "cai_xiong_en_zh.jsonl", {}).tables
    own = accuracy.rows[0]
    sizes = dict.fromkeys(COLUMNS, 80) | dict.fromkeys(CASE_SETS, 400)
    for column in COLUMNS:
        assert (own.cells[column] or 0) >= 97, column
        assert own.undecided[column] <= 0.05 * sizes[column], column
