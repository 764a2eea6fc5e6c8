"""Word documents: runs become a text with marks and back, and python-docx reads what we wrote."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.docx import DocxBook, open_docx
from ape.errors import InputError

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

RICH = """\
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r w:rsidR="00AB"><w:t>Chapter </w:t></w:r><w:r><w:t>One</w:t></w:r></w:p>
<w:p><w:bookmarkStart w:id="0" w:name="x"/><w:r><w:tab/><w:t xml:space="preserve">The ferry </w:t></w:r><w:proofErr
 w:type="spellStart"/><w:r><w:rPr><w:lang w:val="en-GB"/></w:rPr><w:t>was</w:t></w:r><w:r><w:t xml:space="preserve"> </w:t>
 </w:r><w:r><w:rPr><w:i/></w:rPr><w:t>very</w:t></w:r><w:r><w:t xml:space="preserve"> late &amp; cold</w:t></w:r
 ><w:r><w:footnoteReference w:id="2"/></w:r><w:bookmarkEnd w:id="0"/></w:p>
<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="rId9"><w:r><w:rPr><w:rStyle w:val="Hyperlink"/>
</w:rPr><w:t>the map</w:t></w:r></w:hyperlink><w:r><w:t xml:space="preserve"> or</w:t><w:br/><w:t>ask</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">On page </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE
</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar
 w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> it ends.</w:t></w:r></w:p>
<w:p><w:r><w:t>Kept </w:t></w:r><w:ins w:id="5" w:author="A"><w:r><w:t>added</w:t></w:r></w:ins></w:p>
<w:p><w:r><w:t>* * *</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>In a cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>Contents</w:t></w:r></w:p>
<w:p><w:r><w:t>Chapter One ... 1</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>All bold</w:t></w:r></w:p>
"""  # noqa: E501
FOOTNOTES = """\
<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> By an hour.</w:t></w:r></w:p></w:footnote>
</w:footnotes>"""  # noqa: E501

EXPECTED = [
    ("document#1", "h1", "ChapterOne", ""),
    ("document#2", "p", "The ferry was ⟦1⟧very⟦/1⟧ late & cold", ""),
    ("document#3", "p", "See ⟦1⟧the map⟦/1⟧ or⟦2/⟧ask", ""),
    ("document#4", "p", "On page ⟦1/⟧ it ends.", ""),
    ("document#5", "p", "Kept", "has tracked changes"),
    ("document#6", "p", "* * *", "no words in it"),
    ("document#7", "td", "In a cell", ""),
    ("document#8", "p", "Contents", "made by a field"),
    ("document#9", "p", "Chapter One ... 1", "made by a field"),
    ("document#10", "li", "All bold", ""),
    ("footnotes#1", "p", "By an hour.", ""),
]


def rich(path: Path) -> Path:
    """A document of python-docx with a custom body and notes."""
    whole = docx.Document()
    body = whole.element.body
    for element in parse_xml(f'<w:body xmlns:w="{W}" xmlns:r="{R}">{RICH}</w:body>'):
        body.insert(len(body) - 1, element)
    held = io.BytesIO()
    whole.save(held)
    with zipfile.ZipFile(held) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
        new.writestr("word/footnotes.xml", FOOTNOTES.replace("{W}", W))
    return path


def written(book: DocxBook, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    book.write(out, (new or {}).get)
    return out.getvalue()


def texts(content: bytes) -> list[str]:
    """The paragraphs of the body as python-docx reads them."""
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(content)).paragraphs]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.docx"


def test_runs_are_one_text_with_marks_where_something_changes(path: Path) -> None:
    book = open_docx(rich(path))
    assert [(item.id, item.shape, item.text, item.skip) for item in book.paragraphs()] == EXPECTED
    assert book.language == "en"


def test_headings_are_chapters_and_notes_come_last(path: Path) -> None:
    whole = docx.Document()
    own = whole.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = whole.styles["Heading 1"]
    whole.add_heading("One", 1)
    whole.add_paragraph("Text.")
    whole.add_heading("Two", 2)
    whole.add_heading("Not a chapter", 3)
    whole.add_paragraph("Three", style="Kapitel")
    whole.save(str(path))
    found = [(item.chapter, item.title, item.shape) for item in open_docx(path).paragraphs()]
    assert found == [(0, "One", "h1"), (0, "One", "p"), (0, "One", "h2"), (0, "One", "h3"), (1, "Three", "h1")]
    last = list(open_docx(rich(path)).paragraphs())[-1]
    assert (last.chapter, last.title) == (1, "Footnotes")


def test_an_unedited_document_is_byte_identical(path: Path) -> None:
    book = open_docx(rich(path))
    same = {item.id: item.text for item in book.paragraphs()}
    assert written(book) == written(book, same) == path.read_bytes()


def test_a_new_text_keeps_its_formatting_and_all_else_stays(path: Path) -> None:
    book = open_docx(rich(path))
    new = {
        "document#2": "It was ⟦1⟧much too⟦/1⟧ late  & “cold” <brr>",
        "document#3": "Or⟦2/⟧ask for ⟦1⟧a map⟦/1⟧",
        "footnotes#1": "By two hours.",
        "document#5": "never",
    }
    content = written(book, new)
    before, after = (texts(data) for data in (path.read_bytes(), content))
    assert after[1:3] == ["\tIt was much too late  & “cold” <brr>", "Or\nask for a map"]
    assert [text for at, text in enumerate(after) if at not in (1, 2)] == [
        text for at, text in enumerate(before) if at not in (1, 2)
    ]
    paragraph = docx.Document(io.BytesIO(content)).paragraphs[1]
    assert [run.text for run in paragraph.runs if run.italic] == ["much too"]
    link = docx.Document(io.BytesIO(content)).paragraphs[2].hyperlinks[0]
    assert (link.text, link.runs[0]._element.style) == ("a map", "Hyperlink")
    assert "footnoteReference" in paragraph._element.xml
    path.with_name("again.docx").write_bytes(content)
    again = {item.id: item.text for item in open_docx(path.with_name("again.docx")).paragraphs()}
    del new["document#5"]
    new["document#3"] = "Or⟦1/⟧ask for ⟦2⟧a map⟦/2⟧"  # renumbered in their new order
    assert again == {item[0]: item[2] for item in EXPECTED} | new


def test_all_other_entries_keep_their_bytes(path: Path) -> None:
    book = open_docx(rich(path))
    content = written(book, {"document#7": "In the cell"})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(io.BytesIO(content)) as new:
        assert old.namelist() == new.namelist()
        changed = [name for name in old.namelist() if old.read(name) != new.read(name)]
        assert changed == ["word/document.xml"]
        assert new.read(changed[0]) == old.read(changed[0]).replace(
            b"<w:r><w:t>In a cell</w:t></w:r>", b'<w:r><w:t xml:space="preserve">In the cell</w:t></w:r>'
        )


def test_bold_text_that_is_all_of_it_stays_bold(path: Path) -> None:
    content = written(open_docx(rich(path)), {"document#10": "All bold, still"})
    last = docx.Document(io.BytesIO(content)).paragraphs[-1]
    assert [(run.text, run.bold) for run in last.runs] == [("All bold, still", True)]


def test_lost_marks_are_refused(path: Path) -> None:
    with pytest.raises(InputError, match="Paragraph document#2 can't be written: The mark ⟦1⟧ is missing"):
        written(open_docx(rich(path)), {"document#2": "It was very late"})


@settings(max_examples=12, deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from(["a", "b c", " ", "d ", " é", "\t", "\n", "1"]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_a_text_put_back_says_what_it_said(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[str, bool, bool]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.docx"
    whole = docx.Document()
    paragraph = whole.add_paragraph()
    for text, bold, italic in runs:
        run = paragraph.add_run(text)
        run.bold, run.italic = bold or None, italic or None
    whole.save(str(path))
    book = open_docx(path)
    assert written(book) == path.read_bytes()
    for item in book.paragraphs():
        if not item.skip:
            read = docx.Document(io.BytesIO(written(book, {item.id: item.text + "!"}))).paragraphs[0]
            old = "".join(text for text, _, _ in runs)
            assert read.text.replace("!", "", 1) == old
            assert {run.text.strip() for run in read.runs if run.bold} - {"", "!"} or not any(
                text.strip() and bold for text, bold, _ in runs
            )


def packed(path: Path, entries: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return path


RELATIONS = f'<R><Relationship Id="a" Type="{R}/officeDocument" Target="word/document.xml"/></R>'


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{0}</wps:txbx></w:drawing></mc:Choice>"
    "<mc:Fallback><w:pict><v:textbox>{0}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
).format(f"<w:txbxContent><w:p>{run('In a ')}{run('box &amp;c.')}</w:p><w:p>{run('Two')}</w:p></w:txbxContent>")


@pytest.mark.parametrize("beside", ["", run("Beside it.")])
def test_text_boxes_are_shown_and_left_alone(path: Path, beside: str) -> None:
    names = " ".join(f'xmlns:{prefix}="{prefix}"' for prefix in ("mc", "wps", "v"))
    body = f"<w:body><w:p>{run('Before.')}</w:p><w:p>{beside}{BOX}</w:p><w:p>{run('After.')}</w:p></w:body>"
    whole = f'<w:document xmlns:w="{W}" {names}>{body}</w:document>'
    book = open_docx(packed(path, {"_rels/.rels": RELATIONS, "word/document.xml": whole}))
    boxed = [("document#box1", "In a box &c."), ("document#box2", "Two")]
    found = list(book.paragraphs())
    assert [(p.id, p.text) for p in found if p.skip == "in a text box"] == boxed
    assert [p.text for p in found if not p.skip] == ["Before.", *["Beside it."] * bool(beside), "After."]
    out = io.BytesIO()
    result = book.write(out, {"document#1": "Ahead.", "document#box1": "No."}.get)
    assert (result.paragraphs, result.replaced) == (len(found), 1)
    written_whole = zipfile.ZipFile(out).read("word/document.xml").decode()
    assert written_whole == whole.replace("Before.", "Ahead.")


CONTROL = '<w:sdtPr><w:alias w:val="Place"/></w:sdtPr><w:sdtEndPr/>'


@pytest.mark.parametrize(
    ("inside", "text", "skip"),
    [
        ("<w:sdt>{control}<w:sdtContent>{run}</w:sdtContent></w:sdt>", "The ferry was late.", ""),
        ("<w:customXml w:element='e'><w:customXmlPr/>{run}</w:customXml>", "The ferry was late.", ""),
        ("<w:dir w:val='rtl'>{run}</w:dir>", "The ferry was late.", ""),
        ("<w:fldSimple w:instr='TITLE'>{run}</w:fldSimple>", "The ferry was late.", "made by a field"),
        (
            "<w:r><w:ruby><w:rt>{run}</w:rt><w:rubyBase>{run}</w:rubyBase></w:ruby></w:r>",
            "The ferry was late.",
            "all of it is ruby",
        ),
    ],
)
def test_words_in_a_wrapping_of_their_own_are_edited_or_listed_never_lost(
    path: Path, inside: str, text: str, skip: str
) -> None:
    held = inside.format(control=CONTROL, run=run("The ferry was late."))
    document = f'<w:document xmlns:w="{W}"><w:body><w:p>{held}</w:p></w:body></w:document>'
    book = open_docx(packed(path, {"_rels/.rels": RELATIONS, "word/document.xml": document}))
    (found,) = book.paragraphs()
    assert (found.text, found.skip) == (text, skip)
    if not skip:
        new = zipfile.ZipFile(io.BytesIO(written(book, {found.id: "It was late."})))
        expected = document.replace("The ferry was late.", "It was late.")
        assert new.read("word/document.xml").decode() == expected


def test_the_words_of_a_content_control_are_shown_to_the_model(path: Path) -> None:
    control = f"<w:sdt>{CONTROL}<w:sdtContent>{run('Brest')}</w:sdtContent></w:sdt>"
    body = f"<w:p>{run('To ')}{control}{run(' by sea.')}</w:p>"
    document = f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    book = open_docx(packed(path, {"_rels/.rels": RELATIONS, "word/document.xml": document}))
    (found,) = book.paragraphs()
    assert found.text == "To ⟦1⟧Brest⟦/1⟧ by sea."


SNIPPETS = [
    *[run("a"), run("b c "), run(" "), run("d", "<w:i/>"), run(" e", "<w:i/>"), run("f ", "<w:b/>"), run("&lt;&amp;")],
    *[
        run("g", '<w:lang w:val="fr"/>'),
        "<w:r><w:tab/></w:r>",
        '<w:r><w:t>h</w:t><w:br w:type="page"/><w:t>i</w:t></w:r>',
    ],
    f'<w:hyperlink r:id="r1">{run("j", "<w:u/>")}{run(" k")}</w:hyperlink>',
    f'<w:hyperlink r:id="r2">{run("l", "<w:u/>")}</w:hyperlink>',
    *['<w:hyperlink r:id="r3"/>', '<w:bookmarkStart w:id="1"/>', '<w:proofErr w:type="gramStart"/>', "<!-- note -->"],
    f'<w:r><w:fldChar w:fldCharType="begin"/></w:r>{run("m")}<w:r><w:fldChar w:fldCharType="end"/></w:r>',
    *[
        "<m:oMath><m:t>x</m:t></m:oMath>",
        f"<w:sdt>{CONTROL}<w:sdtContent>{run('n')}{run('q', '<w:i/>')}</w:sdtContent></w:sdt>",
        f"<w:sdt>{CONTROL}<w:sdtContent/></w:sdt>",
        f"<w:customXml w:element='e'><w:customXmlPr><w:attr/></w:customXmlPr>{run('r')}</w:customXml>",
        f"<w:fldSimple w:instr='PAGE'>{run('7')}</w:fldSimple>",
    ],
    "<w:r><w:t>o</w:t><w:noBreakHyphen/><w:t>p</w:t></w:r>",
]


@settings(max_examples=150, deadline=None)
@given(snippets=st.lists(st.sampled_from(SNIPPETS), min_size=1, max_size=9))
def test_any_paragraph_takes_its_text_again(tmp_path_factory: pytest.TempPathFactory, snippets: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "snippets.docx"
    body = f"<w:p><w:pPr><w:jc/></w:pPr>{''.join(snippets)}</w:p>"
    document = f'<w:document xmlns:w="{W}" xmlns:r="{R}" xmlns:m="m"><w:body>{body}</w:body></w:document>'
    book = open_docx(packed(path, {"_rels/.rels": RELATIONS, "word/document.xml": document}))
    assert written(book) == path.read_bytes()
    for item in book.paragraphs():
        if not item.skip:
            path.with_name("again.docx").write_bytes(written(book, {item.id: item.text + "!"}))
            again = open_docx(path.with_name("again.docx"))
            assert [other.text for other in again.paragraphs()] == [item.text + "!"]


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"a.txt": "a"}, "is not a Word document"),
        ({"_rels/.rels": RELATIONS}, "is not a Word document"),
        ({"../a": "a"}, "points outside"),
    ],
)
def test_other_archives_are_refused(path: Path, entries: dict[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        open_docx(packed(path, entries))


def test_entities_are_refused(path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]><w:document><w:p><w:t>&a;</w:t></w:p></w:document>'
    book = open_docx(packed(path, {"_rels/.rels": RELATIONS, "word/document.xml": bomb}))
    with pytest.raises(InputError, match="XML entity"):
        list(book.paragraphs())


def test_what_is_no_zip_is_refused(path: Path) -> None:
    path.write_bytes(b"plain text")
    with pytest.raises(InputError, match="not a zip file"):
        open_docx(path)
