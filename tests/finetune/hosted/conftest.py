"""A provider for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.finetune.hosted.server import Hosting, hosting


@pytest.fixture
def provider_server() -> Iterator[Hosting]:
    """OpenAI's files and fine-tuning API on loopback, new for each test."""
    with hosting() as server:
        yield server
