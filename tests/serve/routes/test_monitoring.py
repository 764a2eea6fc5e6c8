"""Readiness tells of a database that went away."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.settings import Settings
from tests.ape.jobs.postgres import missing, running_postgres
from tests.scripted import ScriptedServer
from tests.serve.book_library import service, settings_in


@pytest.mark.postgresql
@pytest.mark.skipif(bool(missing()), reason=missing() or "PostgreSQL is installed")
def test_a_service_without_its_database_is_not_ready(
    service_settings: Settings, scripted: ScriptedServer, tmp_path: Path
) -> None:
    with running_postgres() as server:
        settings = settings_in(service_settings, tmp_path, jobs=server.fresh("ready"))
        with service(settings) as client:
            assert client.get("/readyz").status_code == 200
            server.stop()
            lost = client.get("/readyz")
            assert (lost.status_code, lost.json()["title"]) == (503, "Job store unavailable")
            assert client.get("/healthz").status_code == 200
            server.start()
            assert client.get("/readyz").status_code == 200
