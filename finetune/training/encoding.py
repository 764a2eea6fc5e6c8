"""Tokenise examples for training, with the loss weight of each token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ape.errors import InputError
from finetune.data.example import Example
from prompts import TUNED_FORMAT

IGNORED = -100


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """The tokens of an example: `prompt_length` of the prompt, then the answer and the end token."""

    tokens: tuple[int, ...]
    prompt_length: int

    def __len__(self) -> int:
        return len(self.tokens)


# Pads an incomplete batch: a token with no loss.
FILLER_EXAMPLE = EncodedExample((0,), 1)


def prompt_tokens(tokenizer: Any, example: Example) -> list[int]:
    """Tokenise the prompt as a server will."""
    tokens: list[int] = tokenizer(TUNED_FORMAT.render(example.question).text).input_ids
    # Some tokenizers append the end token, after which a model would not continue.
    return tokens[:-1] if tokens and tokens[-1] == tokenizer.eos_token_id else tokens


def encode_example(tokenizer: Any, example: Example) -> EncodedExample:
    """Tokenise prompt and answer separately, since a server sees the prompt alone, and add the end token."""
    prompt = prompt_tokens(tokenizer, example)
    answer = TUNED_FORMAT.completion(example.question, example.human)
    tokens = tokenizer(answer, add_special_tokens=False).input_ids
    return EncodedExample((*prompt, *tokens, tokenizer.eos_token_id), len(prompt))


def encode_examples(
    tokenizer: Any, examples: Iterable[Example], *, max_tokens: int, window: int | None = None
) -> list[EncodedExample]:
    """Tokenise all examples. One that is too long is an error: a truncated answer would teach not to stop.

    `window` is the context length of the base.
    """
    encoded = []
    for example in examples:
        one = encode_example(tokenizer, example)
        if window and len(one) > window:
            raise _too_long(example, one, "the context of the base is", window, "use a base with a longer context")
        if len(one) > max_tokens:
            raise _too_long(example, one, "max_tokens of the training is", max_tokens, "raise max_tokens")
        encoded.append(one)
    return encoded


def _too_long(example: Example, encoded: EncodedExample, what: str, limit: int, remedy: str) -> InputError:
    return InputError(
        f"The example {example.id!r} is {len(encoded):,} tokens long, and {what} {limit:,}. "
        f"Build the dataset with at most {limit} tokens an example, or {remedy}."
    )


@dataclass(frozen=True, slots=True)
class BatchCollator:
    """Collate examples into a batch padded on the right, with the loss weight of each token."""

    padding: int
    prompt_weight: float

    def __call__(self, batch: Sequence[EncodedExample]) -> dict[str, Any]:
        """The tensors that the model and the weighted loss take."""
        import torch

        longest = max(map(len, batch))
        tokens = torch.full((len(batch), longest), self.padding)
        attention = torch.zeros_like(tokens)
        labels = torch.full_like(tokens, IGNORED)
        weights = torch.zeros(tokens.shape)
        for row, one in enumerate(batch):
            length = len(one)
            tokens[row, :length] = torch.tensor(one.tokens)
            attention[row, :length] = 1
            weights[row, one.prompt_length : length] = 1.0
            # Nothing predicts the first token.
            weights[row, 1 : one.prompt_length] = self.prompt_weight
            learned = weights[row] > 0
            labels[row, learned] = tokens[row, learned]
        return {"input_ids": tokens, "attention_mask": attention, "labels": labels, "loss_weights": weights}
