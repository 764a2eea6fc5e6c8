"""`ape eval coreference`, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run

WORDS = ("Anna", "saw", "him", "when", "she", "left", "Boris")


def conll(path: Path, brackets: Sequence[str], *, name: str = "(tale); part 000") -> None:
    rows = [f"{word}\t{bracket}" for word, bracket in zip(WORDS, brackets, strict=True)]
    path.write_text("\n".join([f"#begin document {name}", *rows, "", "#end document", ""]), encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two entities in the key; the response has one entity with all mentions."""
    conll(tmp_path / "key.conll", ("(1)", "-", "(2)", "-", "(1)", "-", "(2)"))
    conll(tmp_path / "response.conll", ("(1)", "-", "(1)", "-", "(1)", "-", "(1)"))
    return "key.conll", "response.conll"


def test_every_scorer_has_a_row_and_the_average_its_own(here: Run, files: tuple[str, str]) -> None:
    done = here("eval", "coreference", *files)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:8]}
    # MUC: both links of the key and one too many. B³: half of the mentions in each entity are correct.
    assert rows["MUC"] == ["100.00", "66.67", "80.00"]
    assert rows["B³"] == ["100.00", "50.00", "66.67"]
    # CEAFe: one of two entities is aligned, with a similarity of 2·2/(2 + 4).
    assert rows["CEAFe"] == ["33.33", "66.67", "44.44"]
    assert rows["CoNLL"] == ["F1", "63.70"]
    assert {"CEAFm", "BLANC", "LEA"} < rows.keys()
    assert "coreference|mentions:exact|repeated:first|documents:1|v:" in done.stdout


def test_scores_are_printed_as_json(here: Run, files: tuple[str, str]) -> None:
    output = json.loads(here("eval", "coreference", *files, "--json").stdout)
    assert output["scores"]["muc"] == {
        "recall": 100.0,
        "precision": pytest.approx(66.6667, abs=1e-4),
        "f1": pytest.approx(80),
    }
    assert output["conll_f1"] == pytest.approx((80 + 66.6667 + 44.4444) / 3, abs=1e-4)


def test_a_repeated_mention_is_reported(here: Run, files: tuple[str, str], tmp_path: Path) -> None:
    conll(tmp_path / "response.conll", ("(1)|(2)", "-", "(2)", "-", "(1)", "-", "(2)"))
    done = here("eval", "coreference", *files)
    assert done.returncode == 0
    assert "response.conll repeats 1 mentions" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "There is no file response.conll."),
        ("", "response.conll has no line"),
        ("a\t-\n", "response.conll, line 1: a token before the first"),
        ("#begin document (tale); part 000\na\t(1\n", "response.conll, line 2: (1 is still open at the end"),
        ("#begin document (tale); part 000\na\t1)\n", "response.conll, line 2: 1) closes a mention that was never"),
        ("#begin document (tale); part 000\na\tX\n", "response.conll, line 2: the last column is 'X'"),
        ("#begin document (tale); part 000\na\t-\n", "has 7 tokens in key.conll, and 1 in response.conll"),
        ("#begin document (other);\na\t-\n", "have different documents"),
    ],
)
def test_bad_files_are_refused(
    here: Run, files: tuple[str, str], tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "response.conll"
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = here("eval", "coreference", *files)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
