from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from tests.ape.reports.browser import Browser, Tab
from tests.ape.reports.report_rows import HOSTILE, rejected, report, row, unfinished
from tests.ape.reports.synthetic_book import invented_book

pytestmark = pytest.mark.browser


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab; its page must cause no console message and no further request."""
    opened = Tab(browser)
    yield opened
    assert opened.complaints == []
    assert len({address.partition("#")[0] for address in opened.requests}) <= 1
    opened.close()


@pytest.fixture(scope="module")
def rows() -> list[JobParagraph]:
    return list(invented_book("fr", words=7_000))


@pytest.fixture(scope="module")
def book(rows: list[JobParagraph], tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(tmp_path_factory.mktemp("book") / "report.html", rows).as_uri()


SHOWN = "[...document.querySelectorAll('article')].filter((a) => a.checkVisibility()).map((a) => a.id)"
SAID = "document.querySelector('#report-status').textContent"
CURRENT = "[...document.querySelectorAll('.current')].map((e) => e.textContent)"
FOCUSED = "document.activeElement.id"


def in_view(selector: str) -> str:
    """Whether an element is visible: below the bar and above the end of the screen."""
    return f"""(() => {{ const box = document.querySelector("{selector}").getBoundingClientRect();
        return box.top >= document.querySelector("#report-bar").getBoundingClientRect().bottom - 2 &&
          box.top < innerHeight; }})()"""


def ids(rows: list[JobParagraph], **expected: object) -> list[str]:
    """The ids of the rows that a filter should show."""
    found = []
    for one in rows:
        result = one.result
        status = result.decision if result and one.state == ParagraphState.DONE else one.state
        kinds = {str(edit.kind) for edit in result.edits} if result else set()
        guards = {finding.guard for finding in result.findings} if result else set()
        if (
            expected.get("status", status) == status
            and expected.get("chapter", one.planned.chapter) == one.planned.chapter
            and ("kind" not in expected or expected["kind"] in kinds)
            and ("guard" not in expected or expected["guard"] in guards)
        ):
            found.append(one.planned.id)
    return found


def choose(tab: Tab, name: str, value: str) -> None:
    tab.run(
        f"""(() => {{ const choice = document.querySelector("[name={name}]"); choice.value = "{value}";
        choice.dispatchEvent(new Event("change", {{ bubbles: true }})); }})()"""
    )


def search(tab: Tab, text: str) -> None:
    tab.press("/")
    tab.write(text)
    tab.press("Enter")


def test_a_click_shows_the_paragraphs_of_one_decision(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    assert tab.run(SHOWN) == ids(rows)
    for status in ("edited", "unchanged", "rejected", "quarantined", "skipped", "waiting"):
        expected = ids(rows, status=status)
        assert expected
        tab.click(f"#report-filters button[value={status}]")
        assert tab.run(SHOWN) == expected
        assert tab.run(SAID) == f"{len(expected)} of {len(rows)} paragraphs"
        assert tab.run("document.querySelector('[aria-pressed=true]').value") == status
        assert tab.run("location.hash") == f"#?show={status}"


def test_filters_hold_together_and_are_cleared_together(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    choose(tab, "kind", "verb form")
    assert tab.run(SHOWN) == ids(rows, kind="verb form")
    choose(tab, "guard", "names")
    assert tab.run(SHOWN) == ids(rows, kind="verb form", guard="names")
    choose(tab, "chapter", "1")
    assert tab.run(SHOWN) == ids(rows, kind="verb form", guard="names", chapter=1)
    headings = "[...document.querySelectorAll('main section')].filter((s) => s.checkVisibility()).length"
    assert tab.run(headings) == 1
    tab.press("x")
    assert tab.run(SHOWN) == ids(rows)
    assert tab.run("document.querySelector('[name=guard]').value") == ""


def test_an_address_carries_the_filters(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    expected = ids(rows, status="rejected", chapter=1)
    assert expected
    tab.open(f"{book}#?show=rejected&chapter=1")
    assert tab.run(SHOWN) == expected
    assert tab.run("document.querySelector('[name=chapter]').value") == "1"
    assert tab.run(in_view("article:not([hidden])"))


def test_a_filter_without_results_says_so(tab: Tab, book: str) -> None:
    tab.open(f"{book}#?q=no+such+words")
    assert tab.run(SHOWN) == []
    assert tab.run("document.querySelector('#report-none').checkVisibility()")
    tab.press("j", "k", "n", "p", "J", "K")  # nothing to go to, and no console message


def test_search_finds_whatever_the_case_accent_or_apostrophe(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    columns = [(one.planned.source, one.planned.mt, one.text) for one in rows]
    for text, found in {
        "LAMPE PRÈS": "lampe près",
        "lampe pres": "lampe près",
        "the attic": "the attic",
        "n’était": "n'était",
    }.items():
        search(tab, text)
        hits = [sum(column.count(found) for column in texts) for texts in columns]
        assert sum(hits)
        assert tab.run(SHOWN) == [one.planned.id for one, count in zip(rows, hits, strict=True) if count]
        assert tab.run(SAID) == f"hit 1 of {sum(hits):,}"
        assert tab.run("[...CSS.highlights.get('current-hit')].map(String)") == [found]
        assert tab.run("CSS.highlights.get('hit').size") > 1


def test_a_hit_may_lie_across_marks_and_edits(tab: Tab, tmp_path: Path) -> None:
    mt, good = "It was ⟦1⟧her⟦/1⟧ old coat.", "It was ⟦1⟧his⟦/1⟧ old coat."
    tab.open(report(tmp_path / "report.html", [row(mt, good)]).as_uri())
    search(tab, "was his old")
    assert tab.run("[...CSS.highlights.get('hit')].map(String)") == ["was his old"]


def test_n_and_p_walk_through_the_hits(tab: Tab, book: str) -> None:
    tab.open(book)
    search(tab, "postman")
    total = tab.run(SAID).rpartition(" ")[2]
    tab.press("n", "n")
    assert tab.run(SAID) == f"hit 3 of {total}"
    tab.press("p")
    assert tab.run(SAID) == f"hit 2 of {total}"
    tab.press("p", "p")
    assert tab.run(SAID) == f"hit {total} of {total}"  # from the first back to the last
    assert tab.run(
        """(() => { const [range] = CSS.highlights.get("current-hit"); const box = range.getBoundingClientRect();
        return box.top >= document.querySelector("#report-bar").getBoundingClientRect().bottom - 2 &&
          box.bottom <= innerHeight; })()"""
    )


def test_j_and_k_walk_through_every_change_in_order(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    edits = [edit for one in rows if one.result for edit in one.result.edits]
    for edit in edits[:12]:
        tab.press("j")
        assert tab.run(in_view(".current"))
        printed = tab.run(CURRENT)
        assert "".join(printed).replace(" ", "") in _plain(edit.before + edit.after)
    assert tab.run(SAID).startswith(f"change 12 of {len(edits):,}: {edits[11].kind}")
    tab.press("k")
    assert tab.run(SAID).startswith(f"change 11 of {len(edits):,}: {edits[10].kind}")


def _plain(text: str) -> str:
    from ape.text.inline_marks import strip_marks

    return strip_marks(text).replace(" ", "")


def test_a_change_far_away_comes_into_view(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    total = sum(len(one.result.edits) for one in rows if one.result)
    tab.press("j", "k")  # from the first back to the last
    assert tab.run(SAID).startswith(f"change {total:,} of {total:,}")
    assert tab.run(in_view(".current"))


def test_with_a_kind_chosen_j_goes_through_that_kind_only(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    choose(tab, "kind", "number")
    numbers = sum(edit.kind == "number" for one in rows if one.result for edit in one.result.edits)
    tab.press("j", "j", "j")
    assert tab.run(SAID).startswith(f"change 3 of {numbers}: number")


def test_capital_j_and_k_walk_through_paragraphs(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(f"{book}#?show=rejected")
    expected = ids(rows, status="rejected")
    tab.press("J", "J", "J")
    assert tab.run(FOCUSED) == expected[2]
    tab.press("K")
    assert tab.run(FOCUSED) == expected[1]


def test_a_deep_link_leads_to_its_paragraph(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    expected = rows[len(rows) * 3 // 4].planned.id
    tab.open(f"{book}#{expected}")
    assert tab.run(FOCUSED) == expected
    assert tab.run(in_view(":target"))
    assert tab.run("document.querySelector(':target').getBoundingClientRect().top") < 300


def test_a_deep_link_to_a_hidden_paragraph_clears_the_filters(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(f"{book}#?show=rejected")
    expected = ids(rows, status="edited")[40]
    tab.run(f"location.hash = '#{expected}'")
    tab.settle()
    assert tab.run(SHOWN) == ids(rows)
    assert tab.run(in_view(":target"))


def test_ids_of_any_kind_can_be_linked_to(tab: Tab, tmp_path: Path) -> None:
    names = ["a b", "100%", "#", "?show=edited", "第三章/五", HOSTILE.replace("\0", "")]
    rows = [row("He ran. " * 300, "He ran. " * 300, id=name, position=i) for i, name in enumerate(names)]
    tab.open(report(tmp_path / "report.html", rows).as_uri())
    for number in range(len(names)):
        tab.run(f"document.querySelectorAll('article h3 a')[{number}].click()")
        tab.settle()
        assert tab.run(f"document.activeElement === document.querySelectorAll('article')[{number}]")


def test_plots_lead_into_the_book(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.open(book)
    tab.click(".plot a[href='#report-chapter-2'] .slot")
    assert tab.run("document.querySelector(':target').dataset.chapter") == "2"
    tab.click(".plot path.point:last-of-type")
    assert tab.run("document.querySelector(':target').localName") == "article"
    tab.click(".bars a[href='#?guard=names']")
    assert tab.run(SHOWN) == ids(rows, guard="names")
    assert tab.run(in_view("article:not([hidden])"))


def test_keys_can_be_listed_and_switched_off(tab: Tab, book: str) -> None:
    tab.open(book)
    tab.press("?")
    assert tab.run("document.querySelector('#report-help').open")
    tab.run("document.querySelector('#report-keys-on').click()")
    tab.press("Escape")
    assert not tab.run("document.querySelector('#report-help').open")
    tab.press("j")
    assert tab.run(CURRENT) == []


def test_keys_typed_into_the_search_are_text(tab: Tab, book: str) -> None:
    tab.open(book)
    tab.press("/", *"jkx?")
    assert tab.run("document.querySelector('[name=q]').value") == "jkx?"
    assert tab.run(CURRENT) == []


def test_the_marks_can_be_taken_away(tab: Tab, book: str) -> None:
    tab.open(book)
    line = "getComputedStyle(document.querySelector('.text ins')).textDecorationLine"
    assert tab.run(line) == "underline"
    tab.press("m")
    assert tab.run(line) == "none"


def test_nothing_is_wider_than_the_screen(tab: Tab, book: str) -> None:
    tab.open(f"{book}#?show=quarantined")
    for width in (320, 390, 768, 1024, 1440):
        tab.look(width=width)
        assert tab.run("document.documentElement.scrollWidth") <= width


def test_no_text_becomes_a_script(tab: Tab, tmp_path: Path) -> None:
    rows = [
        row(f"He {HOSTILE}", f"She {HOSTILE}", source=HOSTILE, title=HOSTILE, id=HOSTILE, model=HOSTILE),
        rejected(HOSTILE, HOSTILE),
        unfinished(ParagraphState.QUARANTINED, reason=HOSTILE),
    ]
    path = report(tmp_path / "report.html", rows, title=f"A Book {HOSTILE}", **{"A fact": HOSTILE})
    tab.open(f"{path.as_uri()}#?show=rejected&q=%3Cscript%3E")
    assert tab.run("document.title").startswith("A Book")
    assert tab.run(SHOWN) == ["p2"]
    tags = "['script', 'style', 'img', 'article'].map((tag) => document.getElementsByTagName(tag).length)"
    assert tab.run(tags) == [1, 1, 0, 3]


def test_the_policy_blocks_unescaped_markup(browser: Browser, tmp_path: Path) -> None:
    """The page with unescaped hostile mark-up, as if a template had failed."""
    path = report(tmp_path / "report.html", [row("He ran.", "She ran.", id="p1")])
    slip = (
        "<script>document.title = 'taken'</script>"
        "<img src='https://127.0.0.1:9/x' onerror=\"document.title = 'taken'\">"
        "<style>main { display: none }</style><p style='position: fixed'>x</p>"
    )
    page = path.read_text(encoding="utf-8")
    path.write_text(page.replace("<main ", f"{slip}<main "), encoding="utf-8")
    tab = Tab(browser)
    tab.open(path.as_uri())
    assert tab.run("document.title") == "A Book"
    assert tab.run(SHOWN) == ["p1"]
    assert len(tab.complaints) >= 4  # the policy reported the script, the image, the style and its attribute
    tab.close()


def test_without_scripts_the_book_can_be_read(tab: Tab, book: str, rows: list[JobParagraph]) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.call("Page.navigate", url=book)
    tab.wait_for_load()
    document = tab.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    found = tab.call("DOM.querySelectorAll", nodeId=document, selector="article .text")["nodeIds"]
    assert len(found) == 3 * len(rows)
    hidden = tab.call("DOM.querySelectorAll", nodeId=document, selector="form [data-script][hidden]")["nodeIds"]
    assert len(hidden) == 3  # search, keys and filters need the script
    tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_whole_book_is_printed(tab: Tab, tmp_path: Path, rows: list[JobParagraph]) -> None:
    tab.open(report(tmp_path / "report.html", rows).as_uri())
    tab.look(media="print")
    tab.settle()
    skipped = """[...document.querySelectorAll("article .text")].filter(
        (text) => !text.checkVisibility({ contentVisibilityAuto: true })).length"""
    assert tab.run(skipped) == 0
    assert not tab.run("document.querySelector('#report-filters').checkVisibility()")


def test_every_control_has_an_accessible_name(tab: Tab, book: str) -> None:
    tab.open(book)
    tree = tab.call("Accessibility.getFullAXTree", depth=12)["nodes"]
    worked = {"button", "searchbox", "combobox", "checkbox", "link"}
    nameless = [
        node for node in tree if node.get("role", {}).get("value") in worked and not node.get("name", {}).get("value")
    ]
    assert nameless == []
    roles = [node.get("role", {}).get("value") for node in tree]
    for landmark in ("main", "search", "banner"):
        assert roles.count(landmark) == 1, landmark
