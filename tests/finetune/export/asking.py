"""The same prompts to transformers with peft and to the embedded engine, greedily, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from ape.engines.embedded import EmbeddedEngine
from prompts import Question, render_sep

THINGS = "lamp horse letter coat watch piano suitcase mirror key violin hat boat".split()
PROMPTS = [
    render_sep(Question(f"{n} {thing} ici.", f"There is {n} {thing} here.", "French", "English"))
    for n, thing in enumerate(THINGS)
]
LENGTH = 16


def by_peft(base: Path, adapter: Path | None, prompts: Sequence[list[int]]) -> list[list[int]]:
    """What the training library makes of them, in float32."""
    model: Any = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    if adapter:
        model = PeftModel.from_pretrained(model, str(adapter))
    model.eval()
    return [_greedy(model, prompt) for prompt in prompts]


def _greedy(model: Any, prompt: list[int]) -> list[int]:
    with torch.inference_mode():
        written: Any = model.generate(
            input_ids=torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=LENGTH,
            do_sample=False,
            pad_token_id=0,
        )
    return list(written[0, len(prompt) :].tolist())


async def by_llama(engine: EmbeddedEngine, name: str, prompts: Sequence[list[int]]) -> list[list[int]]:
    """What the embedded engine makes of them."""
    async with engine.using(name) as model:
        return [
            (
                await engine._client.post(
                    f"{engine._address}/completion",
                    body={
                        "prompt": prompt,
                        "n_predict": LENGTH,
                        "temperature": 0,
                        "return_tokens": True,
                        **engine._chosen(model),
                    },
                    cast_to=dict[str, Any],
                )
            )["tokens"]
            for prompt in prompts
        ]


def alike(one: Sequence[list[int]], other: Sequence[list[int]]) -> float:
    """The share of answers that are the same to the last token. llama.cpp may leave the end token out."""
    same = [ours[: len(theirs)] == theirs[: len(ours)] for ours, theirs in zip(one, other, strict=True)]
    return sum(same) / len(same)
