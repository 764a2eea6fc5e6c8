"""Drafts of many examples, cached in a JSONL file as they arrive, so that an interrupted run resumes.

The edit filter is fitted on them and scores are computed from them: the model runs once, and everything after it
(edit filter, guards, scores) can be repeated in seconds.
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
    """The replies of a model as the server sent them, by prompt hash."""

    model: Model
    replies_by_prompt_hash: dict[str, Reply]

    def draft(self, example: Example) -> Draft:
        """The draft of an example, parsed as in serving."""
        prompt = prompt_format(self.model.format).render(example.question)
        reply = self.replies_by_prompt_hash[_hash(prompt)]
        text = prompt.read(reply.draft.text)
        return Draft(text, reply.draft.finish_reason, reply.draft.logprobs)


def load_drafts(model: Model, examples: Sequence[Example], path: Path, *, key: str) -> DraftSet | None:
    """Read the drafts of all examples from the file; None if any is missing."""
    cached = _read(path, key)
    names = [_hash(prompt) for prompt, _ in _render_prompts(model, examples)]
    return DraftSet(model, {name: cached[name] for name in names}) if cached.keys() >= set(names) else None


async def draft_examples(
    engine: Engine,
    name: str,
    examples: Sequence[Example],
    path: Path,
    *,
    key: str,
    concurrency: int,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> DraftSet:
    """Draft the examples greedily, except those that the file has already under the same key.

    `key` identifies everything else that determines a draft: the weights and the prompt format.
    """
    async with engine.using(name) as model:
        cached = _read(path, key)
        prompts = {_hash(prompt): (prompt, example) for prompt, example in _render_prompts(model, examples)}
        missing = [name for name in prompts if name not in cached]
        done = len(prompts) - len(missing)
        with _open_for_append(path) as file:
            file.write("" if _ends_with_newline(path) else "\n")
            semaphore = asyncio.Semaphore(concurrency)

            async def one(name: str) -> None:
                nonlocal done
                prompt, example = prompts[name]
                sampling = draft_sampling(example.segment, Options(), 1, with_logprobs=True)
                async with semaphore:
                    try:
                        reply = await engine.ask(prompt, sampling, model=model, listen=ignore_event)
                    except TooLong:
                        # An example that does not fit has an empty draft and does not end the run.
                        reply = Reply(Draft("", "length"), Usage())
                cached[name] = reply
                # ASCII escapes, since a reply may contain lone surrogates.
                file.write(json.dumps(_row(name, example.id, reply, key)) + "\n")
                file.flush()
                done += 1
                progress(done, len(prompts))

            try:
                async with asyncio.TaskGroup() as group:
                    for name in missing:
                        group.create_task(one(name))
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from failed
    return DraftSet(model, {name: cached[name] for name in prompts})


def _render_prompts(model: Model, examples: Sequence[Example]) -> Iterator[tuple[Prompt, Example]]:
    return ((prompt_format(model.format).render(example.question), example) for example in examples)


def _hash(prompt: Prompt) -> str:
    """Key of a draft; ids would not do, since files change and two files may share ids."""
    return hash_text(prompt.text, length=20)


@contextmanager
def _open_for_append(path: Path) -> Iterator[TextIO]:
    try:
        with path.open("a", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise InputError(f"Drafts can't be written to {path}: {error.strerror}.") from error


def _ends_with_newline(path: Path) -> bool:
    """Whether the last line is complete."""
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
    cached: dict[str, Reply] = {}
    if not path.exists():
        return cached
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # a line cut off by an interruption
        if row["key"] != key:
            continue
        logprobs = tuple(
            TokenLogprobs(text, logprob, tuple((other, lp) for other, lp in others))
            for text, logprob, others in row["chances"]
        )
        cached[row["prompt"]] = Reply(Draft(row["text"], row["finish"], logprobs), Usage(*row["usage"]))
    return cached


class ReplayEngine:
    """An engine that answers from a draft set, to run the edit filter and the guards on it."""

    def __init__(self, drafts: DraftSet, examples: Sequence[Example]) -> None:
        self._model = drafts.model
        self._answers = {
            prompt.text: drafts.replies_by_prompt_hash[_hash(prompt)]
            for prompt, _ in _render_prompts(drafts.model, examples)
        }

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """The reply in the draft set."""
        return self._answers[prompt.text]

    async def count(self, text: str) -> int | None:
        """None, since an example that did not fit has an empty draft."""
        return None

    async def models(self) -> tuple[Model, ...]:
        """The model that made the drafts."""
        return (self._model,)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """That model, with its current edit filter and format."""
        yield pick_model((self._model,), name)

    def health(self) -> EngineHealth:
        """Always up."""
        return EngineHealth("up")
