"""Drafts at temperature 0 by the decoder that starts from the MT, instead of llama.cpp's HTTP server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from ape.cancellation import finish_despite_cancellation, stop_in_thread
from ape.engines.draft_text import DraftText
from ape.engines.mt_decoder import DecodingCounts, MtDecoder
from ape.engines.protocol import Reply, Sampling
from ape.errors import ModelError
from ape.passage.events import Listener, TokenEvent
from prompts import Message, Prompt

log = logging.getLogger("ape.engines")
# Tokens of prompt and draft. Passages that need more go to the server, so that the decoder takes less memory than it.
MAX_WINDOW = 2048

Render = Callable[[Sequence[Message]], Awaitable[str]]


class GreedyDrafts:
    """The decoder, loaded at the first draft that suits it, and the reason if it can't be used."""

    def __init__(self, path: Path, *, window: int, concurrency: int, repeatable: bool, render: Render) -> None:
        """`render` writes messages in the chat template of the model."""
        self._path, self._window, self._concurrency = path, min(window, MAX_WINDOW), concurrency
        self._repeatable, self._render = repeatable, render
        self._decoder: MtDecoder | None = None
        self._opening = asyncio.Lock()
        self._is_unusable = False

    @property
    def counts(self) -> DecodingCounts:
        """What the decoder did so far."""
        return self._decoder.counts if self._decoder else DecodingCounts()

    @property
    def busy(self) -> int:
        """The number of passages on their way."""
        return self._decoder.busy if self._decoder else 0

    async def close(self) -> None:
        """Free the memory of the decoder."""
        decoder, self._decoder, self._is_unusable = self._decoder, None, True
        if decoder:
            await stop_in_thread(decoder.close)

    def set_threads(self, threads: int) -> None:
        """Use another number of threads."""
        if self._decoder:
            self._decoder.set_threads(threads)

    async def draft(self, prompt: Prompt, sampling: Sampling, *, threads: int, listen: Listener) -> Reply | None:
        """The draft, or None if the server has to write it."""
        if sampling.temperature > 0:
            return None
        decoder = await self._open(threads)
        if decoder is None:
            return None
        tokens, shared = await self._prompt_tokens(decoder, prompt)
        unedited = decoder.proposals(prompt.unedited_reply)
        room = self._window - len(tokens)
        # A draft of twice the MT would be refused by the guards.
        if min(sampling.max_tokens, 2 * len(unedited) + 32) > room:
            return None
        loop = asyncio.get_running_loop()
        text = DraftText(
            stop=(*prompt.stop, *sampling.stop),
            max_tokens=min(sampling.max_tokens, room),
            max_characters=sampling.max_characters,
            send=lambda piece: _tell(loop, listen, piece),
        )
        try:
            return await decoder.decode(
                tokens, unedited, text, alternatives=sampling.alternatives, shared=shared if self._repeatable else None
            )
        except ModelError as error:
            self._give_up(error)
            return None

    async def _open(self, threads: int) -> MtDecoder | None:
        async with self._opening:
            if self._decoder is None and not self._is_unusable:
                try:
                    self._decoder = await finish_despite_cancellation(asyncio.to_thread(self._load, threads))
                except (ModelError, ImportError) as error:
                    self._give_up(error)
            return None if self._is_unusable else self._decoder

    def _load(self, threads: int) -> MtDecoder:
        return MtDecoder(self._path, window=self._window, threads=threads, sequences=self._concurrency)

    def _give_up(self, error: Exception) -> None:
        self._is_unusable = True
        log.warning("Drafts are written token by token, which takes longer: %s", error)

    async def _prompt_tokens(self, decoder: MtDecoder, prompt: Prompt) -> tuple[list[int], int | None]:
        """The tokens of the prompt, and how many of them belong to the messages before the passage."""
        if isinstance(prompt.body, str):
            return decoder.tokens(prompt.body), 0
        tokens = decoder.tokens(await self._render(prompt.body))
        if not self._repeatable or len(prompt.body) < 2:
            return tokens, 0
        before = decoder.tokens(await self._render(prompt.body[:-1]))
        differing = (at for at, (one, other) in enumerate(zip(tokens, before, strict=False)) if one != other)
        return tokens, next(differing, min(len(tokens), len(before)))


def _tell(loop: asyncio.AbstractEventLoop, listen: Listener, piece: str) -> None:
    try:
        loop.call_soon_threadsafe(listen, TokenEvent(piece))
    except RuntimeError:  # the loop is closed
        return
