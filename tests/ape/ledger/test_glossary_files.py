"""Glossaries as files, on the command line and over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.cli.flags import parse_glossary_flags
from ape.errors import InputError
from serve.schemas.jobs import BookRequest

CSV = "Westphalie,Westphalia\nCunégonde,Cunegonde\n"
TERMS = {"Westphalie": "Westphalia", "Cunégonde": "Cunegonde"}
FORMS = {
    "terms.csv": CSV,
    "terms.tsv": CSV.replace(",", "\t"),
    "terms.json": '{"Westphalie": "Westphalia", "Cunégonde": "Cunegonde"}',
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_is_read_alike_on_the_command_line_and_over_http(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FORMS[name], encoding="utf-8")
    assert parse_glossary_flags([str(tmp_path / name)]) == TERMS
    assert BookRequest.model_validate({"glossary": FORMS[name]}).glossary == TERMS


def test_a_flag_adds_to_a_file_and_wins(tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text(CSV, encoding="utf-8")
    given = parse_glossary_flags([str(tmp_path / "terms.csv"), "Westphalie=Westfalen"])
    assert given == TERMS | {"Westphalie": "Westfalen"}


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"There is no file terms\.csv"):
        parse_glossary_flags(["terms.csv"])
