"""Dev evaluation: greedy post-edits, and their TER against the human versions compared with the MT's."""

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
    """The answer to a prompt as a server would read it; `stopped` if it ended by itself."""

    text: str
    tokens: tuple[int, ...]
    stopped: bool


@dataclass(frozen=True, slots=True)
class TerGain:
    """sacrebleu's TER of the MT and of the post-edits, and the share of answers that ended by themselves."""

    ter_before: float
    ter_after: float
    stop_rate: float

    @property
    def ter(self) -> float:
        """Points of TER gained; below 0 the model does harm."""
        return self.ter_before - self.ter_after


def max_answer_tokens(tokenizer: Any, example: Example) -> int:
    """Cap on the answer: one and a half times the MT plus 16 tokens, more than any post-edit needs."""
    return len(tokenizer(example.mt, add_special_tokens=False).input_ids) * 3 // 2 + 16


@torch.no_grad()
def generate_greedy(
    model: Any, tokenizer: Any, examples: Sequence[Example], *, batch: int = _BATCH
) -> list[GreedyAnswer]:
    """Generate greedy answers, in the order of the examples, in batches of similar length."""
    prompts = [prompt_tokens(tokenizer, example) for example in examples]
    order = sorted(range(len(examples)), key=lambda at: len(prompts[at]))
    answers: dict[int, GreedyAnswer] = {}
    was_training = model.training
    model.eval()
    try:
        for start in range(0, len(order), batch):
            indices = order[start : start + batch]
            caps = [max_answer_tokens(tokenizer, examples[at]) for at in indices]
            rows = _generate(model, tokenizer, [prompts[at] for at in indices], max(caps))
            # Cut each at its own cap, or its score would depend on the rest of the batch.
            for at, row, cap in zip(indices, rows, caps, strict=True):
                answers[at] = _read(tokenizer, examples[at], row[:cap])
    finally:
        model.train(was_training)
    return [answers[at] for at in range(len(examples))]


def _generate(model: Any, tokenizer: Any, prompts: list[list[int]], cap: int) -> list[list[int]]:
    longest = max(map(len, prompts))
    end = tokenizer.eos_token_id
    tokens = torch.full((len(prompts), longest), end)
    attention = torch.zeros_like(tokens)
    for row, prompt in enumerate(prompts):
        tokens[row, longest - len(prompt) :] = torch.tensor(prompt)
        attention[row, longest - len(prompt) :] = 1
    generated = model.generate(
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
    rows: list[list[int]] = generated[:, longest:].tolist()
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
    """Compare the TER of the answers with that of the MT."""
    from sacrebleu.metrics.ter import TER

    humans = [[example.human for example in examples]]
    before = TER().corpus_score([example.mt for example in examples], humans).score
    after = TER().corpus_score([one.text for one in answers], humans).score
    return TerGain(before, after, sum(one.stopped for one in answers) / len(answers))
