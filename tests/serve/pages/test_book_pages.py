"""The pages of books work as plain forms, and in a browser with drag and drop, progress and names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx2
import pytest

from ape.settings import Settings
from tests.ape.reports.browser import Browser, Tab
from tests.scripted import ScriptedServer
from tests.serve.book_library import LANGUAGES, begin, files, look, service, settings_in, wait_until_done
from tests.serve.pages.synthetic_trial import hidden_to_the_right, until
from tests.serve.routes.test_names import NAMES, send

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe"
HTML = {"Accept": "text/html"}
# Puts two files into the form, as dropping them does.
DROP = """(async () => {{ for (const [name, text] of Object.entries({0})) {{
  const box = document.querySelector(`.drop[data-name=${{name}}]`), data = new DataTransfer();
  data.items.add(new File([text], name + ".txt"));
  box.dispatchEvent(new DragEvent("drop", {{ dataTransfer: data, bubbles: true, cancelable: true }})); }} }})()"""


@pytest.fixture(scope="module")
def shared(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    settings = settings_in(service_settings, tmp_path_factory.mktemp("studio"), max_book_bytes=3_000_000)
    with service(settings) as client:
        yield client


@pytest.fixture
def studio(shared: httpx2.Client, scripted: ScriptedServer) -> httpx2.Client:
    return shared


@pytest.fixture
def page(browser: Browser, studio: httpx2.Client) -> Iterator[Tab]:
    tab = Tab(browser)
    yield tab
    assert tab.complaints == []
    tab.close()


def address(client: httpx2.Client, path: str) -> str:
    return str(client.base_url).rstrip("/") + path


def test_a_book_goes_through_plain_forms(studio: httpx2.Client) -> None:
    form = {**files(4), "bilingual": ("", b"")}  # browsers send an empty part for a file that was not chosen
    sent = studio.post("/books", files=form, data={**LANGUAGES, "start": "false"}, headers=HTML)
    assert sent.status_code == 303, sent.text
    page = sent.headers["location"]
    plan = studio.get(page, headers=HTML).text
    assert "The plan" in plan
    assert "4 of 4 paragraphs" in plan
    assert studio.post(f"{page}/start", headers=HTML).status_code == 303
    wait_until_done(studio, page.rpartition("/")[2])
    done = studio.get(page, headers=HTML).text
    link = re.search(r'href="(/v1/jobs/\w+/result\?format=book)"', done)
    assert link
    assert studio.get(link[1]).status_code == 200
    assert "Night.txt" in studio.get("/books", headers=HTML).text
    assert studio.post(f"{page}/delete", headers=HTML).headers["location"] == "/books"
    gone = studio.get(page, headers=HTML)
    assert (gone.status_code, "<h1>" in gone.text) == (404, True)


def test_names_with_markup_and_overrides_are_only_text(studio: httpx2.Client) -> None:
    job = begin(studio, 3, start="false", name=HOSTILE.replace("\u202e", ""))
    names = f"source,target,gender\nClaire,{HOSTILE.replace(chr(0x202E), '')},female\n"
    answer = studio.put(f"/v1/jobs/{job['id']}/names", content=names.encode(), headers={"Content-Type": "text/csv"})
    assert answer.status_code == 200, answer.text
    for path in ("/books", f"/books/{job['id']}"):
        text = studio.get(path, headers=HTML).text
        assert "<img" not in text
        assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "<bdi>&lt;img" in studio.get("/books").text


def test_of_very_many_names_the_page_has_some_and_leads_to_all(studio: httpx2.Client) -> None:
    job = begin(studio, 3, start="false")
    address = f"/v1/jobs/{job['id']}/names"
    rows = "".join(f"Nom{number},Name{number}\n" for number in range(600))
    put = studio.put(address, content=f"source,target\n{rows}", headers={"Content-Type": "text/csv"})
    assert put.status_code == 200, put.text
    page = studio.get(f"/books/{job['id']}", headers=HTML).text
    assert page.count("Name1") < 500
    assert f'100 more names are in <a href="{address}?format=csv">' in page


def test_an_unknown_book_says_so_and_leads_back_to_the_list(studio: httpx2.Client) -> None:
    answer = studio.get("/books/unknown", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "This book is not here" in answer.text
    assert '<a href="/books">All your books</a>' in answer.text


def test_a_wrong_pair_is_a_sentence_on_a_page(studio: httpx2.Client) -> None:
    sent = studio.post("/books", files={"source": ("a.txt", b"Bonjour.")}, headers=HTML)
    assert (sent.status_code, "Send two files" in sent.text, "<h1>" in sent.text) == (422, True, True)
    assert '<a href="/books">All your books</a>' in sent.text


def test_an_address_that_no_page_gave_is_answered_by_a_page(studio: httpx2.Client) -> None:
    answer = studio.post("/books/unknown/print", headers=HTML)
    assert (answer.status_code, "<h1>" in answer.text) == (422, True)


@pytest.mark.browser
def test_a_book_is_dropped_planned_named_started_and_done_in_the_browser(studio: httpx2.Client, page: Tab) -> None:
    job = send(studio, NAMES, start="false").json()["id"]
    page.open(address(studio, f"/books/{job}"))
    page.run("document.querySelector('#names tr[data-id] .target').focus()")
    page.run("document.querySelector('#names tr[data-id] .target').select()")
    page.write("Fang Chao")
    page.run("document.querySelector('#names tr[data-id] .gender').value = 'male'")
    page.run("document.querySelector('#confirm').click()")
    until(page, "document.querySelector('#names-saved').textContent.startsWith('Saved')")
    (entity, *_) = studio.get(f"/v1/jobs/{job}/names").json()["entities"]
    assert (entity["target"], entity["gender"], entity["status"]) == ("Fang Chao", "male", "confirmed")
    page.leave("document.querySelector('form[action*=start] button').click()")
    until(page, "document.querySelector('#state')?.textContent === 'done'")
    assert "Fang Chao" in studio.get(f"/v1/jobs/{job}/result").text
    assert page.run("document.querySelectorAll('a[download]').length") == 7


@pytest.mark.browser
def test_names_that_were_typed_and_not_confirmed_are_kept_by_start(studio: httpx2.Client, page: Tab) -> None:
    job = send(studio, NAMES, start="false").json()["id"]
    page.open(address(studio, f"/books/{job}"))
    page.run("document.querySelector('#names tr[data-id] .target').select()")
    page.write("Fang Chao")
    page.run("document.querySelector('#names tr[data-id] .gender').value = 'male'")
    page.leave("document.querySelector('form[action*=start] button').click()")
    (entity, *_) = studio.get(f"/v1/jobs/{job}/names").json()["entities"]
    assert (entity["target"], entity["gender"], entity["status"]) == ("Fang Chao", "male", "confirmed")
    until(page, "document.querySelector('#state')?.textContent === 'done'")
    assert "Fang Chao" in studio.get(f"/v1/jobs/{job}/result").text


@pytest.mark.browser
def test_dropped_files_are_uploaded_and_too_large_ones_are_refused_at_once(studio: httpx2.Client, page: Tab) -> None:
    page.open(address(studio, "/books"))
    page.run(DROP.format(json.dumps({"source": "x" * 4_000_000, "mt": "y"})))
    page.run("document.querySelector('#upload').requestSubmit()")
    assert "The files have 4 MB; at most 3 MB can be sent" in page.run("document.querySelector('#problem').textContent")
    assert not any(one.endswith("/v1/books") for one in page.requests)
    texts = {name: content.decode() for name, (_, content) in files(4).items()}
    page.run(DROP.format(json.dumps(texts)))
    page.leave("document.querySelector('#upload').requestSubmit()")
    assert page.run("document.querySelector('#plan-title').textContent") == "The plan"
    assert look(studio, page.run("document.querySelector('#book').dataset.id"))["state"] == "paused"


@pytest.mark.browser
def test_a_field_of_the_api_is_called_by_its_label(studio: httpx2.Client, page: Tab) -> None:
    page.open(address(studio, "/books"))
    page.run(DROP.format(json.dumps({"source": "12 345", "mt": "67 890"})))
    page.run("document.querySelector('#upload').requestSubmit()")
    until(page, "!document.querySelector('#problem').hidden")
    assert "Choose it under “From”." in page.run("document.querySelector('#problem').textContent")
    assert any("422" in one for one in page.complaints)
    page.open(address(studio, "/books"))


@pytest.mark.browser
def test_a_lost_connection_says_so_and_the_files_stay_chosen(studio: httpx2.Client, page: Tab) -> None:
    page.open(address(studio, "/books"))
    page.run(DROP.format(json.dumps({"source": "a", "mt": "b"})))
    page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.run("document.querySelector('#upload').requestSubmit()")
    until(page, "document.querySelector('#problem').textContent.includes('connection was lost')")
    assert page.run("document.querySelector('#mt').files.length") == 1
    assert any("ERR_INTERNET_DISCONNECTED" in one for one in page.complaints)
    page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.open(address(studio, "/books"))


@pytest.mark.browser
def test_on_a_phone_nothing_is_out_of_sight(studio: httpx2.Client, page: Tab) -> None:
    job = begin(studio, 3, start="false")["id"]
    page.look(width=390, height=844)
    for path in ("/", "/passage", "/books", f"/books/{job}"):
        page.open(address(studio, path))
        assert not hidden_to_the_right(page), path
