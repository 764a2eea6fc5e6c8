"""Faults that make an example unfit for training, found in its row of a batch.

They are what people who fine-tune complain of most: a model that never stops was not taught its end token, or was
taught one in the middle of a text; one that is worse when served than in training was taught on other tokens than a
server makes of the same prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from finetune.data.example import Example
from finetune.training.encoding import IGNORED, EncodedExample
from prompts import TUNED_FORMAT

_FENCE = TUNED_FORMAT.separators[0].strip()


@dataclass(frozen=True, slots=True)
class ExampleFault:
    """A fault of an example; `kind` is a key of FAULT_KINDS."""

    kind: str
    example: str
    detail: str = ""


# Kinds of faults in the order in which they are reported, each with its remedy.
FAULT_KINDS: Mapping[str, str] = {
    "empty": "source, MT or human text is blank. Leave it out of the data.",
    "too_long": "longer than the training or the base takes. Build with a lower token limit, or raise max_tokens.",
    "cut": "not all of its tokens are in the batch.",
    "prompt": "its prompt is not what a server would send. Use another tokenizer, or set its add_eos_token to false.",
    "engine": "the embedded engine reads other tokens than would be trained on. Give the model's own directory or hub "
    "id as the base, or a GGUF file of exactly that model.",
    "separator": "a token holds both the fence of the separator and text around it. Use another base.",
    "unknown": "the tokenizer has no token for some of its text. Leave it out, or use another base.",
    "end_inside": "the end token occurs inside its text: the model would learn to stop there. Remove it from the data.",
    "end_not_learned": "its end token is not learned: the model would not learn to stop.",
    "answer_not_learned": "a token of its answer is not learned, or as another token.",
    "unattended": "a token of its text is not attended to.",
    "padding_learned": "its padding is learned.",
    "padding_attended": "its padding is attended to.",
}


def find_text_faults(tokenizer: Any, example: Example, encoded: EncodedExample, *, most: int) -> Iterator[ExampleFault]:
    """Faults of the tokens before batching; `most` is the maximum length."""
    answer = TUNED_FORMAT.completion(example.question, example.human)
    if not (example.source.strip() and example.mt.strip() and answer):
        yield ExampleFault("empty", example.id)
    if len(encoded) > most:
        yield ExampleFault("too_long", example.id, f"{len(encoded):,} tokens of at most {most:,}")
    prompt = TUNED_FORMAT.render(example.question).text
    served = tokenizer(prompt, return_offsets_mapping=True, return_special_tokens_mask=True)
    if tuple(served.input_ids) != encoded.tokens[: encoded.prompt_length]:
        yield ExampleFault("prompt", example.id, _first_difference(served.input_ids, encoded))
    if merged := _merged_separator_token(prompt, served.offset_mapping):
        yield ExampleFault("separator", example.id, repr(merged))
    # Some tokenizers start with their end token, which is not part of the text.
    begun = next((at for at, special in enumerate(served.special_tokens_mask) if not special), 0)
    within = encoded.tokens[begun:-1]
    if tokenizer.unk_token_id in within:
        yield ExampleFault("unknown", example.id, f"at token {begun + within.index(tokenizer.unk_token_id)}")
    if tokenizer.eos_token_id in within:
        yield ExampleFault("end_inside", example.id, f"at token {begun + within.index(tokenizer.eos_token_id)}")
    answered = tokenizer(answer, add_special_tokens=False).input_ids
    if encoded.tokens[encoded.prompt_length :] != (*answered, tokenizer.eos_token_id):
        yield ExampleFault("cut", example.id)


def find_row_faults(row: Mapping[str, list[Any]], example: str, encoded: EncodedExample) -> Iterator[ExampleFault]:
    """Faults of a row of a batch; `row` has each tensor of the batch as a list."""
    tokens, labels, weights = row["input_ids"], row["labels"], row["loss_weights"]
    attention, length = row["attention_mask"], len(encoded)
    if tuple(tokens[:length]) != encoded.tokens:
        yield ExampleFault("cut", example)
        return
    learned = [label == token and weight > 0 for token, label, weight in zip(tokens, labels, weights, strict=True)]
    if not learned[length - 1]:
        yield ExampleFault("end_not_learned", example)
    if not all(learned[encoded.prompt_length : length - 1]):
        place = learned.index(False, encoded.prompt_length)
        yield ExampleFault("answer_not_learned", example, f"at token {place}")
    if not all(attention[:length]):
        yield ExampleFault("unattended", example)
    if any(label != IGNORED and weight for label, weight in zip(labels[length:], weights[length:], strict=True)):
        yield ExampleFault("padding_learned", example)
    if any(attention[length:]):
        yield ExampleFault("padding_attended", example)


def find_filler_faults(row: Mapping[str, list[Any]]) -> Iterator[ExampleFault]:
    """Faults of the filler row, which must have no loss."""
    if any(label != IGNORED and weight for label, weight in zip(row["labels"], row["loss_weights"], strict=True)):
        yield ExampleFault("padding_learned", "the blank that fills the last batch")


def _first_difference(served: list[int], encoded: EncodedExample) -> str:
    trained = encoded.tokens[: encoded.prompt_length]
    pairs = enumerate(zip(served, trained, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), min(len(served), len(trained)))
    return f"{len(served)} tokens served, {len(trained)} trained, difference at token {place}"


def _merged_separator_token(prompt: str, offsets: list[tuple[int, int]]) -> str:
    """The text of a token that holds a part of a fence and something that is not of the separator.

    Line breaks may go with what stands before them: many tokenizers have a token for a full stop and its line break,
    and a server reads the same.
    """
    place = prompt.find(_FENCE)
    while place >= 0:
        first, last = place, place + len(_FENCE)
        for start, end in offsets:
            if start < last and end > first and prompt[start:end].strip().strip("#"):
                return prompt[start:end]
        place = prompt.find(_FENCE, last)
    return ""
