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

BATCH = 10


def main() -> None:
    """Answer each line of stdin by a line on stdout."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.vllm.reference", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("base", type=Path, help="the folder of the base model")
    parser.add_argument("--adapter", type=Path, help="the folder of an adapter; none means the base alone")
    given = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(given.base, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(given.base, dtype=torch.float32)
    if given.adapter:
        model = PeftModel.from_pretrained(model, given.adapter)
    model.eval()
    questions = [json.loads(line) for line in sys.stdin]
    batches = [questions[start : start + BATCH] for start in range(0, len(questions), BATCH)]
    with torch.inference_mode():
        for batch in tqdm(batches, unit="batch", disable=None):
            for answer in answer_all(model, tokenizer, batch):
                print(json.dumps(answer), flush=True)


def answer_all(model: Any, tokenizer: Any, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Go on from each prompt with the likeliest token, again and again, all of them at once."""
    read = tokenizer([question["prompt"] for question in questions], padding=True, return_tensors="pt")
    fresh, attention, cache = read.input_ids, read.attention_mask, None
    answers: list[dict[str, Any]] = [
        {"tokens": [], "margins": [], "runners_up": [], "text": "", "finish": None} for _ in questions
    ]
    while not all(answer["finish"] for answer in answers):
        # Padding stands in front and has no place: the first token of every prompt is at 0.
        positions = (attention.cumsum(-1) - 1).clamp(min=0)[:, -fresh.shape[1] :]
        step = model(
            fresh,
            attention_mask=attention,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        cache = step.past_key_values
        best = step.logits[:, -1].topk(2)
        fresh = best.indices[:, :1]
        attention = torch.cat([attention, torch.ones_like(fresh)], dim=-1)
        for question, answer, tokens, logits in zip(
            questions, answers, best.indices.tolist(), best.values.tolist(), strict=True
        ):
            if not answer["finish"]:
                go_on(tokenizer, question, answer, tokens=tokens, logits=logits)
    return answers


def go_on(
    tokenizer: Any,
    question: dict[str, Any],
    answer: dict[str, Any],
    *,
    tokens: list[int],
    logits: list[float],
) -> None:
    """Take the better token. It is the last if it is the end token, completes a stop string, or may be the last.

    The end token and the tokens of a stop string are among the answer's `tokens`, and not in its `text`.
    """
    answer["tokens"].append(tokens[0])
    answer["runners_up"].append(tokens[1])
    answer["margins"].append(logits[0] - logits[1])
    text = tokenizer.decode(answer["tokens"], skip_special_tokens=True)
    met = [text.index(sign) for sign in question["stop"] if sign in text]
    answer["text"] = text[: min(met)] if met else text
    if tokens[0] == tokenizer.eos_token_id or met:
        answer["finish"] = "stop"
    elif len(answer["tokens"]) == question["max_tokens"]:
        answer["finish"] = "length"


if __name__ == "__main__":
    main()
