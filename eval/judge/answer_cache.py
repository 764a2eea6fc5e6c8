"""Content-addressed cache of judge answers, so that an interrupted run asks only for the missing ones.

Each answer is stored as it arrives, under a digest of everything that determines it. Answers cost money, so a cache
that can't be written is an error before the first request.
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
    """Default folder of the cache."""
    return cache_folder("judge")


def answer_key(prompt: Prompt, sampling: Sampling, model: Model, *, server: str = "") -> bytes:
    """Digest of everything that determines an answer: server, model, prompt and sampling.

    The server is included because servers may give any name to their models.
    """
    body = prompt.body if isinstance(prompt.body, str) else [[turn.role, turn.content] for turn in prompt.body]
    parameters = [sampling.temperature, sampling.top_p, sampling.seed, sampling.max_tokens, sampling.max_characters]
    # ASCII JSON, since a text may contain lone surrogates.
    return cache_key(json.dumps([server, model.name, model.revision, prompt.fingerprint, body, parameters]))


class AnswerCache:
    """Cached replies, by `answer_key`."""

    def __init__(self, values: ContentCache[str]) -> None:
        self._values = values

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that are cached."""
        return {key: _parse_reply(value) for key, value in self._values.read(keys).items()}

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
            f"The judge's answers can't be stored in {path or 'memory'}: {error}. Choose another cache folder.",
            field="cache",
        )

    with open_cache(path, str, table="answers", column="answer", explain=explain) as values:
        yield AnswerCache(values)


def _parse_reply(value: str) -> Reply:
    text, finish_reason, usage = json.loads(value)
    return Reply(Draft(text, finish_reason), Usage(*usage))
