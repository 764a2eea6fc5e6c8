"""Fits the annotator's network: tags, names, spans of mentions and their kinds together."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from eval.linguistics.literary.labels import MAX_MENTION
from eval.linguistics.literary.training.encoder import Encoder
from eval.linguistics.literary.training.examples import IGNORED, LabelledBatch, LabelledText, cut_stretches, make_batch
from eval.linguistics.literary.training.torch_network import LiteraryNetwork
from eval.linguistics.literary.wordpiece import WordPieces

# Stretches that are sorted by length together, so that batches have little padding and still vary.
_SORTED_TOGETHER = 200


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How the network is trained."""

    epochs: int = 6
    seed: int = 1
    words_in_batch: int = 500
    rate: float = 2e-3
    encoder_rate: float = 2e-4


def prepare_batches(
    pieces: WordPieces, texts: Sequence[LabelledText], chance: random.Random, words_in_batch: int
) -> list[LabelledBatch]:
    """Cut texts at random into stretches, and join those of like length to batches."""
    parts = [part for text in texts for part in cut_stretches(text, chance) if len(part.words)]
    chance.shuffle(parts)
    batches: list[LabelledBatch] = []
    for first in range(0, len(parts), _SORTED_TOGETHER):
        group: list[LabelledText] = []
        for part in sorted(parts[first : first + _SORTED_TOGETHER], key=lambda one: len(one.words)):
            if group and (len(group) + 1) * len(part.words) > words_in_batch:
                batches.append(make_batch(group, pieces))
                group = []
            group.append(part)
        batches.append(make_batch(group, pieces))
    chance.shuffle(batches)
    return batches


def fit_network(
    encoder: Encoder, texts: Sequence[LabelledText], *, settings: FitSettings, report: Callable[[str], None] = print
) -> LiteraryNetwork:
    """Train on these texts; the same texts, settings and machine give the same weights."""
    torch.manual_seed(settings.seed)
    chance = random.Random(settings.seed)  # noqa: S311 (no secret)
    network = LiteraryNetwork(encoder.weights)
    groups = [
        {"params": network.encoder_parameters(), "lr": settings.encoder_rate},
        {"params": network.head_parameters(), "lr": settings.rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    done = torch.zeros(())

    def rate(_: int) -> float:
        """Rises over the first twentieth of the work, then falls to zero; batches of an epoch vary in number."""
        share = float(done) / settings.epochs
        return min((share + 1e-3) / 0.05, (1 - share) / 0.95)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    network.train()
    for epoch in range(settings.epochs):
        total = torch.zeros(4)
        batches = prepare_batches(encoder.pieces, texts, chance, settings.words_in_batch)
        for number, batch in enumerate(batches):
            losses = torch.stack(batch_losses(network, batch))
            optimizer.zero_grad()
            losses.sum().backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done = torch.tensor(epoch + (number + 1) / len(batches))
            schedule.step()
            total += losses.detach()
        report(f"epoch {epoch + 1}: " + " ".join(f"{one:.3f}" for one in (total / len(batches)).tolist()))
    network.eval()
    return network


def word_states(network: LiteraryNetwork, batch: LabelledBatch) -> Tensor:
    """The states of a batch's words."""
    flat = network.encode(batch.pieces, batch.lengths).flatten(0, 1)
    vectors = (flat[batch.first] + flat[batch.last]) / 2 * batch.is_word
    states: Tensor = network(vectors, batch.shapes, batch.is_word)
    return states


def batch_losses(network: LiteraryNetwork, batch: LabelledBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The losses of tags, names, spans and kinds."""
    states = network.dropout(word_states(network, batch))
    tags = functional.cross_entropy(network.tags(states), batch.tags, ignore_index=IGNORED)
    names = functional.cross_entropy(network.names(states), batch.names, ignore_index=IGNORED)
    if not len(batch.spans):
        return tags, names, torch.zeros(()), torch.zeros(())
    start, end, kind = batch.spans.T
    scores = network.span_scores(states)
    target = torch.zeros_like(scores)
    target[start, end - start] = 1
    losses = functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
    spans = (losses * _allowed(batch.stretch)).sum() / (2 * len(batch.spans))
    kinds = functional.cross_entropy(network.kinds(torch.cat([states[start], states[end]], dim=-1)), kind)
    return tags, names, spans, kinds


def _allowed(stretch: Tensor) -> Tensor:
    """Spans in one stretch with annotated mentions, by first word and length less one."""
    last = functional.pad(stretch, (0, MAX_MENTION - 1), value=-1).unfold(0, MAX_MENTION, 1)
    return (last == stretch[:, None]) & (stretch >= 0)[:, None]
