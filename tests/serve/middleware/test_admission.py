"""Limits on what is in the service at once."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ape.errors import Busy
from serve.middleware.admission import StreamLimit


def test_an_owner_has_a_limit_of_event_streams_of_its_own() -> None:
    limit = StreamLimit(2)
    with ExitStack() as streams:
        for _ in range(2):
            streams.enter_context(limit.admit("ada"))
        with pytest.raises(Busy, match="Close other streams"):
            streams.enter_context(limit.admit("ada"))
        streams.enter_context(limit.admit("ben"))
    with limit.admit("ada"):
        pass
