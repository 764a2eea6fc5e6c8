"""A service on a real vLLM, shared by the tests that do not change it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vllm.served_drafts import Served, served, write_cards


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/vllm" in str(item.path):
            item.add_marker("vllm")


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder with the base and the plain adapters."""
    place = os.environ.get("APE_TEST_VLLM_MODELS")
    if not place:
        pytest.skip("`make test-vllm` sets up a vLLM and runs these")
    return Path(place)


@pytest.fixture(scope="session")
def vllm_python(models: Path) -> str:
    return os.environ["APE_VLLM_PYTHON"]


@pytest.fixture(scope="session")
def adapters(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of adapters: `copier` has the prompt format `sep`, `rambler` has `chat`."""
    place = tmp_path_factory.mktemp("vllm") / "adapters"
    write_cards(models, place)
    return place


@pytest.fixture(scope="session")
def service(
    models: Path, vllm_python: str, adapters: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The shared service, with both adapters loaded."""
    words = [f"--adapter={name}={adapters / name}" for name in ("copier", "rambler")]
    home = tmp_path_factory.mktemp("home")
    with served(models, *words, vllm_python=vllm_python, adapters=adapters, home=home) as running:
        yield running
