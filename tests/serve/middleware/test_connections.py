"""Stalled connections are closed, and never keep honest clients out."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ape.settings import Settings
from serve.middleware import connections
from serve.middleware.connections import limited_protocol
from tests.scripted import running

HALF = b"POST /length HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "
WHOLE = b"POST /length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabcde"


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def large(request: Request) -> Response:
    """Send more than the system takes for a client that does not read."""
    return PlainTextResponse("x" * int(request.query_params["bytes"]))


async def wait(request: Request) -> Response:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return PlainTextResponse("")


@contextmanager
def service(settings: Settings, **limits: Any) -> Iterator[tuple[str, int]]:
    app = Starlette(routes=[Route("/length", length, methods=["POST"]), Route("/large", large), Route("/wait", wait)])
    with running(app, http=limited_protocol(settings.model_copy(update=limits))) as address:
        yield "127.0.0.1", int(address.rpartition(":")[2])


def answer(sock: socket.socket) -> bytes:
    sock.settimeout(20)
    received = b""
    while chunk := sock.recv(4096):
        received += chunk
    return received


def ask(address: tuple[str, int]) -> bytes:
    with socket.create_connection(address) as sock:
        sock.sendall(WHOLE)
        return answer(sock)


@pytest.fixture
def settings(service_settings: Settings) -> Settings:
    return service_settings


@pytest.mark.parametrize("sent", [b"", HALF])
def test_headers_have_a_time(settings: Settings, sent: bytes) -> None:
    with service(settings, header_seconds=0.2) as address, socket.create_connection(address) as sock:
        sock.sendall(sent)
        assert answer(sock).startswith(b"HTTP/1.1 408 ")


async def test_headers_that_trickle_have_the_same_time(settings: Settings) -> None:
    with service(settings, header_seconds=0.3) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(HALF)
        for _ in range(100):
            writer.write(b"x")
            await asyncio.sleep(0.05)
            if reader.at_eof() or writer.is_closing():
                break
        else:
            pytest.fail("100 bytes trickled")
        writer.close()


def test_a_body_has_a_time_for_each_pause(settings: Settings) -> None:
    with service(settings, body_seconds=0.2) as address, socket.create_connection(address) as sock:
        sock.sendall(WHOLE[:-2])
        assert answer(sock).startswith(b"HTTP/1.1 408 ")


async def test_a_slow_body_and_a_slow_answer_are_no_stall(settings: Settings) -> None:
    with service(settings, body_seconds=0.4, header_seconds=0.4) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(WHOLE[:-5])
        for byte in WHOLE[-5:]:
            await asyncio.sleep(0.2)
            writer.write(bytes([byte]))
        assert (await reader.read()).endswith(b"5")
        writer.close()
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(), 1.2)
        writer.close()


def test_stalled_connections_give_way_to_a_request(settings: Settings) -> None:
    with service(settings, max_connections_of_address=10) as address, ExitStack() as stack:
        stalled = [stack.enter_context(socket.create_connection(address)) for _ in range(30)]
        for sock in stalled:
            sock.sendall(HALF)
        assert ask(address).endswith(b"5")
        with suppress(ConnectionResetError):
            assert answer(stalled[0]).startswith(b"HTTP/1.1 408 ")


def test_requests_under_way_are_never_given_up_for_others(settings: Settings) -> None:
    with service(settings, max_connections=2) as address, ExitStack() as stack:
        busy = [stack.enter_context(socket.create_connection(address)) for _ in range(2)]
        for sock in busy:
            sock.sendall(WHOLE[:-9].replace(b"\r\nConn", b"\r\nExpect: 100-continue\r\nConn") + b"\r\n\r\n")
            assert b"100 Continue" in sock.recv(4096)
        with suppress(ConnectionResetError):
            assert ask(address).startswith(b"HTTP/1.1 503 ")
        busy[0].sendall(b"abcde")
        assert b"200 OK" in busy[0].recv(4096)


LARGE = 40_000_000


@contextmanager
def client_that_does_not_read(address: tuple[str, int]) -> Iterator[socket.socket]:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(address)
        sock.sendall(f"GET /large?bytes={LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 3)
        yield sock


def test_a_client_that_does_not_read_is_dropped(settings: Settings) -> None:
    with service(settings, body_seconds=0.3) as address, client_that_does_not_read(address) as sock:
        sock.settimeout(20)
        received = len(sock.recv(10))  # the answer is under way
        with suppress(ConnectionResetError):
            time.sleep(1.5)
            while chunk := sock.recv(1 << 16):
                received += len(chunk)
        assert received < LARGE


def test_a_client_that_reads_slowly_gets_all(settings: Settings) -> None:
    size = 12_000_000
    with service(settings, body_seconds=0.4) as address, socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        sock.connect(address)
        sock.sendall(f"GET /large?bytes={size} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        received = 0
        while chunk := sock.recv(1 << 19):
            received += len(chunk)
            time.sleep(0.005)
        assert received > size


def test_clients_that_do_not_read_give_way_to_a_request(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.2)
    with service(settings, max_connections=10) as address, ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(client_that_does_not_read(address)).recv(10)
        time.sleep(0.5)
        assert ask(address).endswith(b"5")


def test_settings_name_the_limits(service_settings: Settings) -> None:
    shown = json.dumps(service_settings.masked())
    assert "header_seconds" in shown
    assert "max_connections_of_address" in shown
