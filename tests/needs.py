"""Markers by what a test needs besides Python: a model, a browser, PostgreSQL, torch, processes of its own, vLLM.

A test gets its markers from the fixtures that it uses, from its module (`pytestmark`) or from a decorator.
`make quick` runs what needs none of them. A test that starts a process without being marked fails, so the
quick tests stay quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

import pytest

MARKERS: Mapping[str, str] = {
    "model": "loads a real language model",
    "browser": "opens pages in chromium",
    "postgresql": "starts a PostgreSQL server",
    "torch": "imports torch",
    "subprocess": "starts processes",
    "vllm": "needs a real vLLM",
    "slow": "takes more than ten seconds",
}
FIXTURE_MARKERS: Mapping[str, str] = {
    "smollm2": "model",
    "browser": "browser",
    "postgres": "postgresql",
    "run": "subprocess",
    "ape_command": "subprocess",
}
STARTS_PROCESSES = frozenset({"browser", "postgresql", "subprocess", "vllm"})

_started: list[str] = []


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen":
        if arguments[0] != "uname":  # the standard library's `platform`
            _started.append(str(arguments[0]))
    elif event in ("os.fork", "os.posix_spawn"):
        _started.append(event)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and listen for processes that tests start."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    sys.addaudithook(_audit)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if marker := FIXTURE_MARKERS.get(fixture):
                item.add_marker(marker)
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if "postgresql" in parameters.values():
            item.add_marker("postgresql")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Forget the processes of the test before."""
    _started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that starts a process without saying so."""
    result = yield
    if (
        os.environ.get("APE_TEST_NEEDS")
        and _started
        and not any(item.get_closest_marker(name) for name in STARTS_PROCESSES)
    ):
        pytest.fail(f"This test starts a process ({_started[0]}): mark it with `subprocess`.", pytrace=False)
    return result
