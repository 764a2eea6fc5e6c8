"""Plain text: the layout is detected, and an edit changes only its own paragraph."""

from __future__ import annotations

import io
import textwrap
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ape.books.headings import is_heading
from ape.books.txt import ParagraphBreak, TextBook, open_text
from ape.errors import InputError

PROSE = [
    "The night train left the harbour an hour late, and nobody on the platform seemed to mind, least Miss Quill.",
    "She counted her parcels twice. There were seven of them, or eight if one counted the cat, who had not been asked.",
    "“You will want the window,” said the old man opposite, folding a newspaper that was older than the train itself.",
    "Beyond the glass the last lamps of the quay went by one after another, each with its little skirt of rain.",
]
HEADED = ["CHAPTER I", PROSE[0], PROSE[1], "CHAPTER II", PROSE[2], PROSE[3]]


def book(path: Path, text: str, *, encoding: str = "utf-8") -> TextBook:
    path.write_bytes(text.encode(encoding))
    return open_text(path, encoding=encoding)


def written(a_book: TextBook, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    a_book.write(out, (new or {}).get)
    return out.getvalue()


def texts(a_book: TextBook) -> list[str]:
    return [paragraph.text for paragraph in a_book.paragraphs()]


def hard_wrapped(paragraphs: list[str], columns: int = 60, indent: str = "") -> list[str]:
    return [textwrap.fill(text, columns, initial_indent=indent) for text in paragraphs]


def test_one_paragraph_a_line(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(PROSE * 3))
    assert a_book.layout.separator is ParagraphBreak.LINE
    assert texts(a_book) == PROSE * 3


def test_wrapped_paragraphs_between_blank_lines_are_read_as_one_line_each(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n\n".join(hard_wrapped(HEADED)))
    assert (a_book.layout.separator, 50 < a_book.layout.columns <= 60) == (ParagraphBreak.BLANK, True)
    assert texts(a_book) == HEADED


def test_wrapped_paragraphs_may_begin_with_an_indent_only(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(hard_wrapped(PROSE * 2, indent="   ")))
    assert a_book.layout.separator is ParagraphBreak.INDENT
    assert texts(a_book) == PROSE * 2


def test_without_blank_lines_and_indents_a_short_line_ends_a_wrapped_paragraph(tmp_path: Path) -> None:
    starts = [" ".join(textwrap.wrap(f"{text} {text}", 60)[:3]) for text in PROSE]
    paragraphs = [f"{start} and so on until dawn." for start in starts] * 10
    a_book = book(tmp_path / "a.txt", "\n".join(hard_wrapped(paragraphs * 2)))
    assert a_book.layout.separator is ParagraphBreak.SHORT
    assert texts(a_book) == paragraphs * 2


def ragged(paragraphs: int) -> list[str]:
    """Paragraphs whose last lines are short."""
    starts = [" ".join(textwrap.wrap(f"{text} {text}", 60)[:3]) for text in PROSE]
    return [f"{starts[number % 4]} and so on until dawn." for number in range(paragraphs)]


def test_a_last_line_that_would_fill_up_is_made_short(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(hard_wrapped(ragged(40))))
    new = "The train was late again, but by now she had grown quite used to it and slept on."
    out = written(a_book, {"p2": f"{new} {new} {new}"}).decode()
    again = book(tmp_path / "b.txt", out)
    assert texts(again) == [ragged(40)[0], f"{new} {new} {new}", *ragged(40)[2:]]
    assert "\n\n" not in out


def test_a_line_that_can_be_neither_filled_nor_made_short_has_a_blank_one_after_it(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\r\n".join("\r\n".join(hard_wrapped(ragged(40))).splitlines()))
    new = "The train was late again, but by now she was used."
    out = written(a_book, {"p2": new}).decode()
    assert f"\r\n{new}\r\n\r\n" in out
    assert texts(book(tmp_path / "b.txt", out)) == [ragged(40)[0], new, *ragged(40)[2:]]


def test_a_long_first_word_does_not_join_a_paragraph_to_the_one_before(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(hard_wrapped(ragged(40))))
    new = "Incomprehensibilities-of-a-very-long-kind were all that she had heard."
    assert texts(book(tmp_path / "b.txt", written(a_book, {"p3": new}).decode()))[1:3] == [ragged(40)[1], new]


WORD = st.text("abcdefgh", min_size=1, max_size=14)
SENTENCES = st.lists(WORD | st.sampled_from(["so—", "—", "« ah\u00a0! »", "汉字", "well-", "12\u00a0000"]), min_size=1)


# Units that can't be parted, which make lines wider than the margin.
UNPARTED = (
    "ah\u00a0! — — « ah\u00a0! » so— so— 12\u00a0000 well- 汉字 so— so— well- — « ah\u00a0! » — — « ah\u00a0! » abc "
    "abcdefghabcd abcdefghabcd so— well-"
)


@settings(max_examples=60, deadline=None)
@example(new=dict.fromkeys(range(1, 4), UNPARTED))
@given(new=st.dictionaries(st.integers(1, 60), SENTENCES.map(" ".join), min_size=1, max_size=20))
def test_what_is_written_where_short_lines_end_paragraphs_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, new: dict[int, str]
) -> None:
    folder = tmp_path_factory.mktemp("short")
    a_book = book(folder / "a.txt", "\n".join(hard_wrapped(ragged(60))))
    expected = {f"p{n}": text for n, text in enumerate(ragged(60), 1)} | {f"p{n}": f"So {t}." for n, t in new.items()}
    again = book(folder / "b.txt", written(a_book, expected).decode())
    assert again.layout.separator is ParagraphBreak.SHORT
    assert {paragraph.id: paragraph.text for paragraph in again.paragraphs()} == expected


def test_verse_keeps_its_lines(tmp_path: Path) -> None:
    stanzas = ["The rain came down\n  on roof and stone,", "And no one knew\nwhy she had gone\nalone."] * 2
    a_book = book(tmp_path / "a.txt", "\n\n".join(stanzas))
    assert texts(a_book)[:2] == ["The rain came down\non roof and stone,", "And no one knew\nwhy she had gone\nalone."]
    new = written(a_book, {"p1": "The rain fell\non roof and on stone,"})
    assert new == "\n\n".join(["The rain fell\n  on roof and on stone,", *stanzas[1:]]).encode()


def test_chinese_lines_are_joined_without_spaces_and_wrapped_again(tmp_path: Path) -> None:
    text = "夜里下起了雨老人坐在窗前听着屋檐的水声他想起了很久以前的一个朋友那时他们都还年轻住在河边的小镇上。"
    lines = "\n".join(text[at : at + 20] for at in range(0, len(text), 20))
    a_book = book(tmp_path / "a.txt", "\n\n".join([lines] * 6))
    assert texts(a_book) == [text] * 6
    new = written(a_book, {"p1": "“" + text + text}).decode().split("\n\n")[0].split("\n")
    assert "".join(new) == "“" + text + text
    assert max(map(len, new)) <= 20
    assert not any(line.startswith("。") for line in new)


def test_an_edited_paragraph_is_wrapped_to_the_width_it_had(tmp_path: Path) -> None:
    paragraphs = hard_wrapped(HEADED * 2)
    a_book = book(tmp_path / "a.txt", "\r\n\r\n".join(paragraphs).replace("\n", "\r\n").replace("\r\r", "\r"))
    new = written(a_book, {"p2": PROSE[3] + " " + PROSE[2]}).decode().split("\r\n\r\n")
    assert [part.replace("\r\n", "\n") for part in new[2:]] == paragraphs[2:]
    lines = new[1].split("\r\n")
    assert " ".join(lines) == PROSE[3] + " " + PROSE[2]
    assert 50 < max(map(len, lines)) <= a_book.layout.columns


def test_indents_of_an_edited_paragraph_are_kept(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(f"\u3000\u3000{text}  " for text in PROSE))
    assert written(a_book, {"p2": "New\nwords."}).decode().split("\n")[1] == "\u3000\u3000New words.  "


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "cp1252"])
@pytest.mark.parametrize("final", ["", "\n", "\n\n  \n"])
def test_an_unedited_file_is_byte_identical(tmp_path: Path, end: str, encoding: str, final: str) -> None:
    content = ("\n\n".join(hard_wrapped(HEADED)) + final).replace("\n", end).encode(encoding)
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    a_book = open_text(path, encoding=encoding)
    assert written(a_book) == content
    same = {paragraph.id: paragraph.text for paragraph in a_book.paragraphs()}
    assert written(a_book, same) == content


@settings(max_examples=60)
@given(parts=st.lists(st.sampled_from(["word", " ", "  ", "\n", "\r\n", "\r", "\t", "长", "é.", "\x0c", "XII", "-"])))
def test_any_text_is_given_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    a_book = book(tmp_path_factory.getbasetemp() / "any.txt", "".join(parts))
    assert written(a_book) == "".join(parts).encode()


def test_only_the_bytes_of_the_edited_paragraph_change(tmp_path: Path) -> None:
    content = "\n\n".join(hard_wrapped(HEADED)) + "\n"
    a_book = book(tmp_path / "a.txt", content)
    out = io.BytesIO()
    counts = a_book.write(out, {"p3": "Short now."}.get)
    assert (counts.paragraphs, counts.replaced) == (6, 1)
    assert out.getvalue().decode() == content.replace(hard_wrapped(HEADED)[2], "Short now.")


def test_chapters_begin_at_headings(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n\n".join(["A Tale", *HEADED]))
    found = [(paragraph.chapter, paragraph.title, paragraph.shape) for paragraph in a_book.paragraphs()]
    assert found == [
        (0, "", "p"),
        *[(1, "CHAPTER I", "h1"), (1, "CHAPTER I", "p"), (1, "CHAPTER I", "p")],
        *[(2, "CHAPTER II", "h1"), (2, "CHAPTER II", "p"), (2, "CHAPTER II", "p")],
    ]


def test_a_heading_at_the_very_beginning_is_chapter_zero(tmp_path: Path) -> None:
    assert [paragraph.chapter for paragraph in book(tmp_path / "a.txt", "\n".join(HEADED)).paragraphs()] == [
        *[0, 0, 0],
        *[1, 1, 1],
    ]


@pytest.mark.parametrize(
    "line",
    [
        *["Chapter 1", "CHAPTER IV.", "Chapter Four: The Storm", "CHAPTER TWENTY-TWO", "Chapter the First"],
        *["Chapitre premier", "CHAPITRE III — La mer", "Kapitel 7", "Erstes Kapitel", "Capítulo primero", "Глава 12"],
        *["Глава вторая", "第三章", "第十二回 风雪夜归人", "第3話", "XII", "XIV.", "3", "— 4 —", "제3장"],
        *[
            "Prologue",
            "EPILOGUE",
            "序章",
            "Part One",
            "BOOK THE SECOND",
            "Troisième partie",
            "Вторая часть",
            "Zweiter Teil",
            "Segunda parte",
            "Chapter 9\nIn which it rains",
        ],
    ],
)
def test_headings_are_known_by_their_words(line: str) -> None:
    assert is_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        *["Part of him wanted to stay.", "Chapter and verse were quoted.", "I", "CIVIL", "He had 3", "Kapitel"][:2],
        *["CIVIL", "He had 3", "Kapitel"],
        *[
            "Book early, said the sign",
            "Book it.",
            "Part sweetly",
            "La parte",
            "Das Buch",
            "第三章他读了很久",
            "Chapter two,",
        ],
        "Chapter 1 was the part that everyone in the village remembered with some embarrassment.",
    ],
)
def test_sentences_are_no_headings(line: str) -> None:
    assert not is_heading(line)


def test_ornaments_and_our_own_marks_are_skipped(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "* * *\nA text with ⟦1⟧ in it.\nA text.\n1899")
    assert [paragraph.skip for paragraph in a_book.paragraphs()] == [
        "no words in it",
        "has marks of ours in it",
        "",
        "no words in it",
    ]
    assert written(a_book, {"p1": "x", "p2": "y"}) == a_book.path.read_bytes()


def test_a_new_text_that_is_empty_or_has_marks_is_refused(tmp_path: Path) -> None:
    a_book = book(tmp_path / "a.txt", "\n".join(PROSE))
    for new in ("  ", "with ⟦1/⟧ in it"):
        with pytest.raises(InputError, match="Paragraph p2 can't be written"):
            written(a_book, {"p2": new})


def test_a_paragraph_of_thirty_thousand_words_is_one_paragraph(tmp_path: Path) -> None:
    long = "word " * 29_999 + "end."
    a_book = book(tmp_path / "a.txt", f"{PROSE[0]}\n{long}\n{PROSE[1]}\n")
    assert texts(a_book) == [PROSE[0], long, PROSE[1]]


def test_memory_does_not_grow_with_the_book(tmp_path: Path) -> None:
    def peak(times: int) -> int:
        path = tmp_path / "a.txt"
        path.write_text("\n\n".join(hard_wrapped(HEADED)) * times)
        tracemalloc.start()
        for _ in open_text(path).paragraphs():
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    small = peak(300)
    assert peak(1500) < 1.3 * small
