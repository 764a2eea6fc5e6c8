"""Weighted cross-entropy in chunks of tokens, so that memory does not grow with the vocabulary.

For a batch of 4,096 tokens and a vocabulary of 150,000, the logits alone would take 2.4 GB, their gradient as much
again. Here the gradient of each chunk is computed right after its logits, which are then dropped. Tokens without loss
are left out before. The loss is a weighted sum; the caller divides it by the weight of the whole batch, over all its
micro-batches and processes.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers.modeling_outputs import CausalLMOutput

from finetune.training.encoding import IGNORED

CHUNK = 1024
_LossOutput: Any = CausalLMOutput
# Config fields of models that transform their logits, which the product of states and head would miss.
_LOGIT_TRANSFORMS = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")


def plain_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The same sum from all logits, for models that transform theirs; the reference for chunked_loss."""
    shifted = labels[:, 1:].reshape(-1)
    terms = cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]).float(), shifted, ignore_index=IGNORED, reduction="none"
    )
    return (terms * weights[:, 1:].reshape(-1)).sum()


def chunked_loss(states: Tensor, head: Tensor, labels: Tensor, weights: Tensor, chunk: int = CHUNK) -> Tensor:
    """Weighted sum of the loss terms; `states` are the inputs of the output head."""
    counted = labels[:, 1:] != IGNORED
    picked = states[:, :-1][counted]
    apply: Any = _Chunked.apply
    total: Tensor = apply(picked, head, labels[:, 1:][counted], weights[:, 1:][counted], chunk)
    return total


class _Chunked(torch.autograd.Function):
    """Compute the gradient in the forward pass: softmax minus one-hot labels, times the head."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, head: Tensor, labels: Tensor, weights: Tensor, chunk: int) -> Tensor:
        total = states.new_zeros((), dtype=torch.float32)
        by_state = torch.empty_like(states) if ctx.needs_input_grad[0] else None
        by_head = torch.zeros_like(head) if ctx.needs_input_grad[1] else None
        for start in range(0, len(states), chunk):
            part = slice(start, start + chunk)
            logits = (states[part] @ head.T).float()
            rows = torch.arange(len(logits), device=logits.device)
            normal = logits.logsumexp(dim=-1, keepdim=True)
            terms = normal.squeeze(-1) - logits[rows, labels[part]]
            total += (terms * weights[part]).sum()
            if by_state is None and by_head is None:
                continue
            slope = logits.sub_(normal).exp_()
            slope[rows, labels[part]] -= 1.0
            slope = slope.mul_(weights[part].unsqueeze(-1)).to(states.dtype)
            if by_state is not None:
                by_state[part] = slope @ head
            if by_head is not None:
                by_head += slope.T @ states[part]
        ctx.save_for_backward(by_state, by_head)
        return total

    @staticmethod
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        by_state, by_head = ctx.saved_tensors
        return (
            None if by_state is None else by_state * above[0].to(by_state.dtype),
            None if by_head is None else by_head * above[0].to(by_head.dtype),
            None,
            None,
            None,
        )


def use_weighted_loss(model: Any, *, chunk: int = CHUNK) -> None:
    """Make a causal model of transformers accept `loss_weights` and return the weighted sum as its loss.

    This replaces its forward method, so that wrappers (peft, DDP, FSDP) still see the call.
    """
    original = model.forward
    transforms_logits = any(getattr(model.config, name, None) not in (None, 1.0) for name in _LOGIT_TRANSFORMS)

    def forward(self: Any, *args: Any, loss_weights: Tensor | None = None, **inputs: Any) -> Any:
        if loss_weights is None:
            return original(*args, **inputs)
        labels = inputs.pop("labels")
        head = self.get_output_embeddings()
        if transforms_logits or head.bias is not None:
            logits = original(*args, **inputs, use_cache=False).logits
            return _LossOutput(loss=plain_loss(logits, labels, loss_weights))
        states = self.get_decoder()(*args, **inputs, use_cache=False).last_hidden_state
        return _LossOutput(loss=chunked_loss(states, _full_weight(head.weight), labels, loss_weights, chunk))

    model.forward = MethodType(forward, model)


def _full_weight(weight: Any) -> Tensor:
    """Gather the weight where FSDP has sharded it."""
    gather = getattr(weight, "full_tensor", None)
    whole: Tensor = gather() if gather else weight
    return whole
