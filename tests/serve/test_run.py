"""The socket of the service."""

from __future__ import annotations

import asyncio
import socket

from ape.settings import Settings
from serve.run import listen


async def test_small_answers_are_sent_at_once(service_settings: Settings) -> None:
    """Else the second write of an answer waits until the client confirms the first, which takes it 40 ms."""
    seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()
        await writer.wait_closed()

    listener = listen(service_settings.model_copy(update={"port": 0}))
    async with await asyncio.start_server(answer, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await seen == 1
        writer.close()
        await writer.wait_closed()
