from __future__ import annotations

import re
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Decision, Finding, Severity
from ape.reports.base_page import text_direction
from ape.reports.book_page import write_book_report
from ape.sample import load_sample
from tests.ape.reports.parsed_page import Element
from tests.ape.reports.report_rows import HOSTILE, rejected, report, report_of, row, unfinished


def texts(element: Element) -> list[Element]:
    return element.all("p", class_="text")


def notes(page: Element) -> list[str]:
    """The notes below the paragraphs, with normalised white space."""
    return [" ".join(note.text().split()) for note in page.all("div", class_="notes")]


def test_deleted_words_are_struck_and_inserted_words_marked_with_their_kind(tmp_path: Path) -> None:
    page = report_of(tmp_path, row("Her coat was wet.", "His coat was wet."))
    [deleted] = page.all("div", class_="mt")[0].all("del")
    [inserted] = texts(page)[2].all("ins")
    assert (deleted.text(), inserted.text()) == ("Her", "His")
    assert deleted.attributes["data-kind"] == inserted.attributes["data-kind"] == "pronoun"
    assert deleted.attributes["data-edit"] == inserted.attributes["data-edit"] == "0"
    assert inserted.attributes["title"] == "pronoun: Her → His"


def test_the_three_columns_hold_exactly_the_three_texts(tmp_path: Path) -> None:
    sample = load_sample("fr-en")
    rows = [
        row(paragraph.mt, paragraph.good, source=paragraph.source, id=paragraph.id, position=position)
        for position, paragraph in enumerate(sample.paragraphs)
    ]
    page = report_of(tmp_path, *rows)
    for number, (article, paragraph) in enumerate(zip(page.all("article"), sample.paragraphs, strict=True), 1):
        printed = [text.text() for text in texts(article)]
        assert printed == [paragraph.source, paragraph.mt, paragraph.good]
        [link] = article.all("h3")[0].all("a")
        assert (link.text(), link.attributes["title"]) == (str(number), paragraph.id)
        assert article.attributes["id"] == paragraph.id


def test_inline_marks_are_drawn_as_symbols(tmp_path: Path) -> None:
    mt, good = "It was ⟦1⟧her⟦/1⟧ coat.⟦2/⟧", "It was ⟦1⟧his⟦/1⟧ coat.⟦2/⟧"
    page = report_of(tmp_path, row(mt, good, source="C’était ⟦1⟧son⟦/1⟧ manteau.⟦2/⟧"))
    assert [text.marked_text() for text in texts(page)] == ["C’était ⟦1⟧son⟦/1⟧ manteau.⟦2/⟧", mt, good]
    assert texts(page)[2].text() == "It was his coat."
    assert "⟦" not in page.all("body")[0].text()


def test_every_kind_of_edit_has_a_distinct_style(tmp_path: Path) -> None:
    [style] = report_of(tmp_path).all("style")
    for kind in EditKind:
        assert f'[data-kind="{kind}"]' in style.text()


def test_nothing_in_a_text_becomes_mark_up(tmp_path: Path) -> None:
    finding = Finding(HOSTILE, Severity.WARN, HOSTILE, attempt=1)
    edited = row(
        f"He {HOSTILE}", f"She {HOSTILE}", source=HOSTILE, findings=(finding,), title=HOSTILE, id=HOSTILE, model=HOSTILE
    )
    edited = replace(edited, planned=replace(edited.planned, how=HOSTILE))
    refused = row(HOSTILE, HOSTILE, findings=(finding,), decision=Decision.REJECTED, chapter=1, id="p2")
    whole = (0, len(HOSTILE))
    edit = Edit(EditKind.WORD_CHOICE, HOSTILE, HOSTILE, whole, whole)
    assert refused.result
    rewritten = replace(refused, result=replace(refused.result, decision=Decision.EDITED, edits=(edit,)))
    rows = [edited, refused, rewritten, unfinished(ParagraphState.QUARANTINED, reason=HOSTILE)]
    page = report_of(tmp_path, *rows, title=HOSTILE, subtitle=HOSTILE, source_language=HOSTILE, **{HOSTILE: "x"})

    plain = report_of(
        tmp_path,
        row("He is.", "She is.", findings=(finding,)),
        row("a", "a", chapter=1, findings=(finding,), decision=Decision.REJECTED),
        subtitle="s",
    )
    assert {e.tag for e in page.walk()} <= {e.tag for e in plain.walk()}
    assert Counter(e.tag for e in page.walk())["script"] == Counter(e.tag for e in page.walk())["style"] == 1
    assert not [name for e in page.walk() for name in e.attributes if name.startswith("on") or name == "style"]
    assert page.all("title")[0].text() == page.all("h1")[0].text() == HOSTILE
    assert [text.text() for text in texts(page)[:3]] == [HOSTILE, f"He {HOSTILE}", f"She {HOSTILE}"]
    assert [texts(page)[i].all(tag)[0].text() for i, tag in ((7, "del"), (8, "ins"))] == [HOSTILE, HOSTILE]
    assert texts(page)[8].all("ins")[0].attributes["title"] == f"word choice: {HOSTILE} → {HOSTILE}"


def test_half_a_surrogate_pair_does_not_stop_the_page(tmp_path: Path) -> None:
    page = report_of(tmp_path, row("a \ud83d b", "a \ud83d c", id="\ud83d"))
    assert texts(page)[1].text() == "a ? b"
    [article] = page.all("article")
    assert article.all("a")[0].attributes["href"] == f"#{article.attributes['id']}"


def test_verse_keeps_its_lines(tmp_path: Path) -> None:
    poem = "Roses are red,\n  violets are blue.\n\nAnd so on."
    assert texts(report_of(tmp_path, row(poem, poem)))[1].text() == poem


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
    source, target = languages
    page = report_of(tmp_path, row("a", "b"), source_language=source, target_language=target)
    assert [text.attributes["dir"] for text in texts(page)] == expected
    assert [text.attributes["lang"] for text in texts(page)] == [source, target, target]


def test_each_chapter_may_have_a_language_of_its_own(tmp_path: Path) -> None:
    rows = [row("a", "a"), row("b", "b", chapter=1, id="p2")]
    path = tmp_path / "report.html"
    write_book_report(path, rows, title="Two", source_language={0: "fr", 1: "zh"}, target_language="en")
    page = path.read_text(encoding="utf-8")
    assert page.count('lang="fr"') == page.count('lang="zh"') == 1
    assert "French and Chinese to English" in page


def test_yiddish_is_written_from_right_to_left() -> None:
    assert text_direction("yi") == "rtl"
    assert text_direction("fr") == "ltr"


def test_a_rejected_paragraph_says_why_in_words(tmp_path: Path) -> None:
    page = report_of(tmp_path, rejected("Who goes?", "the draft is 3 times as long as the MT"))
    [article] = page.all("article", data_status="rejected")
    assert article.all("p", class_="badge")[0].text() == "rejected"
    [why] = notes(article)
    assert "Draft 1, length: the draft is 3 times as long as the MT" in why
    assert "Draft 2, names (warning): Anna is missing" in why


@pytest.mark.parametrize(
    ("state", "reason", "failures", "message"),
    [
        (
            ParagraphState.QUARANTINED,
            "The server failed.",
            3,
            "It failed 3 times and was quarantined, so the machine translation stands: The server failed.",
        ),
        (ParagraphState.SKIPPED, "no source for it", 0, "Left as it is: no source for it"),
        (ParagraphState.WAITING, "", 0, "Still to be done."),
    ],
)
def test_a_paragraph_without_a_result_says_why(
    tmp_path: Path, state: ParagraphState, reason: str, failures: int, message: str
) -> None:
    page = report_of(tmp_path, unfinished(state, reason=reason, failures=failures))
    assert notes(page) == [message]
    assert page.all("article")[0].attributes["data-status"] == str(state)
    assert texts(page)[2].text() == "He ran."  # the text in the book


def test_uncertain_pairs_are_marked_with_their_method(tmp_path: Path) -> None:
    sure = row("a", "a")
    unsure = replace(sure, planned=replace(sure.planned, id="p2", how="alignment", confidence=0.42))
    likely = replace(sure, planned=replace(sure.planned, id="p3", how="alignment", confidence=0.9))
    page = report_of(tmp_path, sure, unsure, likely)
    assert [e.text() for e in page.all("p", class_="pair")] == ["pair: alignment, 90%"]
    assert [e.text() for e in page.all("p", class_="pair unsure")] == ["pair: alignment, 42%"]


def test_the_top_counts_decisions_kinds_guards_and_tokens(tmp_path: Path) -> None:
    rows = [row("He ran.", "She ran."), row("It fell.", "It fell.", id="p4"), rejected("Who?", "too long")]
    page = report_of(tmp_path, *rows, Time="3 seconds")
    [summary] = page.all("section", class_="summary")
    counts = [item.text() for item in summary.all("li") if "count" in (item.attributes.get("class") or "").split()]
    assert counts == ["1 edited", "1 unchanged", "1 rejected"]
    facts = dict(zip((e.text() for e in summary.all("dt")), (e.text().strip() for e in summary.all("dd")), strict=True))
    assert facts == {
        "Languages": "French to English",
        "Model": "m",
        "Prompt": "chat@3f2a",
        "Tokens": "3,000 read, 60 written",
        "Time": "3 seconds",
    }
    assert [ins.text() for ins in summary.all("ins")] == ["pronoun"]
    links = {link.attributes["href"]: link for link in summary.all("a")}
    assert {"#?kind=pronoun", "#?guard=length", "#?guard=names", "#?show=rejected"} <= links.keys()


def test_chapters_are_headed_once_and_listed_in_a_table(tmp_path: Path) -> None:
    page = report_of(
        tmp_path, row("a", "a", title="One"), row("a", "a", title="One", id="p2"), row("a", "a", chapter=1, id="p3")
    )
    [main] = page.all("main")
    assert [heading.text() for heading in main.all("h2")] == ["One", "Chapter 2"]
    assert [len(section.all("article")) for section in main.all("section")] == [2, 1]
    [table] = page.all("table")
    assert [[cell.text() for cell in line.all("td")] for line in table.all("tr")] == [[], ["2"], ["1"]]
    targets = {section.attributes["id"] for section in main.all("section")}
    assert {(link.attributes["href"] or "")[1:] for link in table.all("a")} == targets


def test_a_book_without_paragraphs_is_a_page_that_says_so(tmp_path: Path) -> None:
    assert "There are no paragraphs" in report_of(tmp_path).all("main")[0].text()


def test_headings_go_down_one_level_at_a_time_and_ids_are_unique(tmp_path: Path) -> None:
    page = report_of(tmp_path, row("He ran.", "She ran."), row("a", "a", chapter=1, id="p2"))
    levels = [int(e.tag[1]) for e in page.walk() if re.fullmatch(r"h\d", e.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert len(page.all("main")) == 1


def test_the_page_needs_nothing_from_outside(tmp_path: Path) -> None:
    page = report_of(tmp_path, row("He ran.", "She ran."))
    assert not [e for e in page.walk() if e.attributes.keys() & {"src", "srcset", "data", "poster"}]
    assert all((e.attributes["href"] or "").startswith("#") for e in page.walk() if "href" in e.attributes)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML", page.text())


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(tmp_path: Path, scheme: int) -> None:
    [style] = report_of(tmp_path).all("style")
    schemes = re.findall(r":root \{(.*?)\}", style.text(), re.DOTALL)
    # The shared style sheet, then that of the book, each with light and dark colours.
    declared = "".join(schemes[place] for place in (0, 2, 1, 3) if place % 2 <= scheme)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", declared))
    for text in ("ink", "soft", "good", "bad", "quarantined"):
        assert contrast(colours[text], colours["paper"]) >= 4.5, text
        assert contrast(colours[text], colours["raised"]) >= 4.5, text
    for shape in ("unchanged", "skipped", "waiting"):  # used for lines and shapes, never for text
        assert contrast(colours[shape], colours["paper"]) >= 3, shape
    for mark in ("hit", "current"):
        assert contrast(colours["on-hit"], colours[mark]) >= 4.5, mark


def test_a_failure_keeps_the_old_report(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("the old report", encoding="utf-8")

    def broken() -> Iterator[JobParagraph]:
        yield row("a", "a")
        raise OSError("the job store went away")

    with pytest.raises(OSError, match="went away"):
        report(path, broken())
    assert path.read_text(encoding="utf-8") == "the old report"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_ten_times_the_rows_take_no_more_memory(tmp_path: Path) -> None:
    one = row("He ran. " + "It was late. " * 40, "She ran. " + "It was late. " * 40)

    def peak(rows: int) -> int:
        tracemalloc.start()
        report(tmp_path / "report.html", (one for _ in range(rows)))
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # compiles the templates
    peak_of_few = peak(150)  # enough to fill the line of edit rates, which has a maximum size
    # When garbage is collected differs from run to run; a page that is held would take ten times as much in each.
    assert any(peak(1500) < 1.3 * peak_of_few for _ in range(3))
