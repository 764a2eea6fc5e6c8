"""Audit of every training example, in the batches in which it will be trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ape.errors import InputError
from finetune.checks.example_faults import (
    FAULT_KINDS,
    ExampleFault,
    find_filler_faults,
    find_row_faults,
    find_text_faults,
)
from finetune.checks.token_marks import TokenMark, mark_tokens
from finetune.data.example import Example
from finetune.training.batches import LengthGroupedSampler
from finetune.training.config import TrainConfig
from finetune.training.encoding import FILLER_EXAMPLE, BatchCollator, EncodedExample, encode_example

Collate = Callable[[Sequence[EncodedExample]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AuditedExample:
    """An example with the role of each of its tokens in the batch."""

    example: Example
    row: tuple[TokenMark, ...]


@dataclass(slots=True)
class SplitCounts:
    """Counts of a split. `longest` is in tokens; `weight` is the sum over the learned tokens."""

    examples: int = 0
    tokens: int = 0
    learned: int = 0
    answers: int = 0
    weight: float = 0.0
    padding: int = 0
    longest: int = 0


@dataclass(frozen=True, slots=True)
class DataAudit:
    """Counts by split, all faults, and a few sample examples."""

    counts: dict[str, SplitCounts] = field(default_factory=dict)
    faults: list[ExampleFault] = field(default_factory=list)
    samples: list[AuditedExample] = field(default_factory=list)

    def by_kind(self) -> dict[str, list[ExampleFault]]:
        """The faults by kind, in the order of FAULT_KINDS."""
        return {
            kind: found for kind in FAULT_KINDS if (found := [fault for fault in self.faults if fault.kind == kind])
        }

    def require_sound(self) -> None:
        """Raise InputError if there is any fault, with an example of each kind."""
        if not self.faults:
            return
        wrong = len({fault.example for fault in self.faults})
        everything = sum(counts.examples for counts in self.counts.values())
        parts = [_sentence(kind, found) for kind, found in self.by_kind().items()]
        raise InputError(f"{wrong:,} of {everything:,} examples can't be trained on.\n" + "\n".join(parts))


def audit_examples(
    tokenizer: Any,
    splits: Mapping[str, Sequence[Example]],
    *,
    config: TrainConfig,
    window: int | None = None,
    show: int = 3,
    collate: Collate | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> DataAudit:
    """Audit all examples of the splits; the first `show` are kept as samples.

    `window` is the context length of the base. `collate` is by default the collator of the training.
    """
    if tokenizer.eos_token_id is None:
        raise InputError("The tokenizer of the base has no end token (eos_token), so a model could not learn to stop.")
    collate = collate or BatchCollator(tokenizer.eos_token_id, config.prompt_weight)
    most = min(config.max_tokens, window or config.max_tokens)
    found = DataAudit()
    for split, examples in splits.items():
        encoded, fitting = [], []
        for example in examples:
            progress(1)
            one = encode_example(tokenizer, example)
            if split != "train" and len(one) > most:
                continue  # dev and test are not filtered by length; training skips what does not fit
            encoded.append(one)
            fitting.append(example)
            found.faults.extend(find_text_faults(tokenizer, example, one, most=most))
        found.counts[split] = SplitCounts()
        _audit_split(found, split, fitting, encoded, config=config, collate=collate, show=show - len(found.samples))
    return found


def _audit_split(
    found: DataAudit,
    split: str,
    examples: Sequence[Example],
    encoded: Sequence[EncodedExample],
    *,
    config: TrainConfig,
    collate: Collate,
    show: int,
) -> None:
    """Audit every row of every batch of a split."""
    filled = [*encoded, FILLER_EXAMPLE]
    kept: dict[int, AuditedExample] = {}
    for places in _micro_batches([len(one) for one in encoded], config):
        batch = collate([filled[at] for at in places])
        for at, row, marks in zip(places, _rows(batch), mark_tokens(batch), strict=True):
            if at == len(examples):
                found.faults.extend(find_filler_faults(row))
                continue
            found.faults.extend(find_row_faults(row, examples[at].id, encoded[at]))
            _count(found.counts[split], encoded[at], marks)
            if at < show:
                kept[at] = AuditedExample(examples[at], tuple(marks))
    found.samples.extend(kept[at] for at in sorted(kept))


def _micro_batches(lengths: Sequence[int], config: TrainConfig) -> Iterator[list[int]]:
    """Indices of the examples in each micro-batch of the first epoch; the index after the last is the filler."""
    order = list(LengthGroupedSampler(lengths, config.batch, seed=config.seed))
    for start in range(0, len(order), config.micro_batch):
        yield order[start : start + config.micro_batch]


def _rows(batch: Mapping[str, Any]) -> Iterator[dict[str, list[Any]]]:
    columns = {name: tensor.tolist() for name, tensor in batch.items()}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _count(counts: SplitCounts, encoded: EncodedExample, row: Sequence[TokenMark]) -> None:
    tally = Counter(one.mark for one in row)
    counts.examples += 1
    counts.tokens += len(encoded)
    counts.answers += len(encoded) - encoded.prompt_length
    counts.learned += tally["learned"]
    counts.weight += sum(one.weight for one in row)
    counts.padding += tally["padding"]
    counts.longest = max(counts.longest, len(encoded))


def _sentence(kind: str, found: Sequence[ExampleFault]) -> str:
    first = found[0]
    where = f"{first.example!r}" + (f" ({first.detail})" if first.detail else "")
    others = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"- {where}{others}: {FAULT_KINDS[kind]}"
