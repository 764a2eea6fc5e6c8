"""What transformers and peft write to a prompt, greedily, in float32: the yardstick for what vLLM serves.

    python -m tests.vllm.reference BASE [--adapter FOLDER] < prompts.jsonl > answers.jsonl

A prompt is `{"prompt": …, "max_tokens": …, "stop": […]}`. An answer has the tokens and the text as a server gives them,
and for every token its margin: by how much its logit was above that of the next best token, which is named beside. Two
programs add the same numbers in different orders, so where a margin is tiny they may part without either being wrong.

Runs in vLLM's environment.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from tqdm import tqdm
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """Answer each line of stdin by a line on stdout."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.vllm.reference", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("base", type=Path, help="the folder of the base model")
    parser.add_argument("--adapter", type=Path, help="the folder of an adapter; none means the base alone")
    given = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(given.base)
    model = AutoModelForCausalLM.from_pretrained(given.base, dtype=torch.float32)
    if given.adapter:
        model = PeftModel.from_pretrained(model, given.adapter)
    model.eval()
    with torch.inference_mode():
        for line in tqdm(sys.stdin.readlines(), unit="prompt", disable=None):
            print(json.dumps(answer(model, tokenizer, **json.loads(line))), flush=True)


def answer(model: Any, tokenizer: Any, *, prompt: str, max_tokens: int, stop: list[str]) -> dict[str, object]:
    """Go on from the prompt with the likeliest token each time.

    The end token and the tokens of a stop string are among `tokens`, and not in `text`.
    """
    tokens: list[int] = []
    margins: list[float] = []
    runners_up: list[int] = []
    text, finish, cache = "", "length", None
    fresh = tokenizer(prompt).input_ids
    while len(tokens) < max_tokens:
        step = model(torch.tensor([fresh]), past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache = step.past_key_values
        best = step.logits[0, -1].topk(2)
        (first, second), (high, next_high) = best.indices.tolist(), best.values.tolist()
        fresh = [first]
        tokens.append(first)
        runners_up.append(second)
        margins.append(high - next_high)
        text = tokenizer.decode(tokens, skip_special_tokens=True)
        met = [text.index(sign) for sign in stop if sign in text]
        if first == tokenizer.eos_token_id or met:
            finish, text = "stop", text[: min(met)] if met else text
            break
    return {
        "tokens": tokens,
        "text": text,
        "finish": finish,
        "margins": margins,
        "runners_up": runners_up,
    }


if __name__ == "__main__":
    main()
