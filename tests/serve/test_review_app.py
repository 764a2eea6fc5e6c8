"""`ape book review`: one job of the command line, by its link alone."""

from __future__ import annotations

from pathlib import Path

import httpx2

from ape.jobs.store import JobStore
from ape.review.links import create_link
from ape.settings import Settings
from serve.review_app import OneJob, create_review_app
from tests.ape.review.conftest import fill
from tests.scripted import running


def test_the_review_of_a_job_is_entered_by_its_link_alone(tmp_path: Path) -> None:
    settings = Settings(cache=tmp_path, jobs=str(tmp_path / "jobs.sqlite"), uploads=tmp_path / "uploads")
    with JobStore(settings.jobs_url) as store:
        job, other = fill(store, id="a" * 32), fill(store, id="b" * 32)
        _, token = create_link(store.database, job.id, "Anna", days=1)
        app = create_review_app(settings, OneJob(store, job.id, tmp_path))
        with running(app) as address, httpx2.Client(base_url=address, timeout=300) as client:
            assert client.get(f"/books/{job.id}/review").status_code == 404
            page = client.get(f"/shared/{token}", follow_redirects=True)
            assert (page.status_code, "put" in page.text) == (200, True)
            assert client.get(f"/v1/jobs/{other.id}/review").status_code == 404
            forged = client.post(f"/v1/jobs/{job.id}/review/undo", json={})
            assert forged.status_code == 403
            key = {"Authorization": f"Bearer {token}"}
            version = client.get(f"/v1/jobs/{job.id}/review/paragraphs", headers=key).json()["paragraphs"][0]["version"]
            body = {"paragraph": "p0", "version": version, "instruction": "x"}
            redo = client.post(f"/v1/jobs/{job.id}/review/redo", json=body, headers=key)
            assert (redo.status_code, "No model" in redo.json()["detail"]) == (409, True)
