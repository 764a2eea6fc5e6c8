"""The review page in a browser, by keyboard alone: decide, edit, comment, undo, replace; two people; guests by link."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from ape.files.hashing import hash_text
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.passage.result import Decision, Finding, Severity
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.links import create_link
from ape.review.store import ReviewStore
from ape.settings import Settings
from tests.ape.reports.browser import Browser, Tab
from tests.ape.review.conftest import TEXTS, a_post_edit, fill
from tests.serve.book_library import service, settings_in

PICTURED = ("Anne rit 😀 de sa lampe.", "Anne laughs 😀😀 of his lamp.", "Anne laughs 😀😀 at her lamp.")
HOSTILE = ("Elle <script>dit</script>.", "She <script>said</script> \u202eit.", "She <script>says</script> \u202eit.")


@pytest.fixture(scope="module")
def settings(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(service_settings, tmp_path_factory.mktemp("review"))


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx2.Client]:
    with service(settings) as client:
        yield client


@pytest.fixture
def job(settings: Settings, client: httpx2.Client) -> Iterator[Job]:
    name = uuid.uuid4().hex
    with JobStore(settings.jobs_url) as store:
        texts = (*TEXTS[:3], HOSTILE, PICTURED, *TEXTS[3:])
        fill(store, texts, id=name, output=settings.uploads_folder / name / "out.txt")
        yield store.job(name)
        store.remove(name)


@pytest.fixture
def reviews(settings: Settings) -> Iterator[ReviewStore]:
    with JobStore(settings.jobs_url) as store:
        yield ReviewStore(store)


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.close()


def address(client: httpx2.Client, job: Job, query: str = "chapter=") -> str:
    return f"{client.base_url}/books/{job.id}/review?{query}".replace("//books", "/books")


def until(tab: Tab, script: str, *, seconds: float = 120) -> None:
    """Wait until an expression of the page is true."""
    deadline = time.monotonic() + seconds
    while not tab.run(script):
        assert time.monotonic() < deadline, (script, tab.run("document.body.innerText"))
        tab.settle()


def press(tab: Tab, key: str, notice: str) -> None:
    """Press a key and wait for what the page says."""
    tab.run('document.querySelector("#notice").textContent = ""')
    tab.press(key)
    until(tab, f'document.querySelector("#notice").textContent.includes("{notice}")')


def test_a_chapter_can_be_read_without_scripts(client: httpx2.Client, job: Job) -> None:
    page = client.get(address(client, job)).text
    assert "Anne posa sa lampe." in page
    assert "&lt;script&gt;dit" in page
    assert "<script>dit" not in page
    assert 'name="stage"' in page
    assert page.count("invisible characters that turn the direction of reading: U+202E.") == 1


def test_twenty_keys_review_a_book(client: httpx2.Client, job: Job, reviews: ReviewStore, tab: Tab) -> None:
    tab.open(address(client, job))
    first = reviews.paragraph(job.id, "p0")
    tab.run('document.querySelector(".edit").focus()')
    press(tab, "r", "Rejected")
    assert reviews.paragraph(job.id, "p0").text == first.row.planned.mt
    press(tab, "u", "undone")
    assert reviews.paragraph(job.id, "p0").text == first.text
    tab.run('document.querySelector(".edit").focus()')
    press(tab, "a", "Accepted")
    assert reviews.paragraph(job.id, "p0").edits[0].decided
    tab.press("p")
    for said in ("Rejected", "Accepted"):
        press(tab, " ", said)
        assert tab.run('document.activeElement.closest(".paragraph").dataset.id') == "p0"
    tab.press("c")
    tab.write("Which lamp?")
    tab.run('document.activeElement.closest("form").requestSubmit()')
    until(tab, 'document.querySelector(".comments").textContent.includes("Which lamp?")')
    tab.press("h")
    until(tab, 'document.querySelector("#dialog").open')
    said = tab.run('document.querySelector("#dialog").textContent')
    assert all(words in said for words in ("accepted", "rejected (undone)", "undid a step", "commented", "Which lamp?"))
    tab.run('document.querySelector("#dialog").close()')
    tab.press("e")
    until(tab, '!!document.querySelector(".target textarea")')
    tab.write(" Yes.")
    tab.run('document.querySelector(".target textarea").value = "Anne set her lamp down."')
    tab.run('document.activeElement.closest("form").requestSubmit()')
    until(tab, '!document.querySelector(".target textarea")')
    assert reviews.paragraph(job.id, "p0").text == "Anne set her lamp down."
    tab.press("/")
    until(tab, "document.querySelector('#dialog').open")
    tab.write("rug")
    tab.run('document.querySelector("[name=replacement]").value = "mat"')
    tab.run('document.querySelector("#dialog form").requestSubmit()')
    until(tab, '!!document.querySelector("#dialog .matches input")')
    tab.run(
        '[...document.querySelectorAll("#dialog button")].find((one) => one.textContent.startsWith("Replace")).click()'
    )
    until(tab, '!document.querySelector("#dialog").open')
    assert reviews.paragraph(job.id, "p2").text.endswith("mat.")
    assert [line for line in tab.complaints if "Content Security" in line] == []


def open_form(tab: Tab, key: str) -> None:
    tab.press(key)
    until(tab, '!!document.querySelector(".target textarea")')


def save(tab: Tab) -> None:
    tab.run('document.querySelector(".target form").requestSubmit()')


def test_what_is_typed_is_saved_where_it_was_begun_and_is_not_thrown_away(
    client: httpx2.Client, job: Job, reviews: ReviewStore, tab: Tab
) -> None:
    tab.open(address(client, job))
    before = reviews.paragraph(job.id, "p1").text
    tab.run('document.querySelector(".edit").focus()')
    open_form(tab, "e")
    tab.write(" She left.")
    typed = tab.run('document.querySelector(".target textarea").value')
    assert typed == f"{reviews.paragraph(job.id, 'p0').text} She left."
    tab.click('[data-id="p1"] .edit')
    assert tab.run('document.querySelector(".paragraph.current").dataset.id') == "p1"
    tab.run('document.querySelector("[data-id=p0] .edit").click()')
    press(tab, "e", "Save or cancel")
    press(tab, "Escape", "Escape once more")
    assert tab.run('document.querySelector(".target textarea").value') == typed
    one = reviews.paragraph(job.id, "p0")
    reviews.decide(job, [ReviewDecision("p0", one.version, ReviewAction.REJECT)], author="Ben")
    save(tab)  # of a state that Ben has changed meanwhile
    until(tab, '!document.querySelector("#problem").hidden')
    assert "changed by Ben" in tab.run('document.querySelector("#problem").textContent')
    assert tab.run('document.querySelector(".target textarea").value') == typed
    tab.click('[data-id="p1"] .edit')
    save(tab)
    until(tab, '!document.querySelector(".target textarea")')
    assert [reviews.paragraph(job.id, name).text for name in ("p0", "p1")] == [typed, before]


def test_keys_that_are_faster_than_the_service_are_all_heard(
    client: httpx2.Client, job: Job, reviews: ReviewStore, tab: Tab
) -> None:
    tab.open(address(client, job))
    tab.run('document.querySelector(".edit").focus()')
    down = 'new KeyboardEvent("keydown", { key: "a", bubbles: true })'
    tab.run(f"for (let at = 0; at < 3; at += 1) document.activeElement.dispatchEvent({down})")
    until(tab, 'document.querySelectorAll(".edit.decided").length === 3')
    first = '[...document.querySelectorAll(".edit")].slice(0, 3)'
    assert tab.run(f'{first}.every((one) => one.matches(".accepted.decided"))')


def test_a_page_without_paragraphs_answers_every_key(client: httpx2.Client, job: Job, tab: Tab) -> None:
    tab.open(address(client, job, "chapter=&text=zeppelin"))
    assert "Nothing matches" in tab.run('document.querySelector("#review").textContent')
    for key in "arecdhm":
        press(tab, key, "No paragraph is shown")
    press(tab, "n", "no edits here")
    assert tab.run('document.querySelector("#problem").hidden')


def test_the_counts_are_those_of_the_whole_book(client: httpx2.Client, job: Job, tab: Tab) -> None:
    tab.open(address(client, job, "chapter=2"))
    assert tab.run('!document.querySelector("[data-id=p0]")')
    tab.press("/")
    until(tab, "document.querySelector('#dialog').open")
    tab.write("kitchen")
    tab.run('document.querySelector("[name=replacement]").value = "dinner"')
    tab.run('document.querySelector("#dialog form").requestSubmit()')
    until(tab, '!!document.querySelector("#dialog .matches input")')
    tab.run('document.querySelector("#dialog button.second").click()')
    until(tab, 'document.querySelector("#notice").textContent.startsWith("Replaced in")')
    counts = client.get(f"/v1/jobs/{job.id}/review").json()["edits"]
    assert counts["decided"] > 0
    tab.run('document.querySelector(".edit.open").focus()')
    before = tab.run('document.querySelector("[name=chapter] option:checked").dataset.open')
    press(tab, "a", "Accepted")
    after = tab.run('document.querySelector("[name=chapter] option:checked").textContent')
    assert f"({int(before) - 1} open)" in after
    counts = client.get(f"/v1/jobs/{job.id}/review").json()["edits"]
    for name in ("open", "accepted", "rejected", "decided"):
        assert tab.run(f'document.querySelector("#count-{name}").textContent') == f"{counts[name]:,}"


def test_characters_beyond_the_first_plane_do_not_shift_the_text(client: httpx2.Client, job: Job, tab: Tab) -> None:
    tab.open(address(client, job))
    text = "document.querySelector('[data-id=p4] .result').textContent"
    before = tab.run(text)
    assert "😀" in before
    tab.run('document.querySelector("[data-id=p4] .edit").focus()')
    press(tab, "a", "Accepted")
    assert tab.run(text) == before


def test_a_stale_page_says_who_changed_the_paragraph(
    client: httpx2.Client, job: Job, reviews: ReviewStore, tab: Tab
) -> None:
    tab.open(address(client, job))
    one = reviews.paragraph(job.id, "p0")
    reviews.decide(job, [ReviewDecision("p0", one.version, ReviewAction.REJECT)], author="Ben")
    tab.run('document.querySelector(".edit").focus()')
    tab.press("a")
    until(tab, '!document.querySelector("#problem").hidden')
    assert "changed by Ben" in tab.run('document.querySelector("#problem").textContent')
    assert tab.run('document.querySelector(".edit").classList.contains("rejected")')
    press(tab, "a", "Accepted")


def test_why_a_draft_was_refused_is_folded_and_can_not_be_dismissed(
    client: httpx2.Client, job: Job, reviews: ReviewStore, tab: Tab
) -> None:
    one = reviews.paragraph(job.id, "p1")
    findings = (Finding("loop", Severity.REJECT, "It repeats.", 1), Finding("loop", Severity.REJECT, "It repeats.", 2),
                Finding("length", Severity.REJECT, "It is long.", 2))  # fmt: skip
    result = replace(a_post_edit(TEXTS[1][1], TEXTS[1][1], *findings), decision=Decision.REJECTED, attempt=0)
    reviews.redo(job, "p1", one.version, result, author="Anna", instruction="", seconds=1.0)
    tab.open(address(client, job, "chapter=&stage=refused"))
    folded = "document.querySelector('[data-id=p1] details.refused')"
    said = f"{folded}.querySelector('summary').textContent"
    assert tab.run("document.querySelectorAll('.paragraph').length") == 1
    assert tab.run(said) == "A draft was refused: 2 reasons"
    assert tab.run(f"!{folded}.open && !document.querySelector('[data-id=p1] .findings li')")
    tab.run("document.querySelector('.paragraph').click()")
    press(tab, "d", "This paragraph has no findings")
    tab.press("c")
    tab.write("Do it by hand.")
    save(tab)
    until(tab, 'document.querySelector(".comments").textContent.includes("by hand")')
    assert tab.run(said) == "A draft was refused: 2 reasons"
    tab.press("e")
    until(tab, '!!document.querySelector(".target textarea")')
    tab.run('document.querySelector(".target textarea").value = "It rained on the town."')
    save(tab)
    until(tab, f"!{folded}")


def test_a_guest_reviews_by_link_and_sees_nothing_else(
    client: httpx2.Client, settings: Settings, job: Job, reviews: ReviewStore, tab: Tab
) -> None:
    _, token = create_link(reviews.jobs.database, job.id, "Clara", days=1)
    tab.open(f"{client.base_url}/shared/{token}".replace("//shared", "/shared"))
    until(tab, 'document.querySelectorAll(".edit").length > 0')
    tab.run('document.querySelector(".edit").focus()')
    press(tab, "r", "Rejected")
    assert reviews.paragraph(job.id, "p0").author == "Clara"
    assert not tab.run('!!document.querySelector("#links")')
    tab.run("document.cookie")
    assert "ape-review" not in tab.run("document.cookie")
    tab.call("Network.clearBrowserCookies")


def test_a_revoked_link_answers_in_words(client: httpx2.Client) -> None:
    answer = client.get("/shared/review-guess", headers={"Accept": "text/html"})
    assert (answer.status_code, "Ask for a new one" in answer.text) == (404, True)


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1300, True)])
def test_the_page_fits_a_phone_in_light_and_dark(
    client: httpx2.Client, job: Job, tab: Tab, tmp_path: Path, width: int, dark: bool
) -> None:
    tab.look(width=width, height=1400, dark=dark)
    tab.open(address(client, job))
    assert tab.run("document.documentElement.scrollWidth <= window.innerWidth")
    tab.picture(tmp_path / "review.png")


@pytest.fixture(scope="module")
def keyed(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, str]]:
    """A service with keys, and the review of a book of Anna's."""
    settings = settings_in(service_settings, tmp_path_factory.mktemp("keyed"), api_keys=("anna", "boris"))
    name = uuid.uuid4().hex
    with service(settings) as client, JobStore(settings.jobs_url) as store:
        fill(store, id=name, owner=hash_text("anna"), output=settings.uploads_folder / name / "out.txt")
        yield client, f"/books/{name}/review"


def test_another_key_can_not_guess_the_address(keyed: tuple[httpx2.Client, str]) -> None:
    client, page = keyed
    seen = {
        key: client.get(page, headers={"Authorization": f"Bearer {key}"}).status_code
        for key in ("anna", "boris", "stranger")
    }
    assert client.get(page).headers["location"].startswith("/login")
    assert seen == {"anna": 200, "boris": 404, "stranger": 303}


def test_a_page_goes_on_after_a_new_log_in_in_another_tab(keyed: tuple[httpx2.Client, str], tab: Tab) -> None:
    client, page = keyed
    tab.open(str(client.base_url).rstrip("/") + page)  # leads to the log-in, and back
    tab.run("document.querySelector('#key').value = 'anna'")
    tab.leave("document.querySelector('form').requestSubmit()")
    until(tab, "!!document.querySelector('#review')?.dataset.ready")
    token = tab.run("document.querySelector('meta[name=csrf-token]').content")
    assert tab.run(f"fetch('/logout?csrf={token}', {{ method: 'POST' }}).then((answer) => answer.ok)")
    tab.run('document.querySelector(".edit").focus()')
    tab.press("e")
    until(tab, '!document.querySelector("#problem").hidden')
    assert "Log in again in another tab" in tab.run('document.querySelector("#problem").textContent')
    form = "new URLSearchParams({ key: 'anna', to: '/' })"
    assert tab.run(f"fetch('/login', {{ method: 'POST', body: {form} }}).then((answer) => answer.ok)")
    tab.run('document.querySelector(".edit").focus()')
    press(tab, "a", "Accepted")
    tab.call("Network.clearBrowserCookies")
