"""Fits the ranker: of the entities so far and a new one, the right one shall have the highest score."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from eval.linguistics.coreference.cluster_features import FEATURES, Floats
from eval.linguistics.coreference.training.examples import (
    CoreferenceText,
    RankingExamples,
    annotated_examples,
    ranked_examples,
)

_MENTIONS = 60
"""Mentions of a batch."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How the ranker is trained: some passes as annotated, then some with its own groups too."""

    epochs: int = 4
    width: int = 128
    rate: float = 2e-3
    dropout: float = 0.2
    seed: int = 1


class RankerNetwork(nn.Module):
    """The network of `entity_scores` in torch, with its parameter names."""

    def __init__(self, settings: RankerSettings) -> None:
        super().__init__()
        self.first = nn.Linear(FEATURES, settings.width)
        self.second = nn.Linear(settings.width, settings.width // 2)
        self.last = nn.Linear(settings.width // 2, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, rows: Tensor) -> Tensor:
        """The score of each row."""
        state = self.dropout(functional.relu(self.first(rows)))
        state = self.dropout(functional.relu(self.second(state)))
        scores: Tensor = self.last(state)[:, 0]
        return scores

    def weights(self) -> dict[str, Floats]:
        """The weights for numpy."""
        return {name: np.array(value.detach().numpy(), np.float32) for name, value in self.state_dict().items()}


def fit_ranker(
    texts: Sequence[CoreferenceText], *, settings: RankerSettings, report: Callable[[str], None] = print
) -> dict[str, Floats]:
    """Train on these texts; the same texts, settings and machine give the same weights."""
    torch.manual_seed(settings.seed)
    chance = random.Random(settings.seed)  # noqa: S311 (no secret)
    network = RankerNetwork(settings)
    examples = [annotated_examples(text) for text in texts]
    _train(network, examples, chance, settings, report)
    weights = network.weights()
    examples += [ranked_examples(text, weights) for text in texts]
    _train(network, examples, chance, settings, report)
    return network.weights()


def _train(
    network: RankerNetwork,
    examples: Sequence[RankingExamples],
    chance: random.Random,
    settings: RankerSettings,
    report: Callable[[str], None],
) -> None:
    batches = [batch for one in examples for batch in _batches(one)]
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.rate, weight_decay=0.01)
    steps = len(batches) * settings.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    network.train()
    for epoch in range(settings.epochs):
        total = 0.0
        for rows, owner, right in chance.sample(batches, len(batches)):
            loss = ranking_loss(network(rows), owner, right)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += loss.item()
        report(f"epoch {epoch + 1}: {total / len(batches):.3f}")
    network.eval()


def ranking_loss(scores: Tensor, owner: Tensor, right: Tensor) -> Tensor:
    """The mean of -log of the probability of each mention's right row among its rows."""
    number = len(right)
    highest = torch.full((number,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    sums = torch.zeros(number).index_add(0, owner, torch.exp(scores - highest[owner]))
    return (sums.log() + highest - scores[right]).mean()


def _batches(examples: RankingExamples) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rows, the mention of each row, and the right row of each mention."""
    ends = np.concatenate([[0], np.cumsum(examples.sizes)])
    for first in range(0, len(examples.sizes), _MENTIONS):
        after = min(len(examples.sizes), first + _MENTIONS)
        owner = np.repeat(np.arange(after - first), examples.sizes[first:after])
        right = examples.right[first:after] + ends[first:after] - ends[first]
        rows = examples.rows[ends[first] : ends[after]]
        yield torch.from_numpy(rows), torch.from_numpy(owner), torch.from_numpy(right)
