"""Greedy decoding that starts from the MT, by llama.cpp's C interface in this process.

A post-edit repeats most of its MT, and a model reads many tokens at once faster than it writes them one by one. So the
MT is read after the prompt as if it were the draft. Up to the first token that is not the model's own choice it is the
draft; there the model's token is written, and the MT is proposed again from where the draft returns to it. The tokens
are those of plain greedy decoding, but for near-ties: batches of another size round differently.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ape.engines.draft_text import DraftText
from ape.engines.llama_library import BatchToken, LlamaContext, LlamaModel
from ape.engines.mt_proposals import Agreement, BatchTimes, MtProposals
from ape.engines.protocol import Reply
from ape.errors import ModelError
from ape.passage.result import Usage
from ape.passage.segment import Draft, TokenLogprobs

# Tokens of a batch, as on the server; a waiting call is cancelled between two of them.
_BATCH = 256
# Of these, tokens whose prediction is asked for: each takes four bytes for every token of the vocabulary.
_SCORED = 128


@dataclass(slots=True)
class DecodingCounts:
    """What was done so far: batches, prompt tokens read, tokens proposed from the MT, accepted, and written."""

    batches: int = 0
    read: int = 0
    proposed: int = 0
    accepted: int = 0
    written: int = 0


@dataclass(slots=True, eq=False)
class _Passage:
    """A passage to decode. `shared` is the part of the prompt after which a batch ends, if that is fixed."""

    prompt: Sequence[int]
    proposals: MtProposals
    text: DraftText
    alternatives: int
    shared: int | None
    settle: Callable[[Reply | Exception], None]
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprobs] = field(default_factory=list)
    is_cancelled: bool = False

    def reply(self) -> Reply:
        logprobs = tuple(self.logprobs[: self.text.tokens_of_text])
        draft = Draft(self.text.text, self.text.finish_reason or "stop", logprobs)
        return Reply(draft, Usage(len(self.prompt), self.text.tokens))


@dataclass(slots=True, eq=False)
class _Sequence:
    """A place for one passage at a time, and the tokens that it has read. `used` counts passages of all sequences."""

    number: int
    used: int = 0
    read: list[int] = field(default_factory=list)
    passage: _Passage | None = None

    def unread(self) -> int:
        """The tokens of the prompt that its passage has yet to read; below zero while the draft is written."""
        return len(self.passage.prompt) - len(self.read) if self.passage else 0

    def passage_now(self) -> _Passage:
        """The passage, where there is one."""
        if self.passage is None:
            raise LookupError(f"Sequence {self.number} is idle.")
        return self.passage

    def shares(self, prompt: Sequence[int]) -> int:
        """The number of tokens at the beginning of the prompt that need not be read again, the last one excepted."""
        count = 0
        for known, wanted in zip(self.read, prompt[:-1], strict=False):
            if known != wanted:
                break
            count += 1
        return count


@dataclass(slots=True)
class _Part:
    """The tokens of a batch that belong to one passage: they come after the first `first` ones of its sequence."""

    sequence: _Sequence
    passage: _Passage
    first: int
    offset: int = 0
    tokens: list[int] = field(default_factory=list)

    def next_tokens(self, room: int, *, may_score: bool) -> list[int]:
        """The rest of the prompt, or the last token of the draft."""
        known = self.passage.tokens[self.first :]
        if self.passage.shared and self.first < self.passage.shared:
            room = min(room, self.passage.shared - self.first)
        return known[: min(room, len(known) - (not may_score))]

    @property
    def scored(self) -> bool:
        """Whether the next token will be known, without a proposal."""
        return self.first + len(self.tokens) == len(self.passage.tokens)

    def batch_tokens(self) -> Iterator[BatchToken]:
        """The tokens with their places; predictions are asked for from the last one of the prompt on."""
        last = len(self.passage.prompt) - 1
        for position, token in enumerate(self.tokens, self.first):
            yield BatchToken(token, position, self.sequence.number, position >= last)


class MtDecoder:
    """A model file in memory and a thread that decodes several passages in common batches."""

    def __init__(
        self, path: Path, *, window: int, threads: int, sequences: int, times: BatchTimes | None = None
    ) -> None:
        self.counts = DecodingCounts()
        self.window = window
        self._model = LlamaModel(path)
        try:
            self._refuse_unsuitable()
            self._context = LlamaContext(self._model, window=window, batch=_BATCH, threads=threads, sequences=sequences)
        except ModelError:
            self._model.close()
            raise
        self._sequences = [_Sequence(number) for number in range(sequences)]
        self._agreement, self._times = Agreement(), times or BatchTimes()
        self._waiting: list[_Passage] = []
        self._changed = threading.Condition()
        self._threads = threads
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="mt-decoder", daemon=True)
        self._thread.start()

    def _refuse_unsuitable(self) -> None:
        if not self._model.can_forget:
            raise ModelError("Tokens that this model has read can't be taken back.")
        if "<think>" in self._model.template:
            raise ModelError("This model may think before it answers.")

    def close(self) -> None:
        """End the thread and free the memory; passages on their way fail."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()
        self._context.close()
        self._model.close()

    def set_threads(self, threads: int) -> None:
        """Use another number of threads from the next batch on."""
        with self._changed:
            self._threads = threads
        self._context.set_threads(threads)

    @property
    def busy(self) -> int:
        """The number of passages on their way."""
        with self._changed:
            return len(self._waiting) + sum(one.passage is not None for one in self._sequences)

    def tokens(self, prompt: str) -> list[int]:
        """The tokens of a prompt as the model reads it."""
        return self._model.tokens(prompt, marks=True, as_prompt=True)

    def proposals(self, unedited: str) -> list[int]:
        """The tokens of a text that the draft may repeat."""
        return self._model.tokens(unedited, marks=False)

    async def decode(
        self, prompt: Sequence[int], unedited: Sequence[int], text: DraftText, *, alternatives: int, shared: int | None
    ) -> Reply:
        """Write the draft of a prompt; `unedited` is the reply that leaves the MT as it is.

        `text` takes the tokens and knows when to stop. With `shared`, what is kept of an earlier prompt is exactly its
        first `shared` tokens, so that the draft does not depend on the passages before it.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()

        def settle(outcome: Reply | Exception) -> None:
            if answer.done():
                return
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        def settle_in_loop(outcome: Reply | Exception) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, outcome)

        passage = _Passage(
            prompt,
            MtProposals(unedited, self._agreement, self._times),
            text,
            alternatives,
            shared,
            settle_in_loop,
            tokens=list(prompt),
        )
        with self._changed:
            if self._is_closed:
                raise ModelError("The decoder is closed.")
            self._waiting.append(passage)
            self._changed.notify()
        try:
            return await answer
        finally:
            passage.is_cancelled = True

    def _work(self) -> None:
        while True:
            with self._changed:
                self._assign()
                while not self._is_closed and all(one.passage is None for one in self._sequences):
                    self._changed.wait()
                    self._assign()
                if self._is_closed:
                    self._fail(ModelError("The decoder was closed."), [*self._waiting])
                    return
            try:
                self._step()
            except Exception as error:
                self._fail(error, [])

    def _assign(self) -> None:
        """Drop passages whose caller has gone, and give the waiting ones a sequence, one that has read most if any."""
        for sequence in self._sequences:
            if sequence.passage and sequence.passage.is_cancelled:
                sequence.passage = None
        self._waiting = [one for one in self._waiting if not one.is_cancelled]
        while self._waiting and (idle := [one for one in self._sequences if one.passage is None]):
            passage = self._waiting.pop(0)
            # The instructions of another language are kept for its next passage.
            fits = [one for one in idle if 2 * one.shares(passage.prompt) >= len(passage.prompt)]
            oldest = min(idle, key=lambda one: one.used)
            sequence = max(fits, key=lambda one: one.shares(passage.prompt), default=oldest)
            kept = sequence.shares(passage.prompt)
            sequence.used = 1 + max(one.used for one in self._sequences)
            if passage.shared is not None:
                kept = passage.shared if kept >= passage.shared else 0
            self._cut(sequence, kept)
            self.counts.read += len(passage.prompt) - kept
            sequence.passage = passage

    def _cut(self, sequence: _Sequence, length: int) -> None:
        if length < len(sequence.read):
            del sequence.read[length:]
            self._context.cut(sequence.number, length)

    def _fail(self, error: Exception, waiting: Sequence[_Passage]) -> None:
        for passage in waiting:
            passage.settle(error)
        for sequence in self._sequences:
            if sequence.passage:
                sequence.passage.settle(error)
                sequence.passage = None
            with suppress(ModelError):
                self._cut(sequence, 0)
            sequence.read.clear()

    def _step(self) -> None:
        """Read one batch: the next tokens of all passages, those that are being written first, and proposals."""
        parts = self._parts()
        batch: list[BatchToken] = []
        for part in parts:
            part.offset = len(batch)
            batch += part.batch_tokens()
            part.sequence.read += part.tokens
        began = time.perf_counter()
        self._context.read(batch)
        self.counts.batches += 1
        if all(one.scored for one in batch):
            self._context.logits(0)  # waits until they are there
            self._times.measured(len(batch), time.perf_counter() - began)
        for part in parts:
            self._write(part)

    def _parts(self) -> list[_Part]:
        """What each passage reads next; proposals come last, as they fill the batch to a good size."""
        parts: list[_Part] = []
        room, scored = _BATCH, _SCORED
        for sequence in sorted(self._active(), key=_Sequence.unread):
            part = _Part(sequence, sequence.passage_now(), first=len(sequence.read))
            part.tokens = part.next_tokens(room, may_score=scored > 0)
            room -= len(part.tokens)
            scored -= part.scored
            parts.append(part)
        for part in parts:
            if part.scored:
                proposal = part.passage.proposals.propose(_BATCH - room, min(room, scored))
                part.tokens = [*part.tokens, *proposal]
                room -= len(proposal)
                scored -= len(proposal)
                self.counts.proposed += len(proposal)
        return parts

    def _active(self) -> Iterator[_Sequence]:
        return (one for one in self._sequences if one.passage)

    def _write(self, part: _Part) -> None:
        """Add the model's own tokens as far as they are known; take back what was read beyond them."""
        sequence, passage = part.sequence, part.passage
        at = len(passage.tokens) - 1  # what is predicted after it is the next token
        while part.first <= at < len(sequence.read):
            logits = self._context.logits(part.offset + at - part.first)
            token = int(logits.argmax())
            if passage.alternatives:
                passage.logprobs.append(self._model.logprobs(logits, token, alternatives=passage.alternatives))
            self._add(passage, token)
            at += 1
            is_read = at < len(sequence.read) and sequence.read[at] == token
            self.counts.accepted += is_read
            if passage.text.finish_reason or not is_read:
                self._cut(sequence, at)
                break
        if passage.text.finish_reason:
            sequence.passage = None
            passage.settle(passage.reply())

    def _add(self, passage: _Passage, token: int) -> None:
        passage.tokens.append(token)
        passage.proposals.add(token)
        passage.text.add(self._model.piece(token), is_end=self._model.ends(token))
        self.counts.written += 1
