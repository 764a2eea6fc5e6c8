"""Concurrent requests to a judge, with a cache for its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

from ape.engines.protocol import Engine, Model, Reply, Sampling
from ape.errors import EngineRefused, InputError, KeyRefused, TooLong
from ape.jobs.estimate import TokenPrice
from ape.passage.events import ignore_event
from ape.passage.result import Usage
from ape.passage.segment import Draft
from ape.settings import Settings
from eval.judge.answer_cache import AnswerCache, answer_key, default_cache_folder, open_answer_cache
from eval.judge.cost import JudgeCost
from eval.judge.judgement import Unscored
from prompts import Prompt, prompt_format
from prompts.judge import JudgeFile, judge_fingerprint

JudgeProgress: TypeAlias = Callable[[int, int], None]
# Generous upper bound of the average length of tokens, even in English.
_CHARACTERS_A_TOKEN = 8


def ignore_progress(done: int, every: int) -> None:
    """Progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Sampling, concurrency and cache of judge requests. On some servers the seed matters even at temperature 0."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 1
    max_tokens: int = 1024
    """For reasoning and verdict together."""
    concurrency: int = 8
    cache: Path | None = field(default_factory=default_cache_folder)
    """None: no cache."""
    price: TokenPrice | None = None
    server: str = ""
    """Identity of the server, where name and revision do not determine the model; see `server_identity`."""

    @property
    def sampling(self) -> Sampling:
        """Sampling parameters for an engine."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            max_tokens=self.max_tokens,
            max_characters=self.max_tokens * _CHARACTERS_A_TOKEN,
        )

    def signature_fields(self, model: Model, file: JudgeFile) -> dict[str, object]:
        """Everything that changes an answer, for the signature."""
        return {
            "model": f"{model.name}@{model.revision}" if model.revision else model.name,
            **({"server": self.server} if self.server else {}),
            "prompt": judge_fingerprint(file),
            "temperature": f"{self.temperature:g}",
            "top_p": f"{self.top_p:g}",
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }


def server_identity(settings: Settings) -> str:
    """The server's address without credentials; empty for the embedded engine, whose models have a revision."""
    if settings.engine == "embedded":
        return ""
    if not settings.url:
        return f"{settings.engine} {settings.model}"
    scheme, host, path, _, _ = urlsplit(settings.url)
    return urlunsplit((scheme, host.rpartition("@")[2], path.rstrip("/"), "", ""))


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """Answers in the order of the prompts, missing ones with a reason, and their cost."""

    answers: tuple[Draft | Unscored, ...]
    cost: JudgeCost


async def ask_judge(
    prompts: Sequence[Prompt],
    engine: Engine,
    *,
    model: Model,
    options: JudgeOptions,
    progress: JudgeProgress = ignore_progress,
) -> JudgeAnswers:
    """Request the answers that are not cached.

    Raises EngineError when the server fails permanently; earlier answers stay in the cache.
    """
    if not prompt_format(model.format).is_chat:
        raise InputError(f"{model.name} was tuned to post-edit and can't judge. Choose a chat model.", field="model")
    keys = [answer_key(prompt, options.sampling, model, server=options.server) for prompt in prompts]
    with open_answer_cache(options.cache) as cache:
        run = _JudgeRun(engine, model, options, cache, progress, dict(zip(keys, prompts, strict=True)))
        await run.ask()
    return JudgeAnswers(tuple(run.answer(key) for key in keys), run.cost())


class _JudgeRun:
    """The prompts of one run, with their answers and failures so far."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        options: JudgeOptions,
        cache: AnswerCache,
        progress: JudgeProgress,
        prompts: dict[bytes, Prompt],
    ) -> None:
        self.engine, self.model, self.options = engine, model, options
        self.cache, self.progress, self.prompts = cache, progress, prompts
        self.known = cache.read(list(prompts))
        self.fresh: dict[bytes, Reply] = {}
        self.failed: dict[bytes, Exception] = {}

    async def ask(self) -> None:
        """Process all prompts that are not cached, with limited concurrency."""
        waiting = iter([key for key in self.prompts if key not in self.known])
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.options.concurrency):
                    group.create_task(self._process(waiting))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        refused = [error for error in self.failed.values() if isinstance(error, EngineRefused)]
        if refused and not self.fresh and not self.known:
            # One prompt may be refused for its content, but not all of them.
            raise refused[0]

    async def _process(self, waiting: Iterator[bytes]) -> None:
        for key in waiting:
            try:
                reply = await self.engine.ask(
                    self.prompts[key], self.options.sampling, model=self.model, listen=ignore_event
                )
            except KeyRefused:
                raise
            except (TooLong, EngineRefused) as error:
                self.failed[key] = error
            else:
                self.cache.write(key, reply)
                self.fresh[key] = reply
            self.progress(len(self.known) + len(self.fresh) + len(self.failed), len(self.prompts))

    def answer(self, key: bytes) -> Draft | Unscored:
        if error := self.failed.get(key):
            return Unscored("too_long" if isinstance(error, TooLong) else "refused", (str(error),))
        return (self.known.get(key) or self.fresh[key]).draft

    def cost(self) -> JudgeCost:
        return JudgeCost(
            requests=len(self.fresh) + len(self.failed),
            usage=sum((reply.usage for reply in self.fresh.values()), Usage()),
            cached=len(self.known),
            cached_usage=sum((reply.usage for reply in self.known.values()), Usage()),
            price=self.options.price,
        )
