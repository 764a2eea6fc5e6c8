"""Drafts of many examples by an engine, kept in a file as they come, so that a broken run goes on where it was.

They are what the gate is fitted on and what results are worked out from: the model is asked once, and everything that
comes after it (gate, guards, scores) can be done again in seconds.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling, pick_model
from ape.errors import InputError, TooLong
from ape.files.hashing import hash_text
from ape.passage.events import Listener, ignore_event
from ape.passage.options import Options
from ape.passage.result import Usage
from ape.passage.segment import Draft, TokenLogprobs
from ape.post_editor import draft_sampling
from finetune.data.example import Example
from prompts import Prompt, prompt_format


@dataclass(frozen=True, slots=True)
class DraftSet:
    """What a model answered, by the hash of the prompt, as the server sent it."""

    model: Model
    replies: dict[str, Reply]

    def draft(self, example: Example) -> Draft:
        """The draft of an example, read as it would be when served."""
        prompt = prompt_format(self.model.format).render(example.question)
        reply = self.replies[_hash(prompt)]
        text = prompt.read(reply.draft.text)
        return Draft(text, reply.draft.finish_reason, reply.draft.logprobs)


def load_drafts(model: Model, examples: Sequence[Example], path: Path, *, key: str) -> DraftSet | None:
    """The drafts of all the examples from the file; None if one is not there, so that the model has to be asked."""
    kept = _read(path, key)
    names = [_hash(prompt) for prompt, _ in _render_prompts(model, examples)]
    return DraftSet(model, {name: kept[name] for name in names}) if kept.keys() >= set(names) else None


async def draft_examples(
    engine: Engine,
    name: str,
    examples: Sequence[Example],
    path: Path,
    *,
    key: str,
    at_once: int,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> DraftSet:
    """Greedy drafts of all the examples, unless the file has them already under the same key.

    `key` stands for all that decides a draft besides the example: the weights, and the format they are asked in.
    """
    async with engine.using(name) as model:
        kept = _read(path, key)
        prompts = {_hash(prompt): (prompt, example) for prompt, example in _render_prompts(model, examples)}
        waiting = [name for name in prompts if name not in kept]
        done = len(prompts) - len(waiting)
        with _open_for_append(path) as file:
            file.write("" if _ends_with_newline(path) else "\n")
            slots = asyncio.Semaphore(at_once)

            async def one(name: str) -> None:
                nonlocal done
                prompt, example = prompts[name]
                sampling = draft_sampling(example.segment, Options(), 1, with_logprobs=True)
                async with slots:
                    try:
                        reply = await engine.ask(prompt, sampling, model=model, listen=ignore_event)
                    except TooLong:
                        # No draft: one long row is not the end of all.
                        reply = Reply(Draft("", "length"), Usage())
                kept[name] = reply
                # In ASCII, so that halves of characters can be written too.
                file.write(json.dumps(_row(name, example.id, reply, key)) + "\n")
                file.flush()
                done += 1
                progress(done, len(prompts))

            try:
                async with asyncio.TaskGroup() as group:
                    for name in waiting:
                        group.create_task(one(name))
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from failed
    return DraftSet(model, {name: kept[name] for name in prompts})


def _render_prompts(model: Model, examples: Sequence[Example]) -> Iterator[tuple[Prompt, Example]]:
    return ((prompt_format(model.format).render(example.question), example) for example in examples)


def _hash(prompt: Prompt) -> str:
    """What a draft is of: ids are of files, and files change and have namesakes."""
    return hash_text(prompt.text, length=20)


@contextmanager
def _open_for_append(path: Path) -> Iterator[TextIO]:
    try:
        with path.open("a", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise InputError(f"The drafts can't be kept in {path}: {error.strerror}.") from error


def _ends_with_newline(path: Path) -> bool:
    """Whether the last line was written to its end."""
    content = path.read_bytes() if path.exists() else b""
    return not content or content.endswith(b"\n")


def _row(prompt: str, id: str, reply: Reply, key: str) -> dict[str, Any]:
    return {
        "prompt": prompt,
        "id": id,
        "key": key,
        "text": reply.draft.text,
        "finish": reply.draft.finish_reason,
        "usage": [reply.usage.prompt_tokens, reply.usage.completion_tokens],
        "chances": [[one.text, one.logprob, one.alternatives] for one in reply.draft.logprobs],
    }


def _read(path: Path, key: str) -> dict[str, Reply]:
    kept: dict[str, Reply] = {}
    if not path.exists():
        return kept
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the line that was being written when it was broken off
        if row["key"] != key:
            continue
        chances = tuple(
            TokenLogprobs(text, logprob, tuple((other, lp) for other, lp in others))
            for text, logprob, others in row["chances"]
        )
        kept[row["prompt"]] = Reply(Draft(row["text"], row["finish"], chances), Usage(*row["usage"]))
    return kept


class ReplayEngine:
    """An engine that answers from drafts made before, so that passages go through all that comes after the model."""

    def __init__(self, drafts: DraftSet, examples: Sequence[Example]) -> None:
        self._model = drafts.model
        self._answers = {
            prompt.text: drafts.replies[_hash(prompt)]
            for prompt, _ in _render_prompts(drafts.model, examples)
        }

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """The answer that was given then."""
        return self._answers[prompt.text]

    async def count(self, text: str) -> int | None:
        """Nobody counts: what did not fit has an empty draft."""
        return None

    async def models(self) -> tuple[Model, ...]:
        """The one that made the drafts."""
        return (self._model,)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """That one, with its gate and format of now."""
        yield pick_model((self._model,), name)

    def health(self) -> EngineHealth:
        """Always there."""
        return EngineHealth("up")
