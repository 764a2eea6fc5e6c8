from __future__ import annotations

import re
import shutil
import subprocess
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from ape.edits import Edit, Kind, find_edits
from ape.page import Passage, Tally, direction, pieces, write_page
from ape.sample import load_sample
from ape.segment import Segment
from ape.verdict import Decision, Finding, PostEdit, Severity, Usage

HOSTILE = (
    "</p></article><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    "</style><style>main { display: none }</style>\" onmouseover='x' 'single' &amp; & {{ 7 * 7 }} {% raw %}"
    "<!-- 👩‍👩‍👧 \u202eright to left\u202c \u2066isolated\u2069 ]]> \u0000 end"
)


def passage(
    mt: str,
    post_edit: str,
    *,
    source: str = "Il la vit.",
    languages: tuple[str, str] = ("fr", "en"),
    findings: tuple[Finding, ...] = (),
    decision: Decision | None = None,
    chapter: str = "",
    heading: str = "p1",
    model: str = "m",
) -> Passage:
    edits = find_edits(mt, post_edit, language=languages[1])
    made = decision or (Decision.EDITED if edits else Decision.UNCHANGED)
    answer = PostEdit(heading, post_edit, made, findings, edits, 0.25, model, "chat@3f2a", Usage(1000, 20))
    return Passage(heading, Segment(source, mt, *languages), answer, chapter)


def rejected(mt: str, message: str) -> Passage:
    findings = (
        Finding("length", Severity.REJECT, message, attempt=1),
        Finding("names", Severity.WARN, "Anna is missing", attempt=2),
    )
    return passage(mt, mt, findings=findings, decision=Decision.REJECTED)


class Element:
    """A node of the parsed page: enough of a document tree to ask what is where."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes
        self.children: list[Element | str] = []

    def all(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [e for e in self.walk() if e.tag == tag and wanted.items() <= e.attributes.items()]

    def walk(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


class Tree(HTMLParser):
    """Parses strictly: every element that is opened must be closed, in order."""

    VOID = frozenset({"meta", "input", "rect", "link"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(page)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page_of(folder: Path, *passages: Passage, title: str = "A Book", **more: str) -> Element:
    path = folder / "page.html"
    write_page(path, iter(passages), title=title, subtitle=more.pop("subtitle", ""), facts=more)
    return Tree(path.read_text(encoding="utf-8")).root


def test_deleted_words_are_struck_and_inserted_words_marked_with_their_kind(tmp_path: Path) -> None:
    page = page_of(tmp_path, passage("Her coat was wet.", "His coat was wet."))
    [deleted] = page.all("div", class_="mt")[0].all("del")
    [inserted] = page.all("p", class_="text")[2].all("ins")
    assert (deleted.text(), inserted.text()) == ("Her", "His")
    assert deleted.attributes["data-kind"] == inserted.attributes["data-kind"] == "pronoun"
    assert inserted.attributes["title"] == "pronoun: Her → His"


def test_the_three_columns_hold_exactly_the_three_texts(tmp_path: Path) -> None:
    sample = load_sample("fr-en")
    rows = [
        passage(paragraph.mt, paragraph.good, source=paragraph.source, heading=paragraph.id)
        for paragraph in sample.paragraphs
    ]
    page = page_of(tmp_path, *rows)
    for article, paragraph in zip(page.all("article"), sample.paragraphs, strict=True):
        shown = [text.text() for text in article.all("p", class_="text")]
        assert shown == [paragraph.source, paragraph.mt, paragraph.good]
        assert article.all("h3")[0].text() == paragraph.id


@pytest.mark.parametrize("side", ["mt", "post_edit"])
def test_pieces_joined_give_the_text_back_and_leave_odd_spans_unmarked(side: str) -> None:
    spans = [(4, 8), (-1, 2), (3, 3), (6, 9), (10, 99), (8, 9)]
    edits = [Edit(Kind.WORD_CHOICE, "", "", span, span) for span in spans]
    cut = list(pieces("abc def ghi", edits, "mt" if side == "mt" else "post_edit"))
    assert "".join(piece.text for piece in cut) == "abc def ghi"
    assert [piece.text for piece in cut if piece.edit] == [
        "def",
        "g",
    ]  # the space that "def " ends in is left out


def test_every_kind_of_edit_has_a_look_of_its_own(tmp_path: Path) -> None:
    [style] = page_of(tmp_path).all("style")
    for kind in Kind:
        assert f'[data-kind="{kind}"]' in style.text()


def test_nothing_in_a_text_becomes_mark_up(tmp_path: Path) -> None:
    finding = Finding(HOSTILE, Severity.WARN, HOSTILE, attempt=1)
    row = passage(
        f"He {HOSTILE}",
        f"She {HOSTILE}",
        source=HOSTILE,
        findings=(finding,),
        chapter=HOSTILE,
        heading=HOSTILE,
        model=HOSTILE,
        languages=(HOSTILE, HOSTILE),
    )
    refused = passage(HOSTILE, HOSTILE, findings=(finding,), decision=Decision.REJECTED)
    whole = (0, len(HOSTILE))
    edit = Edit(Kind.WORD_CHOICE, HOSTILE, HOSTILE, whole, whole)
    rewritten = replace(refused, answer=replace(refused.answer, decision=Decision.EDITED, edits=(edit,)))
    page = page_of(tmp_path, row, refused, rewritten, title=HOSTILE, subtitle=HOSTILE, **{HOSTILE: HOSTILE})

    plain = page_of(tmp_path, passage("He is.", "She is.", findings=(finding,), chapter="1"), refused)
    assert {e.tag for e in page.walk()} <= {e.tag for e in plain.walk()} | {"p"}  # the subtitle
    assert Counter(e.tag for e in page.walk())["script"] == Counter(e.tag for e in page.walk())["style"] == 1
    assert not [
        name for e in page.walk() for name in e.attributes if name.startswith("on") or name == "style"
    ]
    assert page.all("title")[0].text() == page.all("h1")[0].text() == HOSTILE
    assert [text.text() for text in page.all("p", class_="text")[:3]] == [
        HOSTILE,
        f"He {HOSTILE}",
        f"She {HOSTILE}",
    ]
    assert [page.all(tag)[-1].text() for tag in ("del", "ins")] == [HOSTILE, HOSTILE]
    assert page.all("p", class_="text")[-1].all("ins")[0].attributes["title"] == (
        f"word choice: {HOSTILE} → {HOSTILE}"
    )


def test_half_a_surrogate_pair_does_not_stop_the_page(tmp_path: Path) -> None:
    page = page_of(tmp_path, passage("a \ud83d b", "a \ud83d c"))
    assert page.all("p", class_="text")[1].text() == "a ? b"


def test_verse_keeps_its_lines(tmp_path: Path) -> None:
    poem = "Roses are red,\n  violets are blue.\n\nAnd so on."
    page = page_of(tmp_path, passage(poem, poem))
    assert page.all("p", class_="text")[1].text() == poem


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (("ar", "en"), ["rtl", "ltr", "ltr"]),
        (("en", "he"), ["ltr", "rtl", "rtl"]),
        (("zh", "fa-IR"), ["ltr", "rtl", "rtl"]),
    ],
)
def test_each_column_says_its_language_and_direction(
    tmp_path: Path, languages: tuple[str, str], expected: list[str]
) -> None:
    texts = page_of(tmp_path, passage("a", "b", languages=languages)).all("p", class_="text")
    assert [text.attributes["dir"] for text in texts] == expected
    assert [text.attributes["lang"] for text in texts] == [languages[0], languages[1], languages[1]]


def test_yiddish_is_written_from_right_to_left() -> None:
    assert direction("yi") == "rtl"
    assert direction("fr") == "ltr"


def test_a_rejected_passage_says_why_in_words(tmp_path: Path) -> None:
    page = page_of(tmp_path, rejected("Who goes?", "the draft is 3 times as long as the MT"))
    [article] = page.all("article", data_decision="rejected")
    assert article.all("p", class_="badge")[0].text() == "rejected"
    [why] = article.all("div", class_="why")
    assert "Draft 1, length: the draft is 3 times as long as the MT" in why.text()
    assert "Draft 2, names (warning): Anna is missing" in why.text()


def test_the_summary_counts_decisions_kinds_and_tokens(tmp_path: Path) -> None:
    rows = [passage("He ran.", "She ran."), passage("It fell.", "It fell."), rejected("Who?", "too long")]
    page = page_of(tmp_path, *rows, Time="3 seconds")
    counts = [item.text() for item in page.all("li") if "count" in (item.attributes.get("class") or "")]
    assert counts == ["1 edited", "1 unchanged", "1 rejected"]
    facts = dict(
        zip((e.text() for e in page.all("dt")), (e.text().strip() for e in page.all("dd")), strict=True)
    )
    assert facts == {
        "Languages": "French to English",
        "Model": "m",
        "Prompt": "chat@3f2a",
        "Tokens": "3,000 read, 60 written",
        "Time": "3 seconds",
    }
    [summary] = page.all("section", class_="summary")
    assert [ins.text() for ins in summary.all("ins")] == ["pronoun"]
    assert sum(int(rect.attributes["width"] or 0) for rect in summary.all("rect")) == 1000


def test_one_rejected_passage_in_ten_thousand_is_still_seen_in_the_bar() -> None:
    tally = Tally()
    tally.decisions.update({Decision.EDITED: 9_999, Decision.REJECTED: 1})
    edited, refused = tally.bar()
    assert (edited.x, edited.width) == (0, 992)
    assert (refused.x, refused.width) == (992, 8)


def test_chapters_are_headed_once(tmp_path: Path) -> None:
    rows = [passage("a", "a", chapter=chapter) for chapter in ("One", "One", "Two")]
    page = page_of(tmp_path, *rows)
    assert [heading.text() for heading in page.all("main")[0].all("h2")] == ["One", "Two"]
    assert [len(section.all("article")) for section in page.all("main")[0].all("section")] == [2, 1]


def test_a_book_without_passages_is_a_page_that_says_so(tmp_path: Path) -> None:
    assert "There are no passages" in page_of(tmp_path).all("main")[0].text()


def test_headings_go_down_one_level_at_a_time_and_ids_are_unique(tmp_path: Path) -> None:
    page = page_of(tmp_path, passage("He ran.", "She ran."), passage("a", "a", chapter="Two"))
    levels = [int(e.tag[1]) for e in page.walk() if re.fullmatch(r"h\d", e.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert len(page.all("main")) == 1


def test_the_page_needs_nothing_from_outside(tmp_path: Path) -> None:
    page = page_of(tmp_path, passage("He ran.", "She ran."))
    assert not [e for e in page.walk() if e.attributes.keys() & {"src", "srcset", "data", "poster"}]
    assert all((e.attributes["href"] or "").startswith("#") for e in page.walk() if "href" in e.attributes)
    assert not re.search(r"url\(|@import|fetch\(", page.text())


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_the_paper_as_wcag_aa_asks(tmp_path: Path, scheme: int) -> None:
    [style] = page_of(tmp_path).all("style")
    schemes = re.findall(r":root \{(.*?)\}", style.text(), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", schemes[scheme]))
    for text in ("ink", "soft", "edited", "rejected"):
        assert contrast(colours[text], colours["paper"]) >= 4.5, text
        assert contrast(colours[text], colours["raised"]) >= 4.5, text
    assert contrast(colours["unchanged"], colours["paper"]) >= 3  # a line or a shape, never a text


def test_a_failure_on_the_way_leaves_the_old_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("the old page", encoding="utf-8")

    def broken() -> Iterator[Passage]:
        yield passage("a", "a")
        raise OSError("the job store went away")

    with pytest.raises(OSError, match="went away"):
        write_page(path, broken(), title="A Book")
    assert path.read_text(encoding="utf-8") == "the old page"


def test_ten_times_the_rows_take_no_more_memory(tmp_path: Path) -> None:
    row = passage("He ran to the harbour. " * 20, "She ran to the harbour. " * 20)

    def peak(rows: int) -> int:
        tracemalloc.start()
        write_page(tmp_path / "page.html", (row for _ in range(rows)), title="A Book")
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # the templates are compiled once, and kept
    assert peak(300) < 1.5 * peak(30)


@pytest.fixture(scope="module")
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on this machine")
    return found


def opened(browser: str, address: str, profile: Path) -> tuple[Element, str]:
    """The page as the browser holds it once the script has run, and what the browser complained of."""
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
        f"--user-data-dir={profile}",
    ]  # fmt: skip
    run = subprocess.run(
        [browser, *flags, "--dump-dom", address], capture_output=True, text=True, timeout=60, check=True
    )
    return Tree(run.stdout).root, "\n".join(line for line in run.stderr.splitlines() if "CONSOLE" in line)


def test_in_a_browser_the_filter_works_and_no_text_becomes_a_script(browser: str, tmp_path: Path) -> None:
    rows = [
        passage(f"He {HOSTILE}", f"She {HOSTILE}", source=HOSTILE, chapter=HOSTILE),
        passage("It fell.", "It fell.", chapter="Two"),
        rejected(HOSTILE, HOSTILE),
    ]
    page_of(tmp_path, *rows, title=f"A Book {HOSTILE}")
    page, complaints = opened(browser, f"{(tmp_path / 'page.html').as_uri()}#rejected", tmp_path / "profile")
    assert complaints == ""  # the policy's hashes fit our script and style, and nothing else tried to run
    assert page.all("main")[0].attributes["data-show"] == "rejected"
    assert page.all("p", id="showing")[0].text() == "showing 1 of 3"
    pressed = page.all("button", aria_pressed="true")
    assert [button.text() for button in pressed] == ["rejected 1"]
    assert "hidden" not in page.all("div", id="filters")[0].attributes
    assert page.all("title")[0].text().startswith("A Book")
    assert len(page.all("article")) == 3
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("img")
