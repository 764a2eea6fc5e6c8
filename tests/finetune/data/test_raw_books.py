"""Paragraphs of raw books, and translators who leave some out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from finetune.data.inputs import BuildInputs, read_inputs
from finetune.data.paragraph import TrainingParagraph
from finetune.data.raw_books import alignment_remarks, summarise_alignment
from finetune.data.recipe import RawBook, make_data_recipe
from finetune.data.row_reader import DefaultLanguages
from tests.ape.books.book_factory import make_epub
from tests.finetune.data.alignment.fake_encoder import Bag
from tests.finetune.data.alignment.test_book_alignment import HUMAN, MT, SOURCE

# Leaves out the second paragraph.
GAPS = [MT[0], MT[2]]


@pytest.fixture
def book(tmp_path: Path) -> RawBook:
    """A small book on disk, with a translator who leaves a paragraph out."""
    for name, text in {"src": SOURCE, "mt": MT, "voss": HUMAN, "haste": GAPS}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    humans = {name: tmp_path / f"{name}.txt" for name in ("voss", "haste")}
    return RawBook(name="mill", source=tmp_path / "src.txt", mt=tmp_path / "mt.txt", humans=humans)


def read(*books: RawBook, languages: DefaultLanguages | None = None, cut: int | None = None) -> list[TrainingParagraph]:
    inputs = BuildInputs(books=books, languages=languages or DefaultLanguages("fr", "en"))
    return read_inputs(inputs, rows_as_book=cut, encoder=Bag())


def test_a_translator_who_has_nothing_for_a_paragraph_is_not_among_its_versions(book: RawBook) -> None:
    found = read(book)
    assert [(one.id, one.source, one.mt) for one in found] == [
        (f"mill:{place}", *pair) for place, pair in enumerate(zip(SOURCE, MT, strict=True))
    ]
    assert [[name for name, _ in one.humans] for one in found] == [["voss", "haste"], ["voss"], ["voss", "haste"]]


def test_what_each_translator_left_out_is_told(book: RawBook) -> None:
    alone = book.model_copy(update={"name": "hasty", "humans": {"haste": book.humans["haste"]}})
    found = read(book, alone)
    summary = summarise_alignment(found, [book, alone], encoder=Bag())
    assert summary == {
        "encoder": "bag",
        "books": {
            "mill": {"paragraphs": 3, "left_out": {"voss": 0, "haste": 1}},
            "hasty": {"paragraphs": 3, "left_out": {"haste": 1}},
        },
    }
    assert alignment_remarks(summary)[0] == "haste has nothing for 1 of the 3 paragraphs of mill."
    assert found[4].humans == ()


def test_a_book_may_be_cut_into_stretches_that_are_split_as_books(book: RawBook) -> None:
    assert [one.book for one in read(book, cut=2)] == ["mill#1", "mill#1", "mill#2"]


def test_languages_that_nobody_gave_are_told_from_the_text(book: RawBook, tmp_path: Path) -> None:
    assert read(book, languages=DefaultLanguages(None, None))[0].pair == "fr-en"
    (tmp_path / "src.txt").write_text("1\n2\n3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"source language .* 'mill' can't be detected") as raised:
        read(book, languages=DefaultLanguages(None, None))
    assert raised.value.field == "source_language"


def test_a_book_says_its_own_languages_or_takes_those_of_the_flags(book: RawBook, tmp_path: Path) -> None:
    config = tmp_path / "build.toml"
    config.write_text(
        '[[books]]\nname = "mill"\nsource = "src.txt"\nmt = "mt.txt"\nsource_language = "fr"\n'
        'humans = { Voss = "voss.txt" }\n',
        encoding="utf-8",
    )
    (first, *_) = read(*make_data_recipe({}, config).books, languages=DefaultLanguages(None, "en"))
    assert (first.pair, first.humans[0][0]) == ("fr-en", "Voss")


def test_an_epub_is_read_as_a_text_is(book: RawBook, tmp_path: Path) -> None:
    marked = [text.replace("vieux", "<i>vieux</i>") for text in SOURCE]
    epubs = book.model_copy(
        update={
            "source": make_epub(tmp_path / "src.epub", paragraphs=[marked[:2], marked[2:]], language="fr"),
            "humans": {"voss": make_epub(tmp_path / "voss.epub", paragraphs=[HUMAN], language="en")},
        }
    )
    assert [(one.source, one.humans[0]) for one in read(epubs)] == [(one.source, one.humans[0]) for one in read(book)]
