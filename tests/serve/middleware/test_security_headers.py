"""Every response has strict headers, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from ape.settings import Settings
from serve.middleware.security_headers import DEFAULTS
from tests.serve.book_library import begin, service, settings_in, wait_until_done

KEY = {"Authorization": "Bearer a-key"}


@pytest.fixture(scope="module")
def client(service_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with service(settings_in(service_settings, tmp_path_factory.mktemp("headers"), api_keys=("a-key",))) as client:
        yield client


@pytest.mark.parametrize(
    "path",
    ["/", "/nothing", "/login", "/healthz", "/openapi.json", "/v1/jobs", "/v1/jobs?limit=0", "/static/pages.css",
     "/static/nothing.js", "/ab/r/x", "/shared/x", "/metrics"],
)  # fmt: skip
@pytest.mark.parametrize("headers", [{}, KEY, {"Accept": "text/html"}], ids=["stranger", "key", "browser"])
def test_pages_json_and_errors_have_them(client: httpx2.Client, path: str, headers: dict[str, str]) -> None:
    found = client.get(path, headers=headers).headers
    assert {name.lower() for name in DEFAULTS} <= set(found)
    assert found["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in found["content-security-policy"]


def test_downloads_and_streams_have_them(client: httpx2.Client) -> None:
    client.headers.update(KEY)
    job = begin(client)["id"]
    wait_until_done(client, job)
    for path in ("result", "result?format=report", "names", "events"):
        found = client.get(f"/v1/jobs/{job}/{path}").headers
        assert {name.lower() for name in DEFAULTS} <= set(found), path
    assert client.get(f"/v1/jobs/{job}/result?format=report").headers["content-security-policy"] == "sandbox"
