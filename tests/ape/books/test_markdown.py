"""Markdown: every block can be edited, inline mark-up becomes marks, the rest is unchanged."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ape.books.markdown import MarkdownBook, open_markdown
from ape.errors import InputError

SAMPLE = """\
---
title: "The *Ferry*"
---

Preface in one line.

# The *Ferry* #

The ferryman had **never** learned to swim, which
he told [everyone](http://example.org "A *title*") before
they had paid.[^1]

Second chapter
--------------

> “Sit in the middle,” he said,
> “and keep your `oars` in.”

* One tight item
* Another, with _care_
  on two lines

1. A loose item

   with a second paragraph

```python
# Not a heading
print("*not emphasis*")
```

    indented code

<div class="x">
Not *ours*.
</div>

| Name | What \\| it is |
|:-----|---------------|
| Otto | a *cat*       |
| Anna |               |

See [the map][map], [map] and ![a picture](map.png).\\
A new line.  
Another.

* * *

[map]: http://example.org/map "Map"
[^1]: In coins, *never* in notes.
"""  # noqa: W291

TEXTS = [
    "Preface in one line.",
    "The ⟦1⟧Ferry⟦/1⟧",
    "The ferryman had ⟦1⟧never⟦/1⟧ learned to swim, which he told ⟦2⟧everyone⟦/2⟧ before they had paid.",
    "Second chapter",
    "“Sit in the middle,” he said, “and keep your ⟦1/⟧ in.”",
    "One tight item",
    "Another, with ⟦1⟧care⟦/1⟧ on two lines",
    "A loose item",
    "with a second paragraph",
    *["Name", "What | it is", "Otto", "a ⟦1⟧cat⟦/1⟧", "Anna"],
    "See ⟦1⟧the map⟦/1⟧, ⟦2⟧map⟦/2⟧ and ⟦3/⟧.⟦4/⟧A new line.⟦5/⟧Another.",
    "In coins, ⟦1⟧never⟦/1⟧ in notes.",
]


def book(path: Path, text: str | bytes, *, encoding: str | None = None) -> MarkdownBook:
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding or "utf-8"))
    return open_markdown(path, encoding=encoding)


def written(a_book: MarkdownBook, new: dict[str, str] | None = None) -> str:
    out = io.BytesIO()
    a_book.write(out, (new or {}).get)
    return out.getvalue().decode(a_book.encoding.name)


def edited(path: Path, text: str, new: str) -> str:
    """Write a file of one paragraph with a new text."""
    return written(book(path, text), {"p1": new})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.md"


def test_every_block_of_text_is_a_paragraph_and_nothing_else_is(path: Path) -> None:
    assert [item.text for item in book(path, SAMPLE).paragraphs()] == TEXTS


def test_shapes_are_those_of_html(path: Path) -> None:
    assert [item.shape for item in book(path, SAMPLE).paragraphs()] == (
        ["p", "h1", "p", "h2", "p", "li", "li", "p", "p", "th", "th", "td", "td", "td", "p", "p"]
    )


def test_chapters_begin_at_headings_of_the_first_two_levels(path: Path) -> None:
    found = book(path, "# One\n\na\n\n### Not a chapter\n\nb\n\nTwo\n---\n\nc\n").paragraphs()
    assert [(item.chapter, item.title) for item in found] == [(0, "One")] * 4 + [(1, "Two")] * 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("cut", [None, -1, -8])
def test_an_unedited_file_is_byte_identical(path: Path, end: str, encoding: str, cut: int | None) -> None:
    content = SAMPLE[:cut].replace("\n", end).encode(encoding)
    path.write_bytes(content)
    a_book = open_markdown(path, encoding=encoding)
    same = {item.id: item.text for item in a_book.paragraphs()}
    assert len(same) == len(TEXTS)
    for new in ({}, same):
        out = io.BytesIO()
        assert a_book.write(out, new.get).replaced == 0
        assert out.getvalue() == content


PIECES = [
    *["word", " ", "\n", "\n\n", "*", "**", "_", "`", "[", "](x)", "> ", "- ", "1. ", "#", "# ", "|", "---", "=="],
    *["\n: ", "\n:::", "\n$$", "$$\n", "\n| ", "\n\n| "],
    *["\n\n```\n", "<b>", "</b>", "![", "\\", "&amp;", "  \n", "    ", "\t", "~~", "[^1]", "[^1]: ", "长"],
]


@settings(max_examples=150)
@given(parts=st.lists(st.sampled_from(PIECES), max_size=30))
@example(parts=["word", "\n: ", "word", "\n: ", "word", "\n: ", "word"])
def test_any_file_is_given_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    text = "".join(parts)
    a_book = book(tmp_path_factory.getbasetemp() / "any.md", text)
    assert written(a_book) == text
    # Replacing one text by another of the same marks leaves all others as they were.
    found = list(a_book.paragraphs())
    for item in found:
        if not item.skip:
            again = written(a_book, {item.id: item.text + " end"})
            others = list(book(a_book.path.with_name("again.md"), again).paragraphs())
            assert len(others) == len(found)
            assert [one.text for one in others if one.id != item.id] == [one.text for one in found if one.id != item.id]


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("A *b* c.", "⟦1⟧B⟦/1⟧ and c.", "*B* and c."),
        ("*a* and **b**", "⟦2⟧b⟦/2⟧ or ⟦1⟧a⟦/1⟧", "**b** or *a*"),
        ("**all of it**", "all of this", "**all of this**"),
        ("a [link](x 'y z') b", "b ⟦1⟧Link⟦/1⟧ a", "b [Link](x 'y z') a"),
        ("Plain.", "Plain 2*3*4 text.", "Plain 2\\*3\\*4 text."),
        ("Plain.", "snake_case stays", "snake_case stays"),
        ("Plain.", "# of things", "\\# of things"),
        ("Plain.", "1. of things", "1\\. of things"),
        ("Plain.", "two\n\nparts", "two parts"),
        ("Plain.", "a <b> & c", "a \\<b\\> \\& c"),
        ("a *b* c", "a⟦1⟧ b ⟦/1⟧c", "a<em> b </em>c"),
        ("a _b_ c", "a⟦1⟧b⟦/1⟧c", "a<em>b</em>c"),
        ("# A *b* #", "⟦1⟧B⟦/1⟧ a", "# *B* a #"),
        ("A\n===", "B", "B\n==="),
        ("A\n===", "- B", "\\- B\n==="),
        ("> a\n> b", "c", "> c"),
        ("- a\n  b", "c", "- c"),
        ("[a] b\n\n[a]: x", "⟦1⟧c⟦/1⟧ b", "[c][a] b\n\n[a]: x"),
        ("[^1]: Note.", "New note.", "[^1]: New note."),
        ("Text.[^1]", "New text.", "New text.[^1]"),
    ],
)
def test_a_new_text_is_spelled_so_that_it_says_what_it_should(path: Path, old: str, new: str, result: str) -> None:
    assert edited(path, old + "\n", new) == result + "\n"


def test_wrapped_paragraphs_are_wrapped_again_behind_their_quote_marks(path: Path) -> None:
    quote = (
        "> “Sit in the middle of the boat,” said the old ferryman,\n"
        "> “and keep your `oars` in, for the fish are hungry\n"
        "> today.”\n"
    )
    new = (
        "“Sit down,” he said, “keep still, and by all that is holy do not put your ⟦1/⟧ where the fish of "
        "this river can see them.”"
    )
    text = written(book(path, f"# One\n\n{quote}\nEnd.\n"), {"p2": new})
    assert text.startswith("# One\n\n> ")
    assert text.endswith("\n\nEnd.\n")
    lines = text.splitlines()[2:-2]
    assert len(lines) == 3
    assert all(line.startswith("> ") and len(line) <= 58 for line in lines)
    assert " ".join(line[2:] for line in lines) == new.replace("⟦1/⟧", "`oars`")


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        # A line stays a line, however long.
        ("- One item", "One item that is much longer than it was", "- One item that is much longer than it was"),
        # One sentence a line.
        ("He went.\nShe stayed.", "So he went away. And she stayed.", "So he went away.\nAnd she stayed."),
        ("> He went.\n> It rained.", "He did go. It rained.", "> He did go.\n> It rained."),
        ("- a b\n  c d\n- e", "a b b b b b c d", "- a b b b b b\n  c d\n- e"),
        # Verse, and verse whose lines end hard.
        ("The sea\nthe night\nthe day", "A sea, the dark night, the day", "A sea,\nthe dark night,\nthe day"),
        ("The sea,  \nthe day", "The wide sea,⟦1/⟧one day", "The wide sea,  \none day"),
        # Lines that leave out their sign get it, for after it fewer things would begin a block.
        ("> a\nb c", "a d b 10. c", "> a\n> d b 10. c"),
        ("- a\nb c", "a d b c", "- a\n  d b c"),
        # No line begins with what would be read as a block.
        ("so\nmany", "so - many", "so\n\\- many"),
        ("他走了。\n她留下。", "他走开了。她留下。", "他走开了。\n她留下。"),
    ],
)
def test_line_ends_that_are_no_wrapping_stay_at_their_words(path: Path, old: str, new: str, result: str) -> None:
    assert edited(path, old + "\n", new) == result + "\n"


PANDOC = """\
| The sea is calm,
|     the *night* is long,
|
| the day of the end.

::: {.note}
A note here.
:::

::::: warning
- An item
:::::

The ferry
: A boat that crosses
  a river

: It is late.

Oars
~ Two sticks

$$ the formula = x $$

Where
$$
a = b
$$
is true.

```{=html}
<b>raw</b>
```

\\newpage
"""


def test_blocks_of_pandoc_keep_their_signs_and_lines(path: Path) -> None:
    a_book = book(path, PANDOC)
    found = list(a_book.paragraphs())
    assert [item.text for item in found] == [
        "The sea is calm,⟦1/⟧the ⟦2⟧night⟦/2⟧ is long,⟦3/⟧⟦4/⟧the day of the end.",
        "A note here.",
        "An item",
        *["The ferry", "A boat that crosses a river", "It is late.", "Oars", "Two sticks"],
        *["Where", "is true.", "\\newpage"],
    ]
    assert [item.id for item in found if item.skip] == ["p11"]
    changes = [("calm", "quite calm"), ("A note", "The note"), ("An item", "One item"), ("a river", "the river")]
    changes += [("late", "very late"), ("sticks", "long sticks"), ("is true", "is wrong")]
    for old, new in changes:
        item = next(item for item in found if old in item.text)
        assert written(a_book, {item.id: item.text.replace(old, new)}) == PANDOC.replace(old, new, 1)


@pytest.mark.parametrize("new", ["::: so", "| so", ": so", "~ so", "$$ so $$"])
def test_a_text_that_looks_like_a_block_of_pandoc_is_escaped(path: Path, new: str) -> None:
    a_book = book(path.with_name("new.md"), edited(path, "Plain.\n", new))
    assert [item.text for item in a_book.paragraphs()] == [new]


def test_a_colon_that_begins_a_line_of_a_wrapped_text_is_no_definition(path: Path) -> None:
    a_book = book(path, "Il ouvrit la porte\net il dit une chose\n: la mer est calme.\n")
    assert [item.text for item in a_book.paragraphs()] == ["Il ouvrit la porte et il dit une chose : la mer est calme."]


def test_a_dash_by_itself_at_the_end_of_a_line_is_followed_by_a_space(path: Path) -> None:
    assert next(book(path, "so \\-\nmany\n").paragraphs()).text == "so - many"


def test_characters_stay_spelled_as_they_were(path: Path) -> None:
    old = "Salt &amp; pepper, 5 \\* 6,&nbsp;caf&eacute;\n"
    new = "Salt & pepper & oil, 5 * 7,\u00a0café"
    assert edited(path, old, new) == "Salt &amp; pepper &amp; oil, 5 \\* 7,&nbsp;caf&eacute;\n"


def test_cells_keep_their_frames(path: Path) -> None:
    a_book = book(path, SAMPLE)
    new = written(a_book, {"p11": "What | or who", "p13": "one ⟦1⟧tom⟦/1⟧ cat"})
    assert new == SAMPLE.replace("What \\| it is", "What \\| or who").replace("a *cat*", "one *tom* cat")


def test_what_the_encoding_lacks_becomes_a_reference(path: Path) -> None:
    a_book = book(path, "Un été.\n", encoding="iso8859-1")
    out = io.BytesIO()
    a_book.write(out, {"p1": "“Été.”"}.get)
    assert out.getvalue() == b"&#8220;\xc9t\xe9.&#8221;\n"


def test_lost_marks_are_refused(path: Path) -> None:
    with pytest.raises(InputError, match="Paragraph p1 can't be written: The mark ⟦1⟧ is missing"):
        edited(path, "A *b* c.\n", "A b c.")


def test_our_own_marks_in_the_file_are_skipped(path: Path) -> None:
    assert [item.skip for item in book(path, "A ⟦1⟧ b\n\n---\n\n12\n\nc\n").paragraphs()] == [
        "has marks of ours in it",
        "no words in it",
        "",
    ]


def test_code_that_looks_like_a_heading_is_never_cut_through(path: Path) -> None:
    code = "```\n" + "\n# comment in code\n" * 5000 + "```\n\n"
    a_book = book(path, f"# One\n\n{code}Text.\n\n{code}# Two\n")
    assert [item.text for item in a_book.paragraphs()] == ["One", "Text.", "Two"]
    assert written(a_book) == path.read_text()


def test_links_know_definitions_from_anywhere_in_the_file(path: Path) -> None:
    filler = "Some words to fill the page.\n\n" * 3000
    a_book = book(path, f"See [the map][m].\n\n{filler}[m]: http://example.org\n")
    assert next(a_book.paragraphs()).text == "See ⟦1⟧the map⟦/1⟧."


def test_memory_does_not_grow_with_the_book(path: Path) -> None:
    def peak(times: int) -> int:
        body = "# Heading\n\n" + "The ferryman had never learned to swim. " * 40 + "\n\n- one\n- two\n\n"
        path.write_text(body * times)
        a_book = open_markdown(path)
        tracemalloc.start()
        for _ in a_book.paragraphs():
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    small = peak(80)
    assert peak(240) < 1.3 * small


@pytest.mark.parametrize("frame", ["{}", "| {} | b |\n|-|-|\n| a | {} |", "# {}", "- {}"])
def test_a_text_that_no_model_takes_is_left_as_it_is_without_reading_its_marks(path: Path, frame: str) -> None:
    """Reading a megabyte of marks takes ten seconds, and a plan reads its book several times."""
    text = f"Before.\n\n{frame.format('*a* ' * 25_001, 'c')}\n\nAfter *it*.\n"
    read = book(path, text)
    [long] = [one for one in read.paragraphs() if one.skip.startswith("longer than")]
    assert "⟦" not in long.text
    assert [one.text for one in read.paragraphs() if one.text.startswith(("Before", "After"))] == [
        "Before.",
        "After ⟦1⟧it⟦/1⟧.",
    ]
    assert written(read) == text
