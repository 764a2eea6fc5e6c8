"""Asking a judge many questions: a few at a time, each once, every answer kept as it comes."""

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
# More than the longest tokens of any vocabulary are on average, even in English.
_CHARACTERS_A_TOKEN = 8


def ignore_progress(done: int, every: int) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How a judge is asked. At temperature 0 the seed decides nothing on most servers; on some it does."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 1
    max_tokens: int = 1024
    """For thinking aloud and the verdict together."""
    at_once: int = 8
    cache: Path | None = field(default_factory=default_cache_folder)
    """None: nothing is kept."""
    price: TokenPrice | None = None
    server: str = ""
    """Who runs the model, where its name and revision do not tell: see `server_of`."""

    @property
    def sampling(self) -> Sampling:
        """As an engine takes it."""
        return Sampling(
            self.temperature,
            self.top_p,
            self.seed,
            self.max_tokens,
            max_characters=self.max_tokens * _CHARACTERS_A_TOKEN,
        )

    def recipe(self, model: Model, file: JudgeFile) -> dict[str, object]:
        """Whatever changes an answer, for a signature."""
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
    """The address of the server without anything secret in it, or what is served here; the embedded engine's models
    have a revision that says more.
    """
    if settings.engine == "embedded":
        return ""
    if not settings.url:
        return f"{settings.engine} {settings.model}"
    scheme, host, path, _, _ = urlsplit(settings.url)
    return urlunsplit((scheme, host.rpartition("@")[2], path.rstrip("/"), "", ""))


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """The answers in the order of the questions, or why one was not given; and what they cost."""

    answers: tuple[Draft | Unscored, ...]
    cost: JudgeCost


async def ask_judge(
    prompts: Sequence[Prompt],
    engine: Engine,
    *,
    model: Model,
    asking: JudgeOptions,
    progress: JudgeProgress = ignore_progress,
) -> JudgeAnswers:
    """Ask what was not asked before.

    Raises EngineError when the server fails for good; what it answered until then is kept.
    """
    if not prompt_format(model.format).is_chat:
        raise InputError(
            f"{model.name} was tuned to post-edit and can't judge: choose one that can be talked to, with --model.",
            field="model",
        )
    keys = [answer_key(prompt, asking.sampling, model, server=asking.server) for prompt in prompts]
    with open_answer_cache(asking.cache) as kept:
        work = _Work(engine, model, asking, kept, progress, dict(zip(keys, prompts, strict=True)))
        await work.ask()
    return JudgeAnswers(tuple(work.answer(key) for key in keys), work.cost())


class _Work:
    """The questions of one run, and what has become of them so far."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        asking: JudgeOptions,
        kept: AnswerCache,
        progress: JudgeProgress,
        prompts: dict[bytes, Prompt],
    ) -> None:
        self.engine, self.model, self.asking = engine, model, asking
        self.kept, self.progress, self.prompts = kept, progress, prompts
        self.known = kept.read(list(prompts))
        self.fresh: dict[bytes, Reply] = {}
        self.failed: dict[bytes, Exception] = {}

    async def ask(self) -> None:
        """Several at a time take the next question until there is none."""
        waiting = iter([key for key in self.prompts if key not in self.known])
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.asking.at_once):
                    group.create_task(self._take(waiting))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        refused = [error for error in self.failed.values() if isinstance(error, EngineRefused)]
        if refused and not self.fresh and not self.known:
            # One question may be refused for what it says, but not all of them.
            raise refused[0]

    async def _take(self, waiting: Iterator[bytes]) -> None:
        for key in waiting:
            try:
                reply = await self.engine.ask(
                    self.prompts[key], self.asking.sampling, model=self.model, listen=ignore_event
                )
            except KeyRefused:
                raise
            except (TooLong, EngineRefused) as error:
                self.failed[key] = error
            else:
                self.kept.write(key, reply)
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
            kept=len(self.known),
            kept_usage=sum((reply.usage for reply in self.known.values()), Usage()),
            price=self.asking.price,
        )
