"""axe-core finds nothing serious on any page of the studio: light and dark, wide and on a phone, with open dialogs."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from ape.sample import load_sample
from ape.settings import Settings
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import Say, ScriptedServer
from tests.serve.book_library import LANGUAGES, service, settings_in, wait_until_done
from tests.serve.pages.axe_core import find_axe, serious_findings
from tests.serve.pages.synthetic_trial import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAMPLE = load_sample("fr-en")
# Width, and whether it is dark.
LOOKS = ((1300, False), (390, True))
DIALOGS = {
    "search": "document.querySelector('[data-do=search]').click()",
    "all": "document.querySelector('[data-do=all]').click()",
    "keys": "document.querySelector('[data-do=keys]').click()",
    "history": "document.querySelector('[data-do=history]').click()",
    "author": "document.querySelector('[data-do=author]').click()",
}


@pytest.fixture(scope="module")
def axe() -> str:
    return find_axe()


@pytest.fixture(scope="module")
def studio(
    service_settings: Settings, engine_server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    answers = {one.mt: one.good for one in SAMPLE.paragraphs}
    engine_server.script = lambda request, turn: Say(
        next(good for mt, good in answers.items() if mt[-40:] in request["messages"][-1]["content"])
    )
    with service(settings_in(service_settings, tmp_path_factory.mktemp("audit"))) as client:
        yield client


@pytest.fixture(scope="module")
def books(studio: httpx2.Client) -> tuple[str, str]:
    """The sample chapter, edited, and again as a plan."""
    source, mt = ("\n\n".join(getattr(one, side) for one in SAMPLE.paragraphs).encode() for side in ("source", "mt"))
    files = {"source": ("tuner.fr.txt", source), "mt": ("tuner.en.txt", mt)}
    ids = []
    for start in ("true", "false"):
        answer = studio.post("/v1/books", files=files, data={**LANGUAGES, "start": start})
        assert answer.status_code == 201, answer.text
        ids.append(answer.json()["id"])
    wait_until_done(studio, ids[0])
    return ids[0], ids[1]


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    tab.close()


def base(studio: httpx2.Client) -> str:
    return str(studio.base_url).rstrip("/")


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_serious_finding(
    studio: httpx2.Client, books: tuple[str, str], tab: Tab, axe: str, look: tuple[int, bool]
) -> None:
    done, planned = books
    tab.look(width=look[0], height=900, dark=look[1])
    paths = ("/", "/passage", "/books", f"/books/{planned}", f"/books/{done}", f"/books/{done}/review", "/evaluation")
    found = {}
    for path in (*paths, "/docs", "/books/unknown"):
        tab.open(base(studio) + path)
        found[path] = serious_findings(tab, axe)
    assert [name for name in found if found[name]] == [], found


@pytest.mark.parametrize("look", LOOKS)
def test_no_dialog_of_the_review_has_a_serious_finding(
    studio: httpx2.Client, books: tuple[str, str], tab: Tab, axe: str, look: tuple[int, bool]
) -> None:
    tab.look(width=look[0], height=900, dark=look[1])
    tab.open(f"{base(studio)}/books/{books[0]}/review")
    until(tab, "document.querySelector('#review').dataset.ready")
    found = {}
    for name, script in DIALOGS.items():
        tab.run(script)
        until(tab, "document.querySelector('#dialog').open")
        found[name] = serious_findings(tab, axe)
        tab.run("document.querySelector('#dialog').close()")
    tab.press("e")
    until(tab, "!!document.querySelector('.target textarea')")
    found["edit"] = serious_findings(tab, axe)
    assert [name for name in found if found[name]] == [], found


@pytest.mark.parametrize("look", LOOKS)
def test_a_passage_with_its_result_has_no_serious_finding(
    studio: httpx2.Client, tab: Tab, axe: str, look: tuple[int, bool]
) -> None:
    tab.look(width=look[0], height=900, dark=look[1])
    tab.open(f"{base(studio)}/passage")
    tab.run("document.querySelector('#source').focus()")
    tab.write(SAMPLE.paragraphs[0].source)
    tab.run("document.querySelector('#mt').focus()")
    tab.write(SAMPLE.paragraphs[0].mt)
    tab.run("document.querySelector('#passage').requestSubmit()")
    until(tab, "document.querySelectorAll('#text .edit').length > 0")
    assert serious_findings(tab, axe) == []


def test_the_log_in_and_a_dead_link_have_no_serious_finding(
    service_settings: Settings, tmp_path_factory: pytest.TempPathFactory, tab: Tab, axe: str
) -> None:
    keyed = settings_in(service_settings, tmp_path_factory.mktemp("keyed"), api_keys=("key",))
    with service(keyed) as client:
        for width, dark in LOOKS:
            tab.look(width=width, height=900, dark=dark)
            tab.open(f"{base(client)}/books")  # leads to the log-in
            found = {"log in": serious_findings(tab, axe)}
            tab.run("document.querySelector('#key').value = 'wrong'")
            tab.leave("document.querySelector('form').requestSubmit()")
            assert tab.run("!!document.querySelector('#wrong')")
            found["wrong key"] = serious_findings(tab, axe)
            tab.open(f"{base(client)}/shared/review-gone")
            found["dead link"] = serious_findings(tab, axe)
            assert [name for name in found if found[name]] == [], found
