"""Answers kept by content: a judge is asked once, and a run that was broken off asks only for what is missing.

One SQLite file; a row is keyed by a digest of all that decides an answer, and is written as the answer comes. Unlike
annotations these cost money, so a file that can't be written is an error, before anything is asked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from platformdirs import user_cache_path

from ape.engines.protocol import Model, Reply, Sampling
from ape.errors import InputError
from ape.passage.result import Usage
from ape.passage.segment import Draft
from prompts import Prompt

CACHE_FILE = "answers-1.sqlite"
_SECONDS_TO_WAIT = 30.0
_AT_ONCE = 500


def default_cache_folder() -> Path:
    """Where answers are kept if the user chose no other folder."""
    return user_cache_path("ape", appauthor=False) / "judge"


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
    return blake2b(told.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The file, opened."""

    database: sqlite3.Connection
    place: str

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The answers there are."""
        found: dict[bytes, Reply] = {}
        rest = iter(keys)
        while batch := list(islice(rest, _AT_ONCE)):
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, answer FROM answers WHERE key IN ({marks})"  # noqa: S608  # question marks only
            with _explained(self.place):
                found |= {key: _unpacked(told) for key, told in self.database.execute(query, batch)}
        return found

    def write(self, key: bytes, reply: Reply) -> None:
        """Keep one, for good."""
        usage = [reply.usage.prompt_tokens, reply.usage.completion_tokens]
        told = json.dumps([reply.draft.text, reply.draft.finish_reason, usage])
        with _explained(self.place), self.database:
            self.database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, told))


@contextmanager
def open_answer_cache(folder: Path | None) -> Iterator[AnswerCache]:
    """The answers of a folder; without one, they are forgotten at the end of the block."""
    place = str(folder / CACHE_FILE) if folder else ":memory:"
    with _explained(place):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(place, timeout=_SECONDS_TO_WAIT)
    with closing(database):
        with _explained(place), database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
            )
        yield AnswerCache(database, place)


@contextmanager
def _explained(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise InputError(
            f"The judge's answers can't be kept in {place}: {error}. Choose another folder with --cache.",
            field="cache",
        ) from error


def _unpacked(told: str) -> Reply:
    text, finish_reason, usage = json.loads(told)
    return Reply(Draft(text, finish_reason), Usage(*usage))
