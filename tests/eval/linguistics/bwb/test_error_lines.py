"""Error lines and name lines: contents and issues."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from eval.linguistics.bwb.error_lines import BwbErrorItem, parse_errors, read_errors
from eval.linguistics.bwb.names import parse_names, read_names


def test_an_error_has_a_kind_words_and_a_position() -> None:
    (line,), issues = parse_errors(["Joe bowed his head.\t4,Joe <pos/1,3>\t3,her, his <pos/11,13>\t5"])
    assert line.text == "Joe bowed his head."
    assert line.errors == (
        BwbErrorItem("entity", "Joe", "", 0, 3),
        BwbErrorItem("ellipsis", "his", "her", 10, 13),
        BwbErrorItem("tense"),
    )
    assert issues == ()


def test_errors_of_one_kind_are_separated_by_semicolons() -> None:
    (line,), issues = parse_errors(["Joe saw Jo.\t4,Joe <pos/1,3>;Jo <pos/9,10>"])
    assert [error.found for error in line.errors] == ["Joe", "Jo"]
    assert issues == ()


def test_kind_0_means_no_error() -> None:
    assert parse_errors(["Well.\t0"])[0][0].errors == ()


@pytest.mark.parametrize(
    ("line", "column", "what"),
    [
        ("Joe ran.\t4,Joe <pos/2,4>", 10, "characters 2 to 4 are 'oe ', not 'Joe'"),
        ("Joe ran.\t7", 10, "7 is not an error kind"),
        ("Joe ran.\t5\t4,Joe", 12, "has no position"),
        ("Joe ran.\t1,ran <pos/5,7>", 10, "should be the correction, a comma, and the erroneous words"),
        ("Joe ran.\twrong", 10, "does not begin with the number"),
        ("Joe ran.", 9, "no error kind after"),
    ],
)
def test_a_malformed_error_line_is_an_issue(line: str, column: int, what: str) -> None:
    _, (issue,) = parse_errors([line])
    assert (issue.line, issue.column) == (1, column)
    assert what in issue.message


def test_an_error_with_a_wrong_position_moves_to_the_nearest_occurrence() -> None:
    (line,), _ = parse_errors(["Joe saw Joe.\t4,Joe <pos/10,12>"])
    assert (line.errors[0].start, line.errors[0].end) == (8, 11)


def test_the_example_chapter_has_30_lines_56_errors_and_12_issues(shared_data: Path) -> None:
    lines, issues = read_errors(shared_data / "bwb_example" / "an.txt")
    assert len(lines) == 30
    # Counted in the file.
    assert Counter(error.kind for line in lines for error in line.errors) == {
        "sentence": 15, "tense": 12, "ambiguity": 11, "entity": 7, "kind 7": 5, "ellipsis": 3, "pronoun omitted": 3,
    }  # fmt: skip
    assert sum("7 is not an error kind" in issue.message for issue in issues) == 5
    assert sum("characters" in issue.message for issue in issues) == 7
    assert all(
        line.text[error.start : error.end] == error.found for line in lines for error in line.errors if error.found
    )


def test_names_are_counted_by_line() -> None:
    (line,), issues = parse_names(["PERSON: (Mira Holt: 2; Sam: 1; )\tNONPERSON: (Orlen: 1; )"])
    assert (line.persons, line.others) == ({"Mira Holt": 2, "Sam": 1}, {"Orlen": 1})
    assert issues == ()


def test_a_malformed_name_line_is_an_issue() -> None:
    lines, issues = parse_names(
        ["nothing", "PERSON: (Mira; )\tNONPERSON: ()", "PERSON: (Mira: 1; )\tNONPERSON: (Mira’s: 1; )"]
    )
    assert len(lines) == 3
    assert [(issue.line, issue.column) for issue in issues] == [(1, 1), (2, 10), (3, 33)]


def test_the_names_of_the_example_chapter(shared_data: Path) -> None:
    lines, issues = read_names(shared_data / "bwb_example" / "ner.txt")
    assert len(lines) == 30
    assert sum((line.persons for line in lines), Counter())["Shen Liangchuan"] == 9
    assert [issue.line for issue in issues] == [9, 11]
