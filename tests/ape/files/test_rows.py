"""Row readers: what ends a line, and which line an error names."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error, numbered_lines, read_csv, read_jsonl, read_tsv


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "\ufeffone\u2028still\x0bone\r\n\n \nfour\n")
    assert list(numbered_lines(path)) == [(1, "one\u2028still\x0bone"), (4, "four")]
    assert [number for number, _ in numbered_lines(path, blank=True)] == [1, 2, 3, 4]


def test_a_file_that_cannot_be_read_is_named_with_the_field(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt can't be read: No such file") as caught:
        list(numbered_lines(tmp_path / "gone.txt", field="votes"))
    assert caught.value.field == "votes"
    with pytest.raises(InputError, match=r"^a\.txt is not UTF-8 \(at byte 2\)\. Save it as UTF-8\.$"):
        list(numbered_lines(write(tmp_path / "a.txt", b"ab\xff")))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Line 3 of a.jsonl is not JSON: Expecting property name enclosed in double quotes."),
        ("[1]", "Line 3 of a.jsonl is not a JSON object."),
        ("[" * 100_000, "Line 3 of a.jsonl is not JSON: it is nested too deeply."),
    ],
)
def test_json_lines_with_their_numbers(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"a": 1}}\n\n{line}\n')
    rows = read_jsonl(path, field="path")
    assert next(rows) == (1, {"a": 1})
    with pytest.raises(InputError) as caught:
        next(rows)
    assert str(caught.value) == message


def test_a_table_has_as_many_cells_in_each_line_as_in_the_first(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'a\tb\n"1\t2"\n1\n')
    rows = read_tsv(path)
    assert [next(rows), next(rows)] == [(1, ["a", "b"]), (2, ['"1', '2"'])]
    with pytest.raises(InputError, match=r"Line 3 of a\.tsv has 1 columns, and the first line has 2"):
        next(rows)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_spreadsheet_may_separate_cells_its_own_way(separator: str) -> None:
    text = 'item|choice\n1|"a\nb"\n2|c\n'.replace("|", separator)
    rows = list(read_csv(text, "v.csv", required=["item"]))
    assert rows == [(3, {"item": "1", "choice": "a\nb"}), (4, {"item": "2", "choice": "c"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item\n1\n", "v.csv has no column 'choice'"),
        ("item,choice\n1\n", "Line 2 of v.csv has not as many cells"),
        ('item,choice\n1,"a"b\n', "Line 2 of v.csv can't be read"),
    ],
)
def test_a_damaged_spreadsheet_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_csv(text, "v.csv", required=["item", "choice"]))


class Rated(BaseModel):
    scores: list[int]

    @field_validator("scores")
    @classmethod
    def _some(cls, scores: list[int]) -> list[int]:
        if not scores:
            raise ValueError("there is none")
        return scores


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": [1, "x"]}, "scores.1: a whole number"),
        ({"scores": []}, "scores: there is none"),
        ([], "the row: an object"),
    ],
)
def test_the_first_mistake_in_a_row_is_named_by_its_field(given: object, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Rated.model_validate(given)
    assert describe_validation_error(caught.value, root="the row").startswith(message)
