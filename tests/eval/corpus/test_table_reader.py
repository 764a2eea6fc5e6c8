"""JSON lines and TSV: rows of segments, rows of documents, and invalid rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ape.errors import InputError
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write rows to a file of JSON lines."""

    def write(*rows: Any, name: str = "t.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def row(document: str, text: str, **others: Any) -> dict[str, Any]:
    return {"document": document, "source": f"s {text}", "reference": text, "systems": {"m": text}} | others


def test_rows_of_segments_make_documents_in_their_order(put: Put) -> None:
    corpus = read_corpus(put(row("a", "one"), row("a", "two"), row("b", "three", book="B")))
    assert [one.id for one in corpus.documents] == ["a", "b"]
    assert corpus.documents[0].outputs == {"m": ("one", "two")}
    assert corpus.documents[0].sources == ("s one", "s two")
    assert corpus.documents[1].book == "B"


def test_several_references_and_one_that_is_missing(put: Put) -> None:
    first = {"references": ["x", "y"], "systems": {"m": "z"}}
    second = {"references": ["x", None], "systems": {"m": "z"}}
    document = read_corpus(put(first, second)).documents[0]
    assert document.references == (("x", "x"), ("y", None))
    assert document.sources == ()


def test_a_row_may_be_a_whole_document(put: Put) -> None:
    whole = {"chapter": 3, "source": ["a", "b"], "reference": ["c", "d"], "systems": {"m": ["e", "f"]}}
    document = read_corpus(put(whole)).documents[0]
    assert (document.id, document.references, document.outputs["m"]) == ("3", (("c", "d"),), ("e", "f"))


def test_par3s_column_names_are_accepted(put: Put) -> None:
    par3 = {"book": "b", "src": "a", "gt": "x", "human": {"one": "y", "two": "z"}}
    document = read_corpus(put(par3)).documents[0]
    assert document.outputs == {"gt": ("x",)}
    assert document.references == (("y",), ("z",))


def test_named_references_are_aligned_by_name(put: Put) -> None:
    notes: list[str] = []
    rows = [
        row("a", "one", references={"Garnett": "g1", "Maude": "m1"}),
        row("a", "two", references={"Maude": "m2", "Garnett": "g2"}),
        row("b", "three", references={"Maude": "m3"}),
    ]
    for one in rows:
        del one["reference"]
    corpus = read_corpus(put(*rows), rules=CorpusRules(note=notes.append))
    assert [one.references for one in corpus.documents] == [(("g1", "g2"), ("m1", "m2")), ((None,), ("m3",))]
    assert [one.split(";")[0] for one in notes] == ["Reference 1 (Garnett) lacks 1 of 3 segments"]


def test_a_translator_may_lack_a_row_or_a_whole_document_or_a_table(put: Put) -> None:
    rows = [{"references": {"A": "a1", "B": "b1"}, "mt": "x"}, {"references": {"B": "b2"}, "mt": "y"}]
    assert read_corpus(put(*rows)).documents[0].references == (("a1", None), ("b1", "b2"))
    whole = [
        {"references": {"A": ["a1"], "B": ["b1"]}, "mt": ["x"]},
        {"references": {"B": ["b2"], "A": None}, "mt": ["y"]},
    ]
    assert [one.references for one in read_corpus(put(*whole)).documents] == [(("a1",), ("b1",)), ((None,), ("b2",))]
    tables = [put(one, name=f"{number}.jsonl") for number, one in enumerate(reversed(whole))]
    assert [one.references for one in read_corpus(*tables).documents] == [(("b2",), (None,)), (("b1",), ("a1",))]


def test_every_book_has_its_own_translators(put: Put) -> None:
    rows = [
        {"document": book, "book": book, "human": {f"{book}'s": "x", f"{book}'s other": "y"}, "mt": "z"}
        for book in ("Emma", "Ivanhoe")
    ]
    assert [len(one.references) for one in read_corpus(put(*rows)).documents] == [2, 2]


@pytest.mark.parametrize("document", ["a", "b"])
def test_references_have_names_everywhere_or_nowhere(put: Put, document: str) -> None:
    rows = [
        {"document": "a", "references": {"A": "x"}, "mt": "z"},
        {"document": document, "references": ["y"], "mt": "z"},
    ]
    with pytest.raises(InputError, match=r"Line 2 of t\.jsonl: the references .*Name them all, or none"):
        read_corpus(put(*rows))


def test_systems_by_file_join_those_of_the_table(put: Put, tmp_path: Path) -> None:
    lines = tmp_path / "mine.txt"
    lines.write_text("[doc]\n1\n2\n[doc]\n3\n", encoding="utf-8")
    table = put(row("a", "one"), row("a", "two"), row("b", "three"))
    corpus = read_corpus(table, systems={"mine": lines})
    assert [one.outputs["mine"] for one in corpus.documents] == [("1", "2"), ("3",)]
    lines.write_text("1\n\n2\n\n3\n", encoding="utf-8")
    assert read_corpus(table, systems={"mine": lines}) == corpus
    lines.write_text("<doc id=a>\n\n2\n</doc>\n<doc id=b>\n3\n</doc>\n", encoding="utf-8")
    given = read_corpus(table, systems={"mine": lines}, rules=CorpusRules(allow_empty=True))
    assert [one.outputs["mine"] for one in given.documents] == [("", "2"), ("3",)]
    lines.write_text("1\n2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.txt has 2 lines of text, and the table has 3 segments"):
        read_corpus(table, systems={"mine": lines})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[doc]\n1\n[doc]\n2\n3\n", r"Line 1 of mine\.txt begins a document of 1 lines, and the table has there 2 seg"),
        ("[doc]\n1\n2\n3\n", r"Line 1 of mine\.txt begins a document of 3 lines, and the table has there 2 segments"),
        ("[doc a]\n1\n2\n[doc b]\n3\n[doc c]\n", r"Line 6 of mine\.txt .* the table has no further document"),
        ("[doc a]\n1\n2\n[doc c]\n3\n", r"Line 4 of mine\.txt begins document 'c', and the table has 'b' there"),
    ],
)  # fmt: skip
def test_marks_of_an_output_file_must_match_the_tables_documents(
    put: Put, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8")
    table = put(row("a", "one"), row("a", "two"), row("b", "three"))
    with pytest.raises(InputError, match=message):
        read_corpus(table, systems={"mine": tmp_path / "mine.txt"})
    with pytest.raises(InputError, match=message):
        read_corpus(table, references=[tmp_path / "mine.txt"])


def test_documents_of_several_tables_are_distinct(put: Put) -> None:
    first, second = put(row("a", "one"), name="x.jsonl"), put(row("a", "two"), name="y.jsonl")
    assert [one.id for one in read_corpus(first, second).documents] == ["x/a", "y/a"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("a", "1"), row("b", "2"), row("a", "3")], r"Line 3 of t\.jsonl returns to document 'a'"),
        ([row("a", "1"), row("a", "2", systems={})], r"Line 2 of t\.jsonl: only one .* an output of system 'm'"),
        ([row("a", "1"), row("b", "2", systems={"n": "x"})], r"Line 2 of t\.jsonl: document 'b'"),
        ([row("a", "1", systems={"m": 7})], r"Line 1 of t\.jsonl: system 'm' is not a text but '7'"),
        ([row("a", "1", systems=["x"])], r"Line 1 of t\.jsonl: systems is not an object"),
        ([row("a", "1", systems={})], "no output of any system.*`systems`, by name"),
        ([row("a", "1", references=["x"])], "has both reference and references"),
        ([row("a", "1"), row("a", " ")], r"Line 2 of t\.jsonl: the output of system 'm' is empty"),
        ([["no object"]], r"Line 1 of t\.jsonl is not a JSON object"),
        ([], r"t\.jsonl is empty"),
        (
            [{"source": ["a", "b"], "reference": ["c"], "systems": {"m": ["d", "e"]}}],
            r"document 'line 1' differ.*reference 1 has 1 \(line 1 of t\.jsonl\)",
        ),
        ([{"source": ["a"], "reference": ["c"], "systems": {"m": "d"}}], "system 'm' is not a list"),
        ([{"source": [], "reference": [], "systems": {"m": []}}], "document 'line 1' is empty"),
        (
            [{"source": ["a", "b"], "reference": ["c", "d"], "systems": {"m": ["e", ""]}}],
            r"Line 1 of t\.jsonl, segment 2: the output of system 'm' is empty",
        ),
    ],
)
def test_an_invalid_row_is_refused_with_file_and_line(put: Put, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_corpus(put(*rows))


def test_invalid_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"source": "a"}\n{"source"', encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 2 of t\.jsonl is not JSON"):
        read_corpus(path)


def test_a_table_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.csv is not a table"):
        read_corpus(tmp_path / "x.csv")


def test_tsv_has_a_column_for_each_system(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        'document\tsource\treference\treference_2\tmine\ta b\nd\ts\tr\t\t"x\ty\nd\ts\tr\tq\tz\tw\n', encoding="utf-8"
    )
    document = read_corpus(path).documents[0]
    assert document.outputs == {"mine": ('"x', "z"), "a b": ("y", "w")}
    assert document.references == (("r", "r"), (None, "q"))


@pytest.mark.parametrize(
    "heading",
    [
        "Doc_ID\tID\tSource\tReference\tMine",
        "doc id\tSegment-ID\tSRC\tRef 1\tMine",
        "docid\tgenre\tsource\tHuman\tMine",
    ],
)
def test_column_names_have_several_spellings_and_systems_are_noted(tmp_path: Path, heading: str) -> None:
    notes: list[str] = []
    path = tmp_path / "t.tsv"
    path.write_text(f"{heading}\nd\t7\ts\tr\tx\ne\t8\ts\tr\ty\n", encoding="utf-8")
    corpus = read_corpus(path, rules=CorpusRules(note=notes.append))
    assert [one.id for one in corpus.documents] == ["d", "e"]
    assert corpus.documents[0].outputs == {"Mine": ("x",)}
    assert corpus.documents[0].references == (("r",),)
    assert corpus.documents[0].sources == ("s",)
    assert notes == ["t.tsv: the columns taken for systems are Mine."]


def test_names_in_json_lines_have_several_spellings(put: Put) -> None:
    rows = [{"doc_id": name, "Source": "s", "Reference": "r", "Systems": {"Mine": "x"}} for name in "de"]
    corpus = read_corpus(put(*rows))
    assert [one.id for one in corpus.documents] == ["d", "e"]
    assert (corpus.documents[0].sources, corpus.documents[0].references) == (("s",), (("r",),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source\tReference\treference\na\tb\tc\n", "has two columns of the same name"),
        ("source\tmine\na\tb\tc\n", r"Line 2 of t\.tsv has 3 columns, and the first line names 2"),
        ("one\ttwo\na\tb\n", r"Line 1 of t\.tsv does not name its columns"),
        ("source\tmine\tmine\na\tb\tc\n", "has two columns of the same name"),
    ],
)
def test_a_table_that_does_not_match_its_header_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_corpus(path)


def test_whole_documents_are_split_with_a_note(put: Put) -> None:
    notes: list[str] = []
    lines = ["The ferryman waited for the fog to lift.", "He counted the coins.", "The widow went aboard."]
    whole = {"source": ["a", "b", "c"], "reference": lines, "systems": {}} | {
        "document_systems": {"web": "The ferryman waits for fog to lift. He counts coins. The widow is aboard."}
    }
    corpus = read_corpus(put(whole), rules=CorpusRules(note=notes.append))
    assert corpus.documents[0].outputs["web"] == (
        "The ferryman waits for fog to lift.",
        "He counts coins.",
        "The widow is aboard.",
    )
    assert len(notes) == 1
    assert "split into segments" in notes[0]
