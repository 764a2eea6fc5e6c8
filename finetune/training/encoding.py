"""Examples as tokens: which are read, which are learned, and how much each one counts."""

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
    """The tokens of an example; the first `prompt` of them are the question, the last one ends the answer."""

    tokens: tuple[int, ...]
    prompt: int

    def __len__(self) -> int:
        return len(self.tokens)


# Stands where a batch is not full: a token that nothing is learned from.
FILLER_EXAMPLE = EncodedExample((0,), 1)


def prompt_tokens(tokenizer: Any, example: Example) -> list[int]:
    """The question as a server will tokenise it."""
    tokens: list[int] = tokenizer(TUNED_FORMAT.render(example.question).text).input_ids
    # Some tokenizers end whatever they read; a prompt that has ended is not gone on with.
    return tokens[:-1] if tokens and tokens[-1] == tokenizer.eos_token_id else tokens


def encode_example(tokenizer: Any, example: Example) -> EncodedExample:
    """Question and answer tokenised apart and joined, since a server sees the question alone; then the end token."""
    asked = prompt_tokens(tokenizer, example)
    answer = TUNED_FORMAT.completion(example.question, example.human)
    answered = tokenizer(answer, add_special_tokens=False).input_ids
    return EncodedExample((*asked, *answered, tokenizer.eos_token_id), len(asked))


def encode_examples(
    tokenizer: Any, examples: Iterable[Example], *, max_tokens: int, window: int | None = None
) -> list[EncodedExample]:
    """All of them; one that is too long is refused, never cut: a cut answer teaches not to stop.

    `window` is what the base can read.
    """
    encoded = []
    for example in examples:
        one = encode_example(tokenizer, example)
        if window and len(one) > window:
            raise _too_long(example, one, "the base reads", window, "take a base that reads more")
        if len(one) > max_tokens:
            raise _too_long(
                example, one, "the training takes", max_tokens, "raise max_tokens of the training"
            )
        encoded.append(one)
    return encoded


def _too_long(example: Example, encoded: EncodedExample, who: str, most: int, otherwise: str) -> InputError:
    return InputError(
        f"The example {example.id!r} is {len(encoded):,} tokens long, and {who} at most {most:,}. "
        f"Build the examples with `--max-tokens {most}`, or {otherwise}."
    )


@dataclass(frozen=True, slots=True)
class BatchCollator:
    """Makes a batch: padded on the right, each token with its weight in the loss."""

    padding: int
    prompt_weight: float

    def __call__(self, batch: Sequence[EncodedExample]) -> dict[str, Any]:
        """Tokens, the mask of those that are there, and labels and weights of those that are learned."""
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
            weights[row, one.prompt : length] = 1.0
            # The first token of all follows nothing, so nothing can be asked about it.
            weights[row, 1 : one.prompt] = self.prompt_weight
            learned = weights[row] > 0
            labels[row, learned] = tokens[row, learned]
        return {"input_ids": tokens, "attention_mask": attention, "labels": labels, "loss_weights": weights}
