"""Limits on connections, before any request or key is read: time for headers, bodies and answers, and how many.

Where there are too many, a connection gives way that has sent no whole request, or that takes nothing of its answer,
the oldest first: a client that sends its request at once is served however many others stall.
"""

from __future__ import annotations

import asyncio
import fcntl
import resource
import struct
import termios
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

from ape.settings import Settings

_CLOSE = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
REQUEST_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\n" + _CLOSE
TOO_MANY_CONNECTIONS = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n" + _CLOSE
# A client that took nothing of its answer for so long gives way to others.
STALLED_SECONDS = 5.0
# Files besides connections: the database, uploads, the engine.
_OTHER_FILES = 256


def limited_protocol(settings: Settings) -> type[H11Protocol]:
    """The protocol for uvicorn, with the limits of the settings."""
    open_connections = OpenConnections(settings.max_connections, settings.max_connections_of_address)

    class LimitedProtocol(_LimitedProtocol):
        limits = open_connections
        header_seconds = settings.header_seconds
        body_seconds = settings.body_seconds

    return LimitedProtocol


def raise_file_limit(connections: int) -> None:
    """Allow this process as many open files as connections need, if the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


class OpenConnections:
    """The open connections in the order they came, of all clients and by address."""

    def __init__(self, total: int, of_address: int) -> None:
        self._total = total
        self._of_address = of_address
        self._all: dict[_LimitedProtocol, None] = {}
        self._by_address: defaultdict[str, dict[_LimitedProtocol, None]] = defaultdict(dict)

    def admit(self, connection: _LimitedProtocol) -> bool:
        """Admit the connection, if need be in place of one that waits for a request; False if none does."""
        own = self._by_address[connection.address]
        for limit, others in ((self._of_address, own), (self._total, self._all)):
            if len(others) >= limit and not self._close_oldest(others):
                return False
        self._all[connection] = self._by_address[connection.address][connection] = None
        return True

    def remove(self, connection: _LimitedProtocol) -> None:
        """Forget a closed connection."""
        self._all.pop(connection, None)
        own = self._by_address[connection.address]
        own.pop(connection, None)
        if not own:
            del self._by_address[connection.address]

    def _close_oldest(self, connections: Iterable[_LimitedProtocol]) -> bool:
        oldest = next((connection for connection in connections if connection.gives_way), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.give_way()
        return True


class _LimitedProtocol(H11Protocol):
    """A connection that is closed when a request does not arrive in time."""

    limits: OpenConnections
    header_seconds: float
    body_seconds: float
    address = ""
    _timer: asyncio.TimerHandle | None = None
    _waits_for = ""
    _send_timer: asyncio.TimerHandle | None = None
    _unsent = 0
    _last_sent = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether no request is under way: none came yet, its headers are incomplete, or all were answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def gives_way(self) -> bool:
        """Whether nobody is served by this connection: no request is under way, or its client takes no answer."""
        return self.is_waiting or (
            self._send_timer is not None and time.monotonic() - self._last_sent >= STALLED_SECONDS
        )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, and give it the time for headers."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of every byte that waits
        self.address = self.client[0] if self.client else ""
        if self.limits.admit(self):
            self._set_timer()
        else:
            self.refuse(TOO_MANY_CONNECTIONS)

    def data_received(self, data: bytes) -> None:
        """Pass the data on, and watch for what is still missing."""
        super().data_received(data)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._stop_send_timer()
        self.limits.remove(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch whether the client takes its answer."""
        super().pause_writing()
        self._unsent, self._last_sent = self._bytes_unsent(), time.monotonic()
        self._set_send_timer()

    def resume_writing(self) -> None:
        """The client took all."""
        super().resume_writing()
        self._stop_send_timer()

    def give_way(self) -> None:
        """Close the connection for another."""
        if self._send_timer is None:
            self.refuse(REQUEST_TIMEOUT)
        else:
            self.transport.abort()

    def refuse(self, response: bytes) -> None:
        """Close the connection with a last response."""
        self._stop_timer()
        if not self.transport.is_closing():
            self.transport.write(response)
            self.transport.close()

    def _set_timer(self) -> None:
        """Headers have a time for all of them together, a body for each pause: large books take long to arrive."""
        missing = self._missing()
        if missing == "headers" and self._waits_for == missing:
            return
        self._stop_timer()
        if missing and not self.transport.is_closing():
            self._waits_for = missing
            seconds = self.header_seconds if missing == "headers" else self.body_seconds
            self._timer = self.loop.call_later(seconds, self._time_is_over)

    def _missing(self) -> str:
        if self.is_waiting:
            return "headers"
        return "body" if self.cycle.more_body else ""

    def _stop_timer(self) -> None:
        self._waits_for = ""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _time_is_over(self) -> None:
        missing = self._missing()
        if missing != self._waits_for or (missing == "body" and self.flow.read_paused):
            self._stop_timer()
            self._set_timer()  # the last response has ended meanwhile, or it is we who do not read
        elif missing == "headers" or not self.cycle.response_started:
            self.refuse(REQUEST_TIMEOUT)
        else:
            self.refuse(b"")

    def _set_send_timer(self) -> None:
        self._stop_send_timer()
        self._send_timer = self.loop.call_later(min(STALLED_SECONDS, self.body_seconds), self._check_sending)

    def _stop_send_timer(self) -> None:
        if self._send_timer:
            self._send_timer.cancel()
            self._send_timer = None

    def _check_sending(self) -> None:
        """Drop the connection if its client took no byte for the time of a pause in a body."""
        unsent = self._bytes_unsent()
        if unsent < self._unsent:
            self._last_sent = time.monotonic()
        self._unsent = unsent
        if time.monotonic() - self._last_sent >= self.body_seconds:
            self.transport.abort()  # to close it would wait for the client
        else:
            self._set_send_timer()

    def _bytes_unsent(self) -> int:
        """What the client has not confirmed, with what the system holds: that alone shows the progress of slow ones."""
        held = bytes(4)
        with suppress(OSError):
            held = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, held)
        return self.transport.get_write_buffer_size() + int(struct.unpack("i", held)[0])
