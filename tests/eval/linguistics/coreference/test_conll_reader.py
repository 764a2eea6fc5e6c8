"""CoNLL columns: nested and repeated brackets, and errors by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.linguistics.coreference.conll_reader import read_conll, read_document_pairs


def _file(path: Path, *columns: str, name: str = "(tale); part 000") -> Path:
    tokens = [f"tale\t0\t{number}\tword\t{column}\n" for number, column in enumerate(columns)]
    path.write_text("".join((f"#begin document {name}\n", *tokens, "\n#end document\n")), encoding="utf-8")
    return path


def test_brackets_may_nest_cross_and_span_one_token(tmp_path: Path) -> None:
    path = _file(tmp_path / "a", "(1|(2", "(3)", "2)", "(1", "1)|1)", "-")
    (document,) = read_conll(path).values()
    assert document.entities == {"1": [(0, 4), (3, 4)], "2": [(0, 2)], "3": [(1, 1)]}
    assert document.tokens == 6


def test_brackets_need_no_bar_between_them(tmp_path: Path) -> None:
    (document,) = read_conll(_file(tmp_path / "a", "(1(3", "-", "3)1)")).values()
    assert document.clusters == (((0, 2),), ((0, 2),))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("(1", "2)"), r"line 3: 2\) closes a mention that was never opened"),
        (("(1", "-"), r"line 2: \(1 is still open"),
        (("(1)", "oops"), r"line 3: the last column is 'oops'"),
    ],
)
def test_unmatched_brackets_are_refused_by_line(tmp_path: Path, columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_conll(_file(tmp_path / "a", *columns))


def test_a_file_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="is it a CoNLL file"):
        read_conll(tmp_path / "a")
    (tmp_path / "a").write_text("tale 0 0 word -\n", encoding="utf-8")
    with pytest.raises(InputError, match='line 1: a token before the first "#begin document"'):
        read_conll(tmp_path / "a")


def test_key_and_response_must_have_the_same_tokens(tmp_path: Path) -> None:
    key = _file(tmp_path / "key", "(1)", "-")
    with pytest.raises(InputError, match=r"has 2 tokens in .*, and 1 in"):
        read_document_pairs(key, _file(tmp_path / "response", "(1)"))
    with pytest.raises(InputError, match="have different documents"):
        read_document_pairs(key, _file(tmp_path / "response", "(1)", "-", name="(other); part 000"))
