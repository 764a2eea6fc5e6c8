from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from eval.human.sheet import rater_sheet
from eval.human.trial import Trial
from tests.serve.pages.conftest import PagesServer
from tests.serve.pages.synthetic_trial import FREE, HOSTILE, LITERAL, invented_trial

VOTE: dict[str, Any] = {"choice": "first", "confidence": "sure", "errors": {"second": ["discourse"]}, "comment": "ok"}


@pytest.fixture
def trial() -> Trial:
    return invented_trial(3, spam=1)


@pytest.fixture
def link(pages: PagesServer, trial: Trial) -> str:
    return pages.invite(trial, "Ada").removeprefix(pages.address)


def test_the_page_and_the_sheet_tell_no_system(caller: httpx2.Client, link: str) -> None:
    for path in (link, f"{link}/sheet"):
        answer = caller.get(path)
        assert answer.status_code == 200
        for word in (f'"{LITERAL}"', f'"{FREE}"', "shuffled", "spam", '"kind"', '"repeats"'):
            assert word not in answer.text, word
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_vote_is_answered_as_it_is_kept(caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial) -> None:
    sheet = rater_sheet(trial, "Ada")[0]
    answer = caller.put(f"{link}/votes/{sheet.item.id}", json=VOTE)
    assert answer.status_code == 200
    kept = answer.json()
    assert kept["item"] == sheet.item.id
    assert {name: kept[name] for name in VOTE} == VOTE
    (vote,) = pages.trials.votes(trial.id)
    assert (vote.rater, vote.winner, vote.at) == ("Ada", sheet.first, kept["at"])
    assert caller.get(f"{link}/sheet").json()["votes"] == [kept]


def test_the_same_vote_twice_is_one_and_another_replaces_it(
    caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial
) -> None:
    item = trial.items[0].id
    answers = [caller.put(f"{link}/votes/{item}", json=VOTE) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    caller.put(f"{link}/votes/{item}", json={"choice": "tie"}).raise_for_status()
    (vote,) = pages.trials.votes(trial.id)
    assert (vote.choice, vote.confidence, vote.errors, vote.comment) == ("tie", None, {}, "")


@pytest.mark.parametrize("end", ["", "/sheet"])
@pytest.mark.parametrize("change", ["shorter", "other", "longer", "strange"])
def test_a_tampered_link_leads_nowhere(caller: httpx2.Client, link: str, change: str, end: str) -> None:
    tampered = {
        "shorter": link[:-1],
        "other": link[:-1] + ("A" if link[-1] != "A" else "B"),
        "longer": f"{link}A",
        "strange": f"{link[:-3]}%00%ff",
    }[change]
    answer = caller.get(tampered + end)
    assert answer.status_code == 404
    assert "This link is unknown" in answer.text
    kind = "application/problem+json" if end else "text/html; charset=utf-8"
    assert answer.headers["content-type"] == kind


def test_a_vote_by_a_tampered_link_is_not_kept(
    caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial
) -> None:
    answer = caller.put(f"{link[:-1]}/votes/{trial.items[0].id}", json=VOTE)
    assert (answer.status_code, answer.json()["title"]) == (404, "Unknown test")
    unread = caller.put(f"{link[:-1]}/votes/{trial.items[0].id}", content=b"{", headers={"content-type": "x/y"})
    assert (unread.status_code, unread.json()["title"]) == (404, "Unknown test")
    assert pages.trials.votes(trial.id) == []


def test_a_vote_for_an_item_that_does_not_exist_is_not_kept(
    caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial
) -> None:
    answer = caller.put(f"{link}/votes/nothing", json=VOTE)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "no such item" in answer.json()["detail"]
    assert pages.trials.votes(trial.id) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b"[]", 422),
        (b"null", 422),
        (b"{}", 422),
        (b'{"choice": "A"}', 422),
        (b'{"choice": null}', 422),
        (b'{"choice": "first", "winner": "free"}', 422),
        (b'{"choice": "first", "confidence": "very"}', 422),
        (b'{"choice": "first", "believed_human": "A"}', 422),
        (b'{"choice": "first", "errors": {"first": ["typo"]}}', 422),
        (b'{"choice": "first", "errors": {"third": []}}', 422),
        (b'{"choice": "first", "item": "another"}', 422),
        (b'{"choice": "first", "rater": "Ben"}', 422),
        (b'{"choice": "first", "comment": "\\ud83d"}', 422),
        (json.dumps({"choice": "first", "comment": "x" * 20_000}).encode(), 422),
        (json.dumps({"choice": "first", "comment": "x" * 3_000_000}).encode(), 413),
    ],
)
def test_what_is_no_vote_is_refused_with_the_reason(
    caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial, body: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = caller.put(f"{link}/votes/{trial.items[0].id}", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]
    assert pages.trials.votes(trial.id) == []


def test_a_form_of_another_site_is_no_vote(caller: httpx2.Client, link: str, trial: Trial) -> None:
    address = f"{link}/votes/{trial.items[0].id}"
    assert caller.put(address, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert caller.post(address, json=VOTE).status_code == 404


def test_a_tie_is_refused_where_there_are_none(caller: httpx2.Client, pages: PagesServer) -> None:
    trial = invented_trial(1, ties=False)
    link = pages.invite(trial, "Ada").removeprefix(pages.address)
    answer = caller.put(f"{link}/votes/{trial.items[0].id}", json={"choice": "tie"})
    assert (answer.status_code, answer.json()["field"]) == (422, "choice")


def test_a_comment_of_any_characters_comes_back_as_it_was(caller: httpx2.Client, link: str, trial: Trial) -> None:
    said = f"\0 {HOSTILE} 你好 🙂"
    answer = caller.put(f"{link}/votes/{trial.items[0].id}", json={"choice": "first", "comment": said})
    assert answer.json()["comment"] == said
    assert caller.get(f"{link}/sheet").json()["votes"][0]["comment"] == said


async def test_the_secret_of_a_link_is_not_logged(
    caller: httpx2.Client, link: str, pages: PagesServer, trial: Trial, until: Callable[..., Awaitable[None]]
) -> None:
    token = link.rpartition("/")[2]
    before = len(pages.lines)
    caller.get(link)
    caller.get(f"{link}/sheet")
    caller.put(f"{link}/votes/{trial.items[0].id}", json=VOTE)
    caller.get(f"{link}/elsewhere")
    caller.get(f"/ab/r/{token[:-1]}")
    await until(lambda: len(pages.lines) == before + 5)
    logged = pages.lines[before:]
    assert not any(token[:-1] in line for line in logged)
    assert all('"path": "/ab/r/' in line for line in logged)
