"""`ape book names` and `ape book edit --names` as typed: table, files, page, changes without a model, bad files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run
from tests.scripted import ScriptedServer
from tests.serve.routes.test_names import PAIRS

pytest.importorskip("pypinyin", reason="reads Chinese names aloud")
pytestmark = pytest.mark.subprocess

LANGUAGES = ("--source-language", "zh", "--target-language", "en")
NAMES = "source,target,variants,gender\n方召,Fang Zhao,Fang Zao (1); Fang Zhao (4),male\n"


@pytest.fixture(autouse=True)
def _book(tmp_path: Path) -> None:
    """A book of eight paragraphs in which one name is misspelt once."""
    (tmp_path / "s.txt").write_text("\n\n".join(source for source, _ in PAIRS) + "\n")
    (tmp_path / "t.txt").write_text("\n\n".join(mt for _, mt in PAIRS) + "\n")
    (tmp_path / "names.csv").write_text(NAMES)


def test_the_table_json_csv_and_page_show_the_names(here: Run, tmp_path: Path) -> None:
    shown = here("book", "names", "s.txt", "t.txt", *LANGUAGES)
    assert shown.returncode == 0, shown.stderr
    assert all(text in shown.stdout for text in ("方召", "Fang Zhao", "Fang Zao 1"))
    written = here(
        "book", "names", "s.txt", "t.txt", *LANGUAGES, "-o", "found.csv", "--html", "names.html", "--json"
    )  # fmt: skip
    assert written.returncode == 0, written.stderr
    entities = json.loads(written.stdout)["entities"]
    rows = list(csv.DictReader((tmp_path / "found.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [row["target"] for row in rows] == [one["target"] for one in entities]
    page = (tmp_path / "names.html").read_text()
    assert "<mark>Fang Zao</mark>" in page
    refused = here("book", "names", "s.txt", "t.txt", *LANGUAGES, "-o", "found.csv")
    assert refused.returncode == 2


def test_names_alone_are_repaired_and_one_changed_entry_is_applied_again_without_a_model(
    here: Run, scripted: ScriptedServer, tmp_path: Path
) -> None:
    edit = ("book", "edit", "s.txt", "t.txt", "-o", "out.txt", *LANGUAGES, "--names", "names.csv")
    command = (*edit, "--url", scripted.url)
    done = here(*command)
    assert done.returncode == 0, done.stderr
    first, asked = (tmp_path / "out.txt").read_text(), len(scripted.requests)
    assert first == (tmp_path / "t.txt").read_text().replace("Zao", "Zhao")
    (tmp_path / "names.csv").write_text(NAMES.replace("方召,Fang Zhao", "方召,Fang Jao"))
    again = here(*command)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "out.txt").read_text() == first.replace("Fang Zhao", "Fang Jao")
    assert len(scripted.requests) == asked
    alone = here("book", "edit", "s.txt", "t.txt", "-o", "alone.txt", *LANGUAGES, "--no-model")
    assert alone.returncode == 0, alone.stderr
    assert (tmp_path / "alone.txt").read_text() == first
    assert len(scripted.requests) == asked


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"source,target,colour\nx,y,z\n", "Line 1 of bad.csv: unknown columns: 'colour'"),
        ("id,source,target\na,方召,X\na,严彪,Y\n".encode(), "Line 3 of bad.csv: the id 'a' is taken by line 2"),
        ("source,target,gender\n方召,X,male\n方召,X,female\n".encode(), "Line 3 of bad.csv: '方召' is female here"),
        ("source,target,regex\n(方+)+召,X,true\n".encode(), "Line 1 of bad.csv: there is a column 'regex'"),
        ("source,target\n方召,X\n".encode("gb18030"), "UTF-8"),
    ],
)
def test_a_bad_file_of_names_is_refused_with_its_line(here: Run, tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    done = here("book", "edit", "s.txt", "t.txt", "-o", "out.txt", *LANGUAGES, "--names", "bad.csv", "--no-model")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out.txt").exists()


def test_an_edit_says_why_the_names_were_left_alone(here: Run, tmp_path: Path) -> None:
    languages = ("--source-language", "is", "--target-language", "en")
    done = here("book", "edit", "s.txt", "t.txt", "-o", "out.txt", *languages, "--names", "auto", "--no-model")
    assert "no rules for names of" in " ".join(done.stderr.split())
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "t.txt").read_bytes()


def test_a_source_like_a_regular_expression_is_plain_text(here: Run, tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(f"source,target,variants\n{'(方+)+' * 20}$,X,{'(F+)+' * 20}$ (1)\n")
    done = here("book", "edit", "s.txt", "t.txt", "-o", "out.txt", *LANGUAGES, "--names", "names.csv", "--no-model")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "t.txt").read_bytes()
