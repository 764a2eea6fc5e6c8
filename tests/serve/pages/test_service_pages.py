from __future__ import annotations

import httpx2

from ape.settings import Settings
from eval.human.trial_store import TrialStore
from tests.serve.pages.synthetic_trial import FREE, invented_trial


def test_the_service_has_the_pages_beside_its_own_routes(service: httpx2.Client, service_settings: Settings) -> None:
    trial = invented_trial(2)
    with TrialStore(service_settings.jobs_url) as trials:
        trials.add(trial)
        link = f"/ab/r/{trials.invite(trial.id, 'Ada')}"
        assert service.get(link).status_code == 200
        service.put(f"{link}/votes/{trial.items[0].id}", json={"choice": "first"}).raise_for_status()
        assert len(trials.votes(trial.id)) == 1
    assert 'href="/docs"' in service.get("/").text
    assert trial.name in service.get("/ab").text
    assert FREE in service.get(f"/ab/{trial.id}/results").text
    assert service.get("/compare").status_code == 200
    assert not any(
        path.startswith(("/ab", "/compare", "/login")) for path in service.get("/openapi.json").json()["paths"]
    )


def test_a_page_of_another_site_is_told_nothing(service: httpx2.Client) -> None:
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/ab", "/compare"):
            answer = service.get(path, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
