"""The same prompts to transformers with peft and to the embedded engine, greedily, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from ape.engines.embedded import EmbeddedEngine
from prompts import SEP, Question

THINGS = "lamp horse letter coat watch piano suitcase mirror key violin hat boat".split()
PROMPTS = [
    SEP.render(Question(f"{n} {thing} ici.", f"There is {n} {thing} here.", "French", "English"))
    for n, thing in enumerate(THINGS)
]
LENGTH = 16
# Logits of the tiny models spread by 2.4; those of two programs differed by up to 0.013.
NEAR = 0.05


def regrets(
    base: Path, adapter: Path | None, prompts: Sequence[list[int]], served: Sequence[list[int]]
) -> list[float]:
    """How far below the likeliest token, at most, the served ones are for transformers and peft, prompt by prompt.

    Greedy answers of the same model have next to none. llama.cpp keeps what it has read in half precision, so where two
    tokens are nearly as likely it may take the other.
    """
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
                        **engine._adapter_scales(model),
                    },
                    cast_to=dict[str, Any],
                )
            )["tokens"]
            for prompt in prompts
        ]
