"""Wait for a database server that is away, as at a restart, and go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from ape.errors import StoreUnreachable

log = logging.getLogger("ape.jobs")
T = TypeVar("T")

# How long a worker waits for the server to come back, and the longest pause between two attempts.
RECONNECT_SECONDS = 600.0
LONGEST_PAUSE_SECONDS = 5.0


def call_when_reachable(call: Callable[[], T], *, stopped: Event | None = None) -> T:
    """Call the store; while its server is away, try again in growing pauses, until `stopped` is set.

    The call must be one that may be repeated: a server that goes away may have done it.
    """
    until, pause, stopped = time.monotonic() + RECONNECT_SECONDS, 0.2, stopped or Event()
    while True:
        try:
            return call()
        except StoreUnreachable as error:
            if time.monotonic() > until or stopped.is_set():
                raise
            if pause == 0.2:
                log.warning("%s Waiting for it.", error)
        stopped.wait(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
