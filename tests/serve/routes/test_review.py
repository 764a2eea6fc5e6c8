"""A review over HTTP: everything that a page does, a script can do; strangers see nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ape.files.hashing import hash_text
from ape.jobs.store import JobStore
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.store import ReviewStore
from ape.settings import Settings
from serve.middleware.book_quota import StorageQuotaReached
from serve.middleware.review_quota import ReviewQuota
from serve.scheduler.process_calls import ProcessLimits
from tests.ape.jobs.job_factory import RECIPE
from tests.ape.review.conftest import fill
from tests.scripted import Say, ScriptedServer, translation_in
from tests.serve.book_library import service, settings_in

ANNA, BORIS = ({"Authorization": f"Bearer {key}"} for key in ("anna", "boris"))
WORSE, BETTER = "put his lamp", "put her lamp"


@pytest.fixture(scope="module")
def settings(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_in(
        service_settings, tmp_path_factory.mktemp("review"), api_keys=("anna", "boris"), timeout_seconds=120.0
    )


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx2.Client]:
    with service(settings, headers=ANNA) as client:
        client.timeout = httpx2.Timeout(300)
        yield client


@pytest.fixture
def job(settings: Settings, client: httpx2.Client) -> Iterator[str]:
    """A finished book of Anna, of which four paragraphs were edited."""
    name = uuid.uuid4().hex
    with JobStore(settings.jobs_url) as store:
        fill(store, id=name, owner=hash_text("anna"), output=settings.uploads_folder / name / "out.txt")
        store.update(name, recipe=replace(RECIPE, model="default"))
        yield f"/v1/jobs/{name}/review"
        store.remove(name)


def paragraphs(client: httpx2.Client, job: str, **wanted: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{job}/paragraphs", params=wanted).json()["paragraphs"]
    return found


def edited(client: httpx2.Client, job: str) -> dict[str, Any]:
    """The first paragraph with an edit."""
    return next(one for one in paragraphs(client, job) if one["edits"])


def decide(client: httpx2.Client, job: str, one: dict[str, Any], action: str, **more: Any) -> httpx2.Response:
    author = more.pop("author", "Anna")
    headers = more.pop("headers", None)
    decision = {"paragraph": one["id"], "version": one["version"], "action": action, **more}
    return client.post(f"{job}/decisions", json={"decisions": [decision], "author": author}, headers=headers)


@pytest.mark.parametrize(
    "path", ["paragraphs?limit=0", "paragraphs?kind=zzz", "history", "changes?after=x", "export?format=zzz"]
)
def test_strangers_are_not_told_what_a_parameter_takes(client: httpx2.Client, job: str, path: str) -> None:
    assert client.get(f"{job}/{path}").status_code == 422
    assert client.get(f"{job}/{path}", headers={"Authorization": ""}).status_code == 401
    assert client.get(f"{job}/{path}", headers=BORIS).status_code == 404


def test_a_decision_changes_the_text_and_the_counts(client: httpx2.Client, job: str) -> None:
    one = edited(client, job)
    assert BETTER in one["text"]
    before = client.get(job).json()
    answer = decide(client, job, one, "reject")
    assert answer.status_code == 200, answer.text
    (rejected,) = answer.json()["paragraphs"]
    assert rejected["text"] == one["mt"]
    assert rejected["author"] == "Anna"
    after = client.get(job).json()
    assert after["edits"]["rejected"] > before["edits"]["rejected"]
    assert after["last_change"] > before["last_change"]


def test_a_stale_tab_gets_the_present_state_and_loses_nothing(client: httpx2.Client, job: str) -> None:
    one = edited(client, job)
    decide(client, job, one, "change", text=one["text"] + " Yes.")
    answer = decide(client, job, one, "reject", author="Ben")
    assert answer.status_code == 409
    assert "changed by Anna" in answer.json()["detail"]
    assert answer.json()["paragraphs"][0]["text"].endswith(" Yes.")


def test_undo_history_and_changes_tell_the_same_story(client: httpx2.Client, job: str) -> None:
    one = edited(client, job)
    decide(client, job, one, "reject")
    undone = client.post(f"{job}/undo", json={"author": "Anna"}).json()["paragraphs"][0]
    assert undone["text"] == one["text"]
    entries = client.get(f"{job}/history", params={"paragraph": one["id"]}).json()["entries"]
    assert [(entry["action"], entry["undone"]) for entry in entries] == [("undo", False), ("reject", True)]
    changes = client.get(f"{job}/changes", params={"after": 0}).json()
    assert [each["id"] for each in changes["paragraphs"]] == [one["id"]]
    assert client.get(f"{job}/changes", params={"after": changes["last_change"]}).json()["paragraphs"] == []
    assert client.post(f"{job}/undo", json={"author": "Ben"}).status_code == 409


def test_a_replacement_is_previewed_then_made(client: httpx2.Client, job: str) -> None:
    search = {"find": "the", "replacement": "that", "whole_word": True}
    found = client.post(f"{job}/search", json=search).json()
    assert [one["id"] for one in found["paragraphs"]] == ["p0", "p1", "p2", "p4"]
    chosen = [{"id": one["id"], "version": one["version"]} for one in found["paragraphs"]]
    made = client.post(f"{job}/replace", json=search | {"paragraphs": chosen, "author": "Anna"})
    assert made.status_code == 200, made.text
    assert all("that" in one["text"] for one in made.json()["paragraphs"])
    assert client.post(f"{job}/replace", json=search | {"paragraphs": chosen}).status_code == 409


def test_the_preview_of_a_replacement_has_findings_about_the_text(client: httpx2.Client, job: str) -> None:
    found = client.post(f"{job}/search", json={"find": "kitchen table", "replacement": "kitchen table 99"})
    assert found.status_code == 200, found.text
    findings = [one for place in found.json()["paragraphs"] for one in place["findings"]]
    assert [(one["guard"], one["refused_draft"]) for one in findings] == [("numbers", False)]


@pytest.mark.parametrize("find", ["a{1000000000}", "(?:(?:(?:a?){900}){900}){900}"])
def test_an_expression_that_explodes_is_refused_and_holds_nobody_up(
    client: httpx2.Client, job: str, find: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ProcessLimits(seconds=1.0, bytes=1_000_000_000)
    monkeypatch.setattr("serve.scheduler.book_search.LIMITS", limits)
    refused = client.post(f"{job}/search", json={"find": find, "regex": True})
    assert (refused.status_code, refused.json()["field"]) == (422, "find")
    assert "simpler expression" in refused.json()["detail"]
    assert not [child for child in multiprocessing.active_children() if child.name == "search"]


def test_a_decision_that_names_an_edit_often_has_it_once_in_the_history(client: httpx2.Client, job: str) -> None:
    one = edited(client, job)
    decision = {"paragraph": one["id"], "version": one["version"], "action": "reject", "edits": [0] * 1_000}
    assert client.post(f"{job}/decisions", json={"decisions": [decision]}).status_code == 200
    entries = client.get(f"{job}/history", params={"paragraph": one["id"]}).json()["entries"]
    assert len(entries[0]["detail"]["edits"]) == 1


def test_reviews_are_within_the_quota_of_the_owner_of_the_book(
    client: httpx2.Client, settings: Settings, job: str
) -> None:
    """The holder of a link could fill the disk with comments."""
    one = edited(client, job)
    comment = {"decisions": [{"paragraph": one["id"], "action": "comment", "text": "x" * 2_000}]}
    with JobStore(settings.jobs_url) as store:

        async def is_full(limit: int, owner: str) -> bool:
            try:
                await ReviewQuota(store, limit).check(hash_text(owner))
            except StorageQuotaReached:
                return True
            return False

        assert client.post(f"{job}/decisions", json=comment).status_code == 200
        assert asyncio.run(is_full(1_000, "anna"))
        assert not asyncio.run(is_full(1_000, "boris"))
        assert not asyncio.run(is_full(1_000_000, "anna"))


def test_a_full_quota_refuses_decisions_until_a_job_is_deleted(service_settings: Settings, tmp_path: Path) -> None:
    settings = settings_in(service_settings, tmp_path, api_keys=("anna",), max_stored_bytes=1_500)
    name = uuid.uuid4().hex
    with service(settings, headers=ANNA) as client, JobStore(settings.jobs_url) as store:
        fill(store, id=name, owner=hash_text("anna"), output=settings.uploads_folder / name / "out.txt")
        job = f"/v1/jobs/{name}/review"
        one = edited(client, job)
        decision = {"paragraph": one["id"], "action": "comment", "text": "x" * 2_000}
        with JobStore(settings.jobs_url) as other:
            ReviewStore(other).decide(
                other.job(name), [ReviewDecision(one["id"], "", ReviewAction.COMMENT, text="x" * 2_000)], author="Anna"
            )
        refused = client.post(f"{job}/decisions", json={"decisions": [decision]})
        assert refused.status_code == 507
        assert "max_stored_bytes" in refused.json()["detail"]


def test_a_paragraph_is_edited_again_with_an_instruction(
    client: httpx2.Client, job: str, scripted: ScriptedServer
) -> None:
    one = edited(client, job)
    scripted.script = lambda request, turn: Say(translation_in(request).replace(WORSE, "set her lamp"))
    body = {"paragraph": one["id"], "version": one["version"], "instruction": "Say set.", "author": "Anna"}
    redone = client.post(f"{job}/redo", json=body)
    assert redone.status_code == 200, redone.text
    assert "Say set." in str(scripted.requests[-1])
    assert "set her lamp" in redone.json()["text"]
    stale = decide(client, job, one, "accept")
    assert (stale.status_code, "edited again" in stale.json()["detail"]) == (409, True)


def test_filters_and_pages_go_through_the_book(client: httpx2.Client, job: str) -> None:
    first = client.get(f"{job}/paragraphs", params={"limit": 2}).json()
    rest = paragraphs(client, job, after=first["next"], limit=100)
    assert [one["id"] for one in (*first["paragraphs"], *rest)] == [f"p{number}" for number in range(6)]
    assert all(one["edits"] for one in paragraphs(client, job, stage="undecided"))
    assert [one["id"] for one in paragraphs(client, job, text="LAMPE")] == ["p0"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "/paragraphs"), ("GET", "/history?paragraph=p"), ("GET", "/changes"), ("GET", "/links")],
)
def test_another_key_never_sees_the_review(client: httpx2.Client, job: str, method: str, path: str) -> None:
    assert client.request(method, job + path, headers=BORIS).status_code == 404
    assert client.request(method, job + path, headers={"Authorization": ""}).status_code == 401


@pytest.mark.parametrize("path", ["decisions", "undo", "redo", "search", "replace", "links"])
def test_another_key_changes_nothing(client: httpx2.Client, job: str, path: str) -> None:
    assert client.post(f"{job}/{path}", json={}, headers=BORIS).status_code == 404


def test_a_link_opens_one_book_for_one_reviewer_until_it_is_revoked(client: httpx2.Client, job: str) -> None:
    link = client.post(f"{job}/links", json={"name": "Clara"}).json()
    clara = {"Authorization": f"Bearer {link['token']}"}
    one = edited(client, job)
    (decided,) = decide(client, job, one, "reject", author="Anna", headers=clara).json()["paragraphs"]
    assert decided["author"] == "Clara"
    assert client.get("/v1/jobs", headers=clara).status_code == 401
    assert client.get(f"{job}/links", headers=clara).status_code == 401
    other = job.replace(job.split("/")[3], "0" * 32)
    assert client.get(other, headers=clara).status_code == 404
    assert client.delete(f"{job}/links/{link['id']}").status_code == 204
    refused = client.get(job, headers=clara)
    assert (refused.status_code, "revoked" in refused.json()["detail"]) == (404, True)


def test_a_guest_is_told_that_the_link_was_revoked_and_may_review_two_books(
    client: httpx2.Client, settings: Settings, job: str
) -> None:
    other = uuid.uuid4().hex
    with JobStore(settings.jobs_url) as store:
        fill(store, id=other, owner=hash_text("anna"), output=settings.uploads_folder / other / "out.txt")
        links = [
            client.post(f"{book}/links", json={"name": "Clara"}).json() for book in (job, f"/v1/jobs/{other}/review")
        ]
        with httpx2.Client(base_url=client.base_url, timeout=300) as guest:
            for link in links:
                assert guest.get(f"/shared/{link['token']}").status_code == 303
            assert [guest.get(book).status_code for book in (job, f"/v1/jobs/{other}/review")] == [200, 200]
            assert client.delete(f"{job}/links/{links[0]['id']}").status_code == 204
            late = decide(guest, job, edited(client, job), "accept")
            assert (late.status_code, "was revoked" in late.json()["detail"]) == (404, True)
            page = guest.get(job.replace("/v1/jobs", "/books"), headers={"Accept": "text/html"})
            assert (page.status_code, "was revoked" in page.text, "<nav" in page.text) == (404, True, False)
            assert guest.get(f"/v1/jobs/{other}/review").status_code == 200
        store.remove(other)


def test_texts_with_markup_and_overrides_come_back_as_they_are(client: httpx2.Client, job: str) -> None:
    hostile = '<script>alert(1)</script> =HYPERLINK("x") \u202eabc'
    (one,) = decide(client, job, edited(client, job), "change", text=hostile).json()["paragraphs"]
    assert one["text"] == hostile
    assert one["findings"]


def test_who_is_logged_in_may_follow_a_link_and_decide(client: httpx2.Client, job: str) -> None:
    """The browser then has a session and a link, and its page one token."""
    token = client.post(f"{job}/links", json={"name": "Clara"}).json()["token"]
    with httpx2.Client(base_url=client.base_url, timeout=300) as browser:
        assert browser.post("/login", data={"key": "boris"}).status_code == 303
        assert browser.get(f"/shared/{token}").status_code == 303
        page = browser.get(job.replace("/v1/jobs", "/books"))
        found = re.search(r'name="csrf-token" content="(\w+)"', page.text)
        assert found
        one = edited(browser, job)
        assert decide(browser, job, one, "reject").status_code == 403
        assert decide(browser, job, one, "reject", headers={"X-CSRF-Token": found.group(1)}).status_code == 200
        assert edited(browser, job)["author"] == "Clara"
