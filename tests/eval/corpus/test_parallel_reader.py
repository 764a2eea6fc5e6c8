"""Parallel text files: documents by marks, blank lines or ids, and files that do not match."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.corpus.parallel_reader import DocumentBoundaries
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write lines to a file."""

    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


def read(
    system: Path,
    *references: Path,
    source: Path | None = None,
    documents: DocumentBoundaries = "auto",
    empty: bool = False,
) -> Corpus:
    rules = CorpusRules(allow_empty=empty)
    return read_corpus(systems={"s": system}, references=references, source=source, documents=documents, rules=rules)


def ids(corpus: Corpus) -> list[tuple[str, int]]:
    return [(one.id, len(one.outputs["s"])) for one in corpus.documents]


@pytest.mark.parametrize(
    ("marks", "names"),
    [
        (("[doc]", "[doc]"), ["1", "2"]),
        (("[doc one]", "[doc: two]"), ["one", "two"]),
        (('<doc docid="one">', "<doc id=two>"), ["one", "two"]),
        (("# newdoc id = one", "# newdoc id = two"), ["one", "two"]),
        (("", ""), ["1", "2"]),
    ],
)
def test_marks_and_blank_lines_separate_documents(put: Put, marks: tuple[str, str], names: list[str]) -> None:
    system = put("s.txt", marks[0], "A boat.", "Two boats.", marks[1], "A bridge.")
    reference = put("r.txt", marks[0], "Boat.", "Boats.", marks[1], "Bridge.")
    corpus = read(system, reference)
    assert ids(corpus) == [(names[0], 2), (names[1], 1)]
    assert corpus.documents[1].references == (("Bridge.",),)


def test_closing_marks_and_blank_lines_next_to_marks_are_not_segments(put: Put) -> None:
    lines = ("<doc id=a>", "A boat.", "</doc>", "", "<doc id=b>", "A bridge.", "</doc>")
    assert ids(read(put("s.txt", *lines), put("r.txt", *lines))) == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("last", ["[doc 3]", "<doc id=3>"])
def test_an_empty_document_at_the_end_is_refused(put: Put, last: str) -> None:
    lines = ("[doc 1]", "A boat.", "[doc 2]", "A bridge.", last)
    with pytest.raises(InputError, match=r"Line 5 of r\.txt: document '3' is empty"):
        read(put("s.txt", *lines), put("r.txt", *lines))
    with pytest.raises(InputError, match=r"r\.txt has 3 documents and s\.txt has 2"):
        read(put("s.txt", *lines[:-1]), put("r.txt", *lines))


def test_an_unnamed_mark_at_the_end_starts_no_document(put: Put) -> None:
    lines = ("[doc]", "A boat.", "[doc]", "A bridge.", "[doc]")
    assert ids(read(put("s.txt", *lines), put("r.txt", *lines))) == [("1", 1), ("2", 1)]


def test_a_list_of_ids_separates_documents(put: Put) -> None:
    text = ("A boat.", "A bridge.", "A road.")
    listed = put("docs.txt", "a", "a", "b")
    assert ids(read(put("s.txt", *text), put("r.txt", *text), documents=listed)) == [("a", 2), ("b", 1)]


def test_a_repeated_id_is_refused(put: Put) -> None:
    text = ("A boat.", "A bridge.", "A road.")
    with pytest.raises(InputError, match=r"Line 3 of docs\.txt returns to document 'a'"):
        read(put("s.txt", *text), put("r.txt", *text), documents=put("docs.txt", "a", "b", "a"))


def test_a_list_of_ids_of_another_length_is_refused(put: Put) -> None:
    with pytest.raises(InputError, match=r"docs\.txt has 1 lines and r\.txt has 2"):
        read(put("s.txt", "A", "B"), put("r.txt", "A", "B"), documents=put("docs.txt", "a"))


def test_without_marks_the_text_is_one_document(put: Put) -> None:
    assert ids(read(put("s.txt", "A.", "B."), put("r.txt", "A.", "B."))) == [("1", 2)]


def test_unequal_numbers_of_lines_are_refused(put: Put) -> None:
    with pytest.raises(InputError, match=r"r\.txt.*s\.txt.*2 lines in the first and 3 in the second"):
        read(put("s.txt", "A", "B", "C"), put("r.txt", "A", "B"))


def test_a_missing_line_is_refused_with_its_document(put: Put) -> None:
    reference = put("r.txt", "[doc]", "A", "B", "[doc]", "C", "D")
    system = put("s.txt", "[doc]", "A", "B", "[doc]", "C")
    with pytest.raises(InputError, match=r"line 4 of r\.txt and line 4 of s\.txt"):
        read(system, reference)


def test_a_mark_on_one_side_only_is_refused_with_file_and_line(put: Put) -> None:
    with pytest.raises(InputError, match=r"r\.txt has 1 documents and s\.txt has 2.*line 1 of r\.txt"):
        read(put("s.txt", "A", "[doc]", "B"), put("r.txt", "A", "B"))


def test_a_blank_line_on_one_side_only_is_refused_with_file_and_line(put: Put) -> None:
    with pytest.raises(InputError, match=r"Line 2 of s\.txt is blank, and line 2 of r\.txt is not"):
        read(put("s.txt", "A", "", "C"), put("r.txt", "A", "B", "C"))


def test_marks_of_different_names_are_refused(put: Put) -> None:
    with pytest.raises(InputError, match=r"Line 1 of s\.txt begins document 'b'.*r\.txt begins 'a'"):
        read(put("s.txt", "[doc b]", "A"), put("r.txt", "[doc a]", "A"))


def test_an_empty_document_is_refused(put: Put) -> None:
    lines = ("[doc]", "A", "[doc]", "[doc]", "B")
    with pytest.raises(InputError, match=r"Line 3 of r\.txt: document '2' is empty"):
        read(put("s.txt", *lines), put("r.txt", *lines))


def test_an_empty_output_is_refused_unless_allowed(put: Put) -> None:
    system, reference = put("s.txt", "A", "", "C"), put("r.txt", "A", "B", "C")
    with pytest.raises(InputError, match=r"Line 2 of s\.txt: the output of system 's' is empty.*allow empty"):
        read(system, reference, documents="none")
    corpus = read(system, reference, documents="none", empty=True)
    assert corpus.documents[0].outputs["s"] == ("A", "", "C")


def test_an_empty_source_is_refused(put: Put) -> None:
    texts = put("s.txt", "A", "B"), put("r.txt", "A", "B")
    with pytest.raises(InputError, match=r"Line 2 of f\.txt: the source is empty"):
        read(*texts, source=put("f.txt", "A", " "), documents="none")


def test_missing_segments_of_a_reference_are_noted_and_left_out(put: Put) -> None:
    notes: list[str] = []
    corpus = read_corpus(
        systems={"s": put("s.txt", "A", "B")},
        references=[put("r1.txt", "A", "B"), put("r2.txt", "A", "")],
        documents="none",
        rules=CorpusRules(note=notes.append),
    )
    assert corpus.documents[0].references_of(1) == ("B",)
    assert notes == [
        "Reference 2 lacks 1 of 2 segments; the first is line 2 of r2.txt. "
        "These are scored against the other references only."
    ]


def test_a_segment_that_no_reference_has_is_refused(put: Put) -> None:
    with pytest.raises(InputError, match=r"Line 2 of r\.txt: the only reference is empty"):
        read(put("s.txt", "A", "B"), put("r.txt", "A", ""), documents="none")


def test_empty_and_missing_files_are_refused(put: Put, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.txt has no text"):
        read(put("s.txt"), put("r.txt", "A"))
    with pytest.raises(InputError, match="There is no file"):
        read(tmp_path / "none.txt")


FRENCH = (
    "Le vieux capitaine attendit que le brouillard se lève sur la rivière, puis il fit monter la veuve à bord.",
    "Personne ne parla pendant la traversée, et les enfants regardaient les oiseaux qui volaient vers la mer.",
    "Quand ils furent arrivés de l’autre côté, il compta ses pièces deux fois avant de repartir sans un mot.",
)
ENGLISH = (
    "The old captain waited until the fog had lifted from the river, and then he let the widow come aboard.",
    "Nobody spoke during the crossing, and the children watched the birds that were flying towards the sea.",
    "When they had arrived on the other side he counted his coins twice before he left again without a word.",
)


def test_languages_are_detected(put: Put) -> None:
    corpus = read(put("s.txt", *ENGLISH), put("r.txt", *ENGLISH), source=put("f.txt", *FRENCH))
    assert (corpus.source_language, corpus.target_language) == ("fr", "en")


def test_an_output_in_the_wrong_language_is_refused(put: Put) -> None:
    with pytest.raises(InputError, match=r"Line 1 of s\.txt: system 's' seems to be French.*not English"):
        read(put("s.txt", *FRENCH), put("r.txt", *ENGLISH), source=put("f.txt", *FRENCH))
