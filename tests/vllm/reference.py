"""Greedy completions of transformers and peft in float32, as the reference for vLLM.

    python -m tests.vllm.reference BASE [--adapter FOLDER] < prompts.jsonl > answers.jsonl

A prompt is `{"prompt": …, "max_tokens": …, "stop": […], "guess": […]}`. An answer has the tokens and the text as a
server gives them, and for every token its margin: by how much its logit was above that of the next best token, which is
named beside. Two programs add the same numbers in different orders, so where a margin is tiny they may part without
either being wrong.

`guess` is what the answer's tokens may be. It changes nothing but the time: prompt and guess are read in one go, as far
as every guessed token is the likeliest one, which is several times quicker than a step for each.

Runs in vLLM's environment.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from tqdm import tqdm
from transformers import AutoModelForCausalLM, AutoTokenizer


@dataclass
class Answer:
    """What was written so far. The end token and those of a stop string are among `tokens`, but not in `text`."""

    tokens: list[int] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    runners_up: list[int] = field(default_factory=list)
    text: str = ""
    finish: str | None = None


def main() -> None:
    """Answer each line of stdin by a line on stdout."""
    parser = argparse.ArgumentParser(prog="python -m tests.vllm.reference", description=__doc__.partition("\n")[0])
    parser.add_argument("base", type=Path, help="the folder of the base model")
    parser.add_argument("--adapter", type=Path, help="the folder of an adapter; none means the base alone")
    given = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(given.base)
    model: Any = AutoModelForCausalLM.from_pretrained(given.base, dtype=torch.float32)
    if given.adapter:
        model = PeftModel.from_pretrained(model, given.adapter)
    model.eval()
    with torch.inference_mode():
        for line in tqdm(sys.stdin.readlines(), unit="prompt", disable=None):
            print(json.dumps(asdict(go_on(model, tokenizer, **json.loads(line)))), flush=True)


def go_on(model: Any, tokenizer: Any, *, prompt: str, max_tokens: int, stop: list[str], guess: list[int]) -> Answer:
    """Decode greedily until an end is reached."""
    answer = Answer()
    read = tokenizer(prompt).input_ids
    fresh, cache = read + guess, None
    while True:
        step = model(torch.tensor([fresh]), past_key_values=cache, use_cache=True, logits_to_keep=len(guess) + 1)
        for place, logits in enumerate(step.logits[0]):
            take(answer, tokenizer, logits, max_tokens=max_tokens, stop=stop)
            if answer.finish:
                return answer
            if guess[place : place + 1] != answer.tokens[-1:]:
                break
        cache = step.past_key_values
        if wrong := cache.get_seq_length() - len(read) - len(answer.tokens) + 1:
            cache.crop(-wrong)
        fresh, guess = answer.tokens[-1:], []


def take(answer: Answer, tokenizer: Any, logits: Any, *, max_tokens: int, stop: list[str]) -> None:
    """Add the best token and check whether it is the last."""
    best = logits.topk(2)
    (first, second), (high, next_high) = best.indices.tolist(), best.values.tolist()
    answer.tokens.append(first)
    answer.runners_up.append(second)
    answer.margins.append(high - next_high)
    answer.text = tokenizer.decode(answer.tokens, skip_special_tokens=True)
    met = [answer.text.index(sign) for sign in stop if sign in answer.text]
    if first == tokenizer.eos_token_id or met:
        answer.finish = "stop"
        answer.text = answer.text[: min(met, default=None)]
    elif len(answer.tokens) == max_tokens:
        answer.finish = "length"


if __name__ == "__main__":
    main()
