"""The task itself: greedy post-edits of dev, and how much nearer to the human ones they are than the MT was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from finetune.data.example import Example
from finetune.training.encoding import prompt_tokens
from prompts import TUNED_FORMAT

_BATCH = 16


@dataclass(frozen=True, slots=True)
class GreedyAnswer:
    """What a model made of a prompt, as a server would read it, and whether it came to an end by itself."""

    text: str
    tokens: tuple[int, ...]
    stopped: bool


@dataclass(frozen=True, slots=True)
class TerGain:
    """TER of the MT and of the post-edits against the human ones, by sacrebleu, and the share that stopped."""

    before: float
    after: float
    stopped: float

    @property
    def ter(self) -> float:
        """Points of TER won; below 0 the model does harm."""
        return self.before - self.after


def max_answer_tokens(tokenizer: Any, example: Example) -> int:
    """As long as an answer may become: no post-edit is half as long again as its MT, and some tokens."""
    return len(tokenizer(example.mt, add_special_tokens=False).input_ids) * 3 // 2 + 16


@torch.no_grad()
def generate_greedy(
    model: Any, tokenizer: Any, examples: Sequence[Example], *, batch: int = _BATCH
) -> list[GreedyAnswer]:
    """Greedy answers, in the order of the examples; batches are of like lengths."""
    prompts = [prompt_tokens(tokenizer, example) for example in examples]
    order = sorted(range(len(examples)), key=lambda at: len(prompts[at]))
    answers: dict[int, GreedyAnswer] = {}
    was_training = model.training
    model.eval()
    try:
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            caps = [max_answer_tokens(tokenizer, examples[at]) for at in places]
            rows = _greedy(model, tokenizer, [prompts[at] for at in places], max(caps))
            # Each is cut at its own length, or what it is worth would depend on who was asked along with it.
            for at, row, cap in zip(places, rows, caps, strict=True):
                answers[at] = _read(tokenizer, examples[at], row[:cap])
    finally:
        model.train(was_training)
    return [answers[at] for at in range(len(examples))]


def _greedy(model: Any, tokenizer: Any, prompts: list[list[int]], cap: int) -> list[list[int]]:
    longest = max(map(len, prompts))
    end = tokenizer.eos_token_id
    tokens = torch.full((len(prompts), longest), end)
    attention = torch.zeros_like(tokens)
    for row, prompt in enumerate(prompts):
        tokens[row, longest - len(prompt) :] = torch.tensor(prompt)
        attention[row, longest - len(prompt) :] = 1
    made = model.generate(
        input_ids=tokens.to(model.device),
        attention_mask=attention.to(model.device),
        do_sample=False,
        num_beams=1,
        temperature=None,
        top_p=None,
        top_k=None,
        max_new_tokens=cap,
        eos_token_id=end,
        pad_token_id=end,
        use_cache=True,
    )
    rows: list[list[int]] = made[:, longest:].tolist()
    return rows


def _read(tokenizer: Any, example: Example, row: list[int]) -> GreedyAnswer:
    end = tokenizer.eos_token_id
    stopped = end in row
    tokens = tuple(row[: row.index(end)] if stopped else row)
    prompt = TUNED_FORMAT.render(example.question)
    text = tokenizer.decode(tokens, skip_special_tokens=True)
    for stop in prompt.stop:
        head, found, _ = text.partition(stop)
        text, stopped = head, stopped or bool(found)
    return GreedyAnswer(prompt.read(text), tokens, stopped)


def measure_ter_gain(examples: Sequence[Example], answers: Sequence[GreedyAnswer]) -> TerGain:
    """How much the answers won."""
    from sacrebleu.metrics.ter import TER

    humans = [[example.human for example in examples]]
    before = TER().corpus_score([example.mt for example in examples], humans).score
    after = TER().corpus_score([one.text for one in answers], humans).score
    return TerGain(before, after, sum(one.stopped for one in answers) / len(answers))
