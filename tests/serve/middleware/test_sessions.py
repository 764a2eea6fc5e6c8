"""A browser enters a key once; its cookie stands for the key in every route, and every change needs the token."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from ape.files.hashing import hash_text
from ape.settings import Settings
from serve.middleware.sessions import COOKIE, ENDED_FILE, SECRET_FILE, SESSION_SECONDS, PageSessions
from tests.serve.book_library import begin, service, settings_in

KEY, OTHER = "a-key-of-ada", "a-key-of-ben"
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def locked(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = settings_in(service_settings, tmp_path_factory.mktemp("locked"), api_keys=(KEY, OTHER))
    with service(settings) as client:
        yield str(client.base_url)


@contextmanager
def log_in(address: str, key: str = KEY) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=address, timeout=300) as client:
        answer = client.post("/login", data={"key": key, "to": "/evaluation"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/evaluation")
        yield client


def token_of(client: httpx2.Client) -> dict[str, str]:
    found = re.search(r'name="csrf-token" content="(\w+)"', client.get("/evaluation", headers=HTML).text)
    assert found
    return {"X-CSRF-Token": found.group(1)}


def test_a_browser_without_a_session_is_sent_to_the_login(locked: str) -> None:
    with httpx2.Client(base_url=locked) as client:
        answer = client.get("/evaluation", headers=HTML)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?to=/evaluation")
        assert client.get("/evaluation").headers["content-type"] == "application/problem+json"
        assert "two weeks" in client.get("/login").text


def test_the_login_leads_back_to_the_page_with_its_filters_or_above_a_form(locked: str) -> None:
    with httpx2.Client(base_url=locked) as client:
        found = [
            client.get(f"/books/x/review{query}", headers=HTML).headers["location"]
            for query in ("", "?chapter=2&stage=open")
        ]
        assert found == ["/login?to=/books/x/review", "/login?to=/books/x/review%3Fchapter%3D2%26stage%3Dopen"]
        led = client.post(
            "/login", data={"key": KEY, "to": "/books/x/review?chapter=2&stage=open"}, follow_redirects=False
        )
        assert led.headers["location"] == "/books/x/review?chapter=2&stage=open"
    with httpx2.Client(base_url=locked) as client:
        for form, page in (("/books/x/start", "/books/x"), ("/books", "/books")):
            assert client.post(form, headers=HTML).headers["location"] == f"/login?to={page}"


def test_a_form_of_a_page_older_than_the_log_in_is_answered_by_a_page(locked: str) -> None:
    with log_in(locked) as client:
        refused = client.post("/books/x/start?csrf=old", headers=HTML)
        assert (refused.status_code, refused.headers["content-type"]) == (403, "text/html; charset=utf-8")
        assert "Nothing was changed" in refused.text
        assert "Reload the page" in refused.text
        assert token_of(client)["X-CSRF-Token"] not in refused.text


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(locked: str) -> None:
    with httpx2.Client(base_url=locked) as client:
        plain = client.post("/login", data={"key": KEY}).headers["set-cookie"].lower()
        assert "httponly" in plain
        assert "samesite=lax" in plain
        assert "secure" not in plain
        proxied = client.post("/login", data={"key": KEY}, headers={"X-Forwarded-Proto": "https"})
        assert "secure" in proxied.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": "https://ape.example", "Host": "ape.example"}, 303),
    ],
)
def test_no_page_of_another_site_logs_a_browser_in(locked: str, headers: dict[str, str], status: int) -> None:
    with httpx2.Client(base_url=locked) as client:
        assert client.get("/login").headers["referrer-policy"] == "same-origin"  # else its own origin is "null"
        assert client.post("/login", data={"key": KEY}, headers=headers).status_code == status


def test_the_session_reads_as_the_key_and_changes_with_the_token_only(locked: str) -> None:
    with log_in(locked) as client:
        assert client.get("/v1/jobs").status_code == 200
        passage = {"source": "Il neigeait.", "mt": "It was snowing."}
        refused = client.post("/v1/post-edit", json=passage)
        assert (refused.status_code, "Reload the page" in refused.json()["detail"]) == (403, True)
        assert client.post("/v1/post-edit", json=passage, headers={b"X-CSRF-Token": "ключ".encode()}).status_code == 403
        assert client.post("/v1/post-edit", json=passage, headers=token_of(client)).status_code == 200


def test_a_token_of_another_session_is_refused(locked: str) -> None:
    with log_in(locked) as ada, log_in(locked) as ada_elsewhere:
        assert ada.post("/logout", headers=token_of(ada_elsewhere)).status_code == 403


def test_a_session_sees_the_books_of_its_key_only(locked: str) -> None:
    with log_in(locked) as ada, log_in(locked, OTHER) as ben:
        ada.headers.update(token_of(ada))
        job = begin(ada)
        assert ada.get(f"/v1/jobs/{job['id']}").status_code == 200
        assert ben.get(f"/v1/jobs/{job['id']}").status_code == 404
        with httpx2.Client(base_url=locked, headers={"Authorization": f"Bearer {KEY}"}) as script:
            assert script.get(f"/v1/jobs/{job['id']}").status_code == 200
            assert script.delete(f"/v1/jobs/{job['id']}").status_code == 204  # a key needs no token


def test_after_the_log_out_the_cookie_is_worthless(locked: str) -> None:
    with log_in(locked) as client:
        cookie = client.cookies[COOKIE]
        token = token_of(client)["X-CSRF-Token"]
        assert client.post(f"/logout?csrf={token}").status_code == 303
        assert COOKIE not in client.cookies
        assert client.get("/v1/jobs", headers={"Cookie": f"{COOKIE}={cookie}"}).status_code == 401


def sessions_in(folder: Path, *keys: str) -> PageSessions:
    return PageSessions(Settings(uploads=folder, cache=folder, api_keys=keys))


def test_sessions_outlive_the_service_but_not_their_key(tmp_path: Path) -> None:
    cookie = sessions_in(tmp_path, KEY).begin(hash_text(KEY))
    found = sessions_in(tmp_path, OTHER, KEY).find(cookie)
    assert found is not None
    assert found.key_hash == hash_text(KEY)
    assert sessions_in(tmp_path, OTHER).find(cookie) is None
    assert (tmp_path / SECRET_FILE).stat().st_mode & 0o777 == 0o600
    assert hash_text(KEY) not in cookie


def test_a_session_that_was_ended_stays_so_after_a_restart(tmp_path: Path) -> None:
    sessions = sessions_in(tmp_path, KEY)
    ended, other = (sessions.begin(hash_text(KEY)) for _ in range(2))
    found = sessions.find(ended)
    assert found
    sessions.end(found)
    for later in (sessions, sessions_in(tmp_path, KEY)):
        assert later.find(ended) is None
        assert later.find(other) is not None


def test_a_damaged_list_of_ended_sessions_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ENDED_FILE).write_text("a\n\nb x\nc 1 2\nd 1\n")
    sessions = sessions_in(tmp_path, KEY)
    assert sessions.find(sessions.begin(hash_text(KEY))) is not None


def test_a_session_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = sessions_in(tmp_path, KEY)
    cookie = sessions.begin(hash_text(KEY))
    later = time.time() + SESSION_SECONDS + 2
    monkeypatch.setattr(time, "time", lambda: later)
    assert sessions.find(cookie) is None


@pytest.mark.parametrize("cookie", ["", "...", "a.b.c.d", "é.9.x.y", "0" * 5000, "a.99999999999.b.", "..99999999999.."])
def test_a_made_up_cookie_is_no_session(tmp_path: Path, cookie: str) -> None:
    assert sessions_in(tmp_path, KEY).find(cookie) is None


def test_a_cookie_that_was_changed_is_no_session(tmp_path: Path) -> None:
    sessions = sessions_in(tmp_path, KEY)
    key, expires, nonce, signature = sessions.begin(hash_text(KEY)).split(".")
    assert sessions.find(f"{key}.{int(expires) + 1}.{nonce}.{signature}") is None


def test_an_entry_token_works_once(tmp_path: Path) -> None:
    sessions = PageSessions(Settings(uploads=tmp_path, cache=tmp_path), entry_token="once")
    assert not sessions.redeem("twice")
    assert sessions.redeem("once")
    assert not sessions.redeem("once")
    assert not sessions.redeem("")
