"""After training: whether an adapter stops, and whether engines serve it as transformers and peft run it.

All get the same prompts of dev and decode greedily. Raw texts are compared, before they are parsed; for each answer
that differs, the first differing token and the reason are found (`differences`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ape.engines import Engine, Sampling
from ape.passage.events import ignore_event
from finetune.checks.divergence import BROKEN, NEAR_TIE, TokenDivergence, first_divergence
from finetune.data.example import Example
from finetune.training.dev_evaluation import GreedyAnswer, generate_greedy, max_answer_tokens
from finetune.training.encoding import prompt_tokens
from prompts import TUNED_FORMAT

# Characters that a token may stand for, at the very most: an engine ends a draft that is longer.
_MAX_CHARACTERS_PER_TOKEN = 100
MIN_STOP_RATE = 0.99


@dataclass(frozen=True, slots=True)
class ReferenceAnswer:
    """A dev prompt and the greedy answer of transformers with peft; `text` is as a server would return it.

    `tokens` are those of the answer, with the end token if it was generated.
    """

    example: Example
    prompt_tokens: tuple[int, ...]
    tokens: tuple[int, ...]
    text: str
    most: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class ParityDifference:
    """A prompt with another answer from the engine."""

    example: str
    reference: str
    served: str
    why: TokenDivergence


@dataclass(frozen=True, slots=True)
class EngineParity:
    """Comparison of an engine with transformers; `stopped` counts answers that ended by themselves."""

    engine: str
    prompts: int
    stopped: int
    differences: tuple[ParityDifference, ...]

    @property
    def identical(self) -> float:
        """Share of prompts with the same text."""
        return 1 - len(self.differences) / self.prompts

    @property
    def unexplained(self) -> tuple[ParityDifference, ...]:
        """Differences that no near-tie explains."""
        return tuple(difference for difference in self.differences if difference.why.kind != "near_tie")

    def summary(self) -> dict[str, Any]:
        """The summary that the adapter card stores."""
        margins = [one.why.margin for one in self.differences if one.why.margin is not None]
        return {
            "engine": self.engine,
            "prompts": self.prompts,
            "identical": round(self.identical, 4),
            "stopped": round(self.stopped / self.prompts, 4),
            "near_ties": len(self.differences) - len(self.unexplained),
            "other_differences": len(self.unexplained),
            "widest_margin": round(max(margins), 4) if margins else None,
        }


@dataclass(frozen=True, slots=True)
class StopRate:
    """The number of prompts, and the answers that did not end; an adapter is served if 99% end by themselves."""

    prompts: int
    runaways: tuple[ReferenceAnswer, ...]

    @property
    def share(self) -> float:
        """Share of answers that ended by themselves."""
        return 1 - len(self.runaways) / self.prompts

    @property
    def passes(self) -> bool:
        """Whether the share is high enough to serve the adapter."""
        return self.share >= MIN_STOP_RATE


def measure_stop_rate(answers: Sequence[ReferenceAnswer]) -> StopRate:
    """Measure the stop rate of reference answers."""
    return StopRate(len(answers), tuple(answer for answer in answers if not answer.stopped))


def generate_reference(
    model: Any,
    tokenizer: Any,
    examples: Sequence[Example],
    *,
    progress: Callable[[int], None] = lambda _: None,
    batch: int = 8,
) -> list[ReferenceAnswer]:
    """Generate greedy answers with transformers, each capped at the length an engine is allowed."""
    found = []
    for start in range(0, len(examples), batch):
        part = examples[start : start + batch]
        for example, one in zip(part, generate_greedy(model, tokenizer, part), strict=True):
            found.append(_reference_answer(tokenizer, example, one))
        progress(len(part))
    return found


def _reference_answer(tokenizer: Any, example: Example, given: GreedyAnswer) -> ReferenceAnswer:
    most = max_answer_tokens(tokenizer, example)
    tokens = given.tokens[:most]
    text, fence, _ = tokenizer.decode(tokens, skip_special_tokens=True).partition(TUNED_FORMAT.stop[0])
    # A batch runs until its last answer has ended, so an answer may have ended beyond its own cap.
    ended = given.stopped and len(given.tokens) < most
    if ended and not fence:
        tokens = (*tokens, tokenizer.eos_token_id)
    return ReferenceAnswer(example, tuple(prompt_tokens(tokenizer, example)), tokens, text, most, ended or bool(fence))


async def compare_engine(
    engine: Engine,
    name: str,
    reference: Sequence[ReferenceAnswer],
    *,
    model: Any,
    tokenizer: Any,
    engine_name: str,
    near: float = NEAR_TIE,
    progress: Callable[[int], None] = lambda _: None,
) -> EngineParity:
    """Send the same prompts to a model of the engine, and explain every different answer.

    `engine_name` describes the engine in the card; below the margin `near`, rounding explains another token.
    """

    async def ask(one: ReferenceAnswer) -> tuple[ParityDifference | None, bool]:
        sampling = Sampling(
            temperature=0.0, top_p=1.0, seed=1, max_tokens=one.most, max_characters=_MAX_CHARACTERS_PER_TOKEN * one.most
        )
        async with engine.using(name) as chosen:
            reply = await engine.ask(
                TUNED_FORMAT.render(one.example.question), sampling, model=chosen, listen=ignore_event
            )
        progress(1)
        stopped = reply.draft.finish_reason == "stop"
        # For an answer cut within a character, some programs return a replacement character and some nothing.
        if reply.draft.text.rstrip(BROKEN) == one.text.rstrip(BROKEN):
            return None, stopped
        why = await asyncio.to_thread(
            _explain,
            model,
            tokenizer,
            one,
            reply.draft.text,
            stopped=stopped,
            read=reply.usage.prompt_tokens,
            near=near,
        )
        return ParityDifference(one.example.id, one.text, reply.draft.text, why), stopped

    answers = await asyncio.gather(*map(ask, reference))
    differences = tuple(difference for difference, _ in answers if difference is not None)
    return EngineParity(engine_name, len(reference), sum(stopped for _, stopped in answers), differences)


def _explain(
    model: Any, tokenizer: Any, one: ReferenceAnswer, served: str, *, stopped: bool, read: int, near: float
) -> TokenDivergence:
    """`read` is the engine's count of prompt tokens, if it gives one."""
    why = first_divergence(
        tokenizer,
        one.tokens,
        served,
        stopped=stopped,
        stop=TUNED_FORMAT.stop[0],
        after=lambda place: next_token_logprobs(model, [*one.prompt_tokens, *one.tokens[:place]]),
        near=near,
    )
    return replace(why, kind="prompt") if read and read != len(one.prompt_tokens) else why


@torch.no_grad()
def next_token_logprobs(model: Any, tokens: Sequence[int]) -> list[float]:
    """Log-probabilities of every token after these."""
    logits = model(torch.tensor([list(tokens)], device=model.device), logits_to_keep=1).logits[0, -1]
    logprobs: list[float] = torch.log_softmax(logits.float(), dim=-1).tolist()
    return logprobs
