"""Greedy answers of the embedded engine, compared with transformers and peft token by token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from ape.engines.embedded import EmbeddedEngine
from finetune.progress_bars import hide_progress_bars
from prompts import SEP, Question

THINGS = "lamp horse letter coat watch piano suitcase mirror key violin hat boat".split()
PROMPTS = [
    SEP.render(Question(f"{n} {thing} ici.", f"There is {n} {thing} here.", "French", "English"))
    for n, thing in enumerate(THINGS)
]
LENGTH = 16
# The logits of the tiny models have a spread of 2.4; those of the two programs differed by up to 0.013.
NEAR = 0.05


def regrets(base: Path, adapter: Path | None, prompts: Sequence[list[int]], served: Sequence[list[int]]) -> list[float]:
    """Largest logit difference, by prompt, between the best token of transformers and peft and the served token.

    It is nearly zero for greedy answers of the same model. llama.cpp has a cache in half precision, so it may choose
    another token in a near-tie.
    """
    with hide_progress_bars():
        model: Any = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    if adapter:
        model = PeftModel.from_pretrained(model, str(adapter))
    model.eval()
    return [_regret(model, *pair) for pair in zip(prompts, served, strict=True)]


def _regret(model: Any, prompt: list[int], answer: list[int]) -> float:
    with torch.inference_mode():
        logits = model(torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
    taken = logits.gather(1, torch.tensor(answer)[:, None])[:, 0]
    return float((logits.max(dim=1).values - taken).max())


async def by_llama(engine: EmbeddedEngine, name: str, prompts: Sequence[list[int]]) -> list[list[int]]:
    """Answers of the embedded engine."""
    async with engine.using(name) as model:
        return [
            (
                await engine._client.post(
                    f"{engine.address}/completion",
                    body={
                        "prompt": prompt,
                        "n_predict": LENGTH,
                        "temperature": 0,
                        "return_tokens": True,
                        **engine._adapter_scales(model),
                    },
                    cast_to=dict[str, Any],
                )
            )["tokens"]
            for prompt in prompts
        ]
