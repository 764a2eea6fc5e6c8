"""Answers kept by content: a judge is asked once, and a run that was broken off asks only for what is missing.

One SQLite file; a row is keyed by a digest of all that decides an answer, and is written as the answer comes. Unlike
annotations these cost money, so a file that can't be written is an error, before anything is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ape.engines.protocol import Model, Reply, Sampling
from ape.errors import InputError
from ape.files.cache import ContentCache, cache_folder, cache_key, open_cache
from ape.passage.result import Usage
from ape.passage.segment import Draft
from prompts import Prompt

CACHE_FILE = "answers-1.sqlite"


def default_cache_folder() -> Path:
    """Where answers are kept if the user chose no other folder."""
    return cache_folder("judge")


def answer_key(prompt: Prompt, sampling: Sampling, model: Model, *, server: str = "") -> bytes:
    """A digest of whatever decides the answer: the model and whose it is, the prompt's file, its text, how it is drawn.

    Servers give their models any name, so a name alone does not tell one server's from another's.
    """
    body = (
        prompt.body if isinstance(prompt.body, str) else [[turn.role, turn.content] for turn in prompt.body]
    )
    drawn = [
        sampling.temperature,
        sampling.top_p,
        sampling.seed,
        sampling.max_tokens,
        sampling.max_characters,
    ]
    # JSON in ASCII, since a half of a character is no UTF-8 and still a text.
    told = json.dumps([server, model.name, model.revision, prompt.fingerprint, body, drawn])
    return cache_key(told)


class AnswerCache:
    """Cached replies, by `answer_key`."""

    def __init__(self, values: ContentCache[str]) -> None:
        self._values = values

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that are cached."""
        return {key: _unpacked(value) for key, value in self._values.read(keys).items()}

    def write(self, key: bytes, reply: Reply) -> None:
        """Store one reply."""
        usage = [reply.usage.prompt_tokens, reply.usage.completion_tokens]
        self._values.write({key: json.dumps([reply.draft.text, reply.draft.finish_reason, usage])})


@contextmanager
def open_answer_cache(folder: Path | None) -> Iterator[AnswerCache]:
    """The cache of a folder; without one, replies are forgotten at the end of the block."""
    path = folder / CACHE_FILE if folder else None

    def explain(error: Exception) -> InputError:
        return InputError(
            f"The judge's answers can't be kept in {path or 'memory'}: {error}. Choose another folder with --cache.",
            field="cache",
        )

    with open_cache(path, str, table="answers", column="answer", explain=explain) as values:
        yield AnswerCache(values)


def _unpacked(told: str) -> Reply:
    text, finish_reason, usage = json.loads(told)
    return Reply(Draft(text, finish_reason), Usage(*usage))
