"""The chunked loss equals the plain loss for any chunk size."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from finetune.training.encoding import FILLER_EXAMPLE, IGNORED, BatchCollator, encode_example
from finetune.training.loss import chunked_loss, plain_loss, use_weighted_loss
from tests.finetune.toy_model import EXAMPLES, make_model

pytestmark = pytest.mark.torch


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    rows=st.integers(1, 4),
    length=st.integers(2, 12),
    chunk=st.integers(1, 60),
    ignored=st.floats(0, 1),
)
def test_chunks_change_neither_the_loss_nor_its_gradients(
    seed: int, rows: int, length: int, chunk: int, ignored: float
) -> None:
    chance = torch.Generator().manual_seed(seed)
    states = torch.randn(rows, length, 8, generator=chance, dtype=torch.float64).float().requires_grad_()
    head = torch.randn(29, 8, generator=chance).requires_grad_()
    labels = torch.randint(29, (rows, length), generator=chance)
    labels[torch.rand(rows, length, generator=chance) < ignored] = IGNORED
    weights = torch.rand(rows, length, generator=chance) * (labels != IGNORED)
    plain = plain_loss(states @ head.T, labels, weights)
    expected = torch.autograd.grad(plain * 0.3, (states, head))
    ours = chunked_loss(states, head, labels, weights, chunk)
    found = torch.autograd.grad(ours * 0.3, (states, head))
    torch.testing.assert_close(ours, plain)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_half_precision_costs_no_more_than_its_rounding() -> None:
    chance = torch.Generator().manual_seed(1)
    states, head = torch.randn(2, 40, 16, generator=chance), torch.randn(50, 16, generator=chance)
    labels, weights = torch.randint(50, (2, 40), generator=chance), torch.ones(2, 40)
    exact = states.clone().requires_grad_()
    expected = torch.autograd.grad(plain_loss(exact @ head.T, labels, weights), exact)[0]
    rounded = states.bfloat16().requires_grad_()
    ours = chunked_loss(rounded, head.bfloat16(), labels, weights, 7)
    assert ours.dtype == torch.float32
    found = torch.autograd.grad(ours, rounded)[0]
    torch.testing.assert_close(found.float(), expected, atol=0.1, rtol=0.05)


@pytest.mark.parametrize("changes", [{}, {"tie_word_embeddings": True}])
def test_a_model_that_was_told_to_weigh_gives_the_plain_loss(tokenizer: Any, changes: dict[str, Any]) -> None:
    model = make_model(tokenizer, **changes)
    batch = BatchCollator(tokenizer.eos_token_id, 0.1)([encode_example(tokenizer, one) for one in EXAMPLES[::6]])
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    expected = plain_loss(logits, batch["labels"], batch["loss_weights"])
    use_weighted_loss(model, chunk=11)
    torch.testing.assert_close(model(**batch).loss, expected)


def test_a_model_that_bends_its_logits_is_not_led_around_them(tokenizer: Any) -> None:
    model = make_model(tokenizer)
    model.config.final_logit_softcapping = 30.0
    batch = BatchCollator(tokenizer.eos_token_id, 0.0)([encode_example(tokenizer, EXAMPLES[0])])
    logits: list[torch.Tensor] = []
    model.lm_head.register_forward_hook(lambda *call: logits.append(call[-1]))
    use_weighted_loss(model)
    torch.testing.assert_close(model(**batch).loss, plain_loss(logits[0], batch["labels"], batch["loss_weights"]))


def test_without_weights_the_model_answers_as_before(tokenizer: Any) -> None:
    model = make_model(tokenizer)
    tokens = torch.tensor([[5, 6, 7]])
    before = model(input_ids=tokens).logits
    use_weighted_loss(model)
    torch.testing.assert_close(model(input_ids=tokens).logits, before)


def test_a_blank_teaches_nothing(tokenizer: Any) -> None:
    model = make_model(tokenizer)
    use_weighted_loss(model)
    loss = model(**BatchCollator(tokenizer.eos_token_id, 0.1)([FILLER_EXAMPLE, FILLER_EXAMPLE])).loss
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert not any(weight.grad.any() for weight in model.parameters() if weight.grad is not None)


def test_prompts_without_weight_have_no_say_in_the_gradient(tokenizer: Any) -> None:
    """Other labels in the prompt would change the gradient if they counted."""
    model = make_model(tokenizer)
    use_weighted_loss(model)
    one = encode_example(tokenizer, EXAMPLES[7])
    batch = BatchCollator(tokenizer.eos_token_id, 0.0)([one])
    head = model.get_output_embeddings().weight
    first = torch.autograd.grad(model(**batch).loss, head)[0]
    batch["labels"][:, 1 : one.prompt_length] = 3
    second = torch.autograd.grad(model(**batch).loss, head)[0]
    torch.testing.assert_close(first, second)
    batch["loss_weights"][:, 1 : one.prompt_length] = 0.1
    assert not torch.allclose(first, torch.autograd.grad(model(**batch).loss, head)[0])
