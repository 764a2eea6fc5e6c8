"""A book can be planned first: its job waits until it is resumed, and tells what it will do."""

from __future__ import annotations

import httpx2
import pytest

from tests.scripted import ScriptedServer
from tests.serve.book_library import begin, look, wait_until_done


@pytest.fixture(autouse=True)
def _engine(scripted: ScriptedServer) -> None:
    """The model returns the MT."""


def test_a_planned_book_waits_for_its_owner(service: httpx2.Client, scripted: ScriptedServer) -> None:
    job = begin(service, 12, start="false")
    assert job["state"] == "paused"
    plan = service.get(f"/v1/jobs/{job['id']}/plan").json()
    assert (plan["paragraphs"], plan["pairs"], plan["skipped"]) == (12, 12, [])
    assert plan["words"] == job["counts"]["words"]
    assert 0 < plan["seconds"]["low"] < plan["seconds"]["high"]
    assert plan["cost"] is None  # a server by URL without a price
    assert scripted.requests == []
    assert look(service, job["id"])["counts"]["waiting"] == 12
    assert service.post(f"/v1/jobs/{job['id']}/resume").json()["state"] == "running"
    assert wait_until_done(service, job["id"])["counts"]["unchanged"] == 12


def test_the_plan_says_what_is_left_alone_and_why(service: httpx2.Client) -> None:
    lines = [b'{"id": "a", "source": "Il neigeait sur la ville.", "mt": "It snowed on the city."}']
    lines.append(b'{"id": "b", "source": "* * *", "mt": "* * *"}')
    answer = service.post(
        "/v1/books", files={"bilingual": ("b.jsonl", b"\n".join(lines))}, data={"start": "false", "names": "none"}
    )
    assert answer.status_code == 201, answer.text
    plan = service.get(f"/v1/jobs/{answer.json()['id']}/plan").json()
    assert plan["pairs"] == 1
    assert [(one["reason"], one["count"]) for one in plan["skipped"]] == [("no words in it", 1)]
    assert plan["skipped"][0]["examples"] == [{"id": "b", "text": "* * *"}]


def test_a_cancelled_job_keeps_what_is_done_and_can_not_go_on(service: httpx2.Client) -> None:
    job = begin(service, 12, start="false")["id"]
    assert service.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert service.post(f"/v1/jobs/{job}/resume").status_code == 409
    assert service.get(f"/v1/jobs/{job}/result?partial=true").status_code == 200
    assert service.delete(f"/v1/jobs/{job}").status_code == 204


def test_the_languages_of_a_passage_are_named(service: httpx2.Client) -> None:
    found = service.post("/v1/languages", json={"source": "方召推开门。", "mt": "Fang Zhao opened the door."}).json()
    assert (found["source_language"], found["source_name"], found["target_name"]) == ("zh", "Chinese", "English")
    assert service.post("/v1/languages", json={"source": "", "mt": "x"}).status_code == 422
