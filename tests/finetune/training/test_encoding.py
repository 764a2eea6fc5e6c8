"""Labels and weights: the answer and its end, the prompt by its weight, padding never."""

from __future__ import annotations

from typing import Any

import pytest

from ape.errors import InputError
from finetune.training.encoding import (
    FILLER_EXAMPLE,
    IGNORED,
    BatchCollator,
    encode_example,
    encode_examples,
    prompt_tokens,
)
from prompts import SEP
from tests.finetune.toy_model import EXAMPLES

pytestmark = pytest.mark.torch


def test_an_example_reads_as_it_is_served_and_answered(tokenizer: Any) -> None:
    for example in EXAMPLES:
        one = encode_example(tokenizer, example)
        assert tokenizer.decode(one.tokens[: one.prompt_length]) == SEP.render(example.question).text
        assert tokenizer.decode(one.tokens[one.prompt_length : -1]) == SEP.completion(example.question, example.human)
        assert one.tokens[-1] == tokenizer.eos_token_id


def test_a_tokenizer_that_ends_what_it_reads_does_not_end_the_question(tokenizer: Any) -> None:
    class Ending:
        eos_token_id = tokenizer.eos_token_id

        def __call__(self, text: str, **named: Any) -> Any:
            read = tokenizer(text, **named)
            read["input_ids"].append(self.eos_token_id)
            return read

    assert prompt_tokens(Ending(), EXAMPLES[0]) == prompt_tokens(tokenizer, EXAMPLES[0])


@pytest.mark.parametrize("prompt_weight", [0.0, 0.1, 1.0])
def test_the_end_is_learned_and_padding_never(tokenizer: Any, prompt_weight: float) -> None:
    encoded = [encode_example(tokenizer, one) for one in (EXAMPLES[0], EXAMPLES[-1])]
    batch = BatchCollator(tokenizer.eos_token_id, prompt_weight)(encoded)
    short = len(encoded[0])
    assert short < len(encoded[1]) == batch["input_ids"].shape[1]
    assert batch["labels"][0, short - 1] == tokenizer.eos_token_id
    assert batch["loss_weights"][0, short - 1] == 1.0
    assert (batch["labels"][0, short:] == IGNORED).all()
    assert not batch["loss_weights"][0, short:].any()
    assert not batch["attention_mask"][0, short:].any()


def test_a_prompts_tokens_count_as_much_as_asked_for(tokenizer: Any) -> None:
    one = encode_example(tokenizer, EXAMPLES[3])
    row = BatchCollator(tokenizer.eos_token_id, 0.1)([one])["loss_weights"][0].tolist()
    assert row[0] == 0  # nothing comes before it
    assert row[1 : one.prompt_length] == pytest.approx([0.1] * (one.prompt_length - 1))
    assert row[one.prompt_length :] == [1.0] * (len(one) - one.prompt_length)


def test_prompts_without_weight_have_no_labels(tokenizer: Any) -> None:
    one = encode_example(tokenizer, EXAMPLES[3])
    labels = BatchCollator(tokenizer.eos_token_id, 0.0)([one])["labels"][0]
    assert (labels[: one.prompt_length] == IGNORED).all()
    assert tuple(labels[one.prompt_length :].tolist()) == one.tokens[one.prompt_length :]


def test_a_blank_has_nothing_to_learn() -> None:
    batch = BatchCollator(0, 0.1)([FILLER_EXAMPLE])
    assert not batch["loss_weights"].any()
    assert (batch["labels"] == IGNORED).all()


def test_an_example_that_is_too_long_is_refused_and_not_cut(tokenizer: Any) -> None:
    longest = max(len(encode_example(tokenizer, one)) for one in EXAMPLES)
    assert len(encode_examples(tokenizer, EXAMPLES, max_tokens=longest)) == len(EXAMPLES)
    with pytest.raises(
        InputError,
        match=rf"is {longest} tokens long.*max_tokens of the training is {longest - 1}.*at most {longest - 1} tokens",
    ):
        encode_examples(tokenizer, EXAMPLES, max_tokens=longest - 1)
