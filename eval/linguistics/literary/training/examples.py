"""Training examples: stretches of text with tags, names and mentions, as padded tensors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from eval.linguistics.literary.gold_names import name_in
from eval.linguistics.literary.labels import KINDS, MAX_MENTION, NAME_LABELS, TAGS
from eval.linguistics.literary.litbank import LitBankDocument, Span
from eval.linguistics.literary.reading import batch_pieces, join_texts
from eval.linguistics.literary.wordpiece import WordPieces

IGNORED = -100
_FROM_ONTONOTES = {"PERSON": "PER", "FAC": "FAC", "GPE": "GPE", "LOC": "LOC", "ORG": "ORG"}
_TAG_IDS = {tag: place for place, tag in enumerate(TAGS)}
_NAME_IDS = {label: place for place, label in enumerate(NAME_LABELS)}
_KIND_IDS = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class LabelledText:
    """Sentences with their labels; `mentions` is None where only names are annotated."""

    words: Sequence[str]
    tags: Sequence[str]
    names: dict[Span, str]
    mentions: dict[Span, str] | None = None
    sentences: Sequence[int] = field(default=(0,))

    def part(self, start: int, end: int) -> LabelledText:
        """The words of this range, with the spans inside it."""
        return LabelledText(
            self.words[start:end],
            self.tags[start:end],
            _inside(self.names, start, end),
            None if self.mentions is None else _inside(self.mentions, start, end),
        )


def _inside(spans: dict[Span, str], start: int, end: int) -> dict[Span, str]:
    return {(a - start, b - start): label for (a, b), label in spans.items() if start <= a and b <= end}


def litbank_stretch(document: LitBankDocument, tags: Sequence[str]) -> LabelledText:
    """A whole excerpt: names, and kinds of all mentions that its clusters list."""
    names: dict[Span, str] = {}
    mentions: dict[Span, str] = {}
    for span in sorted({span for cluster in document.clusters for span in cluster} | set(document.mentions)):
        label = document.mentions.get(span)
        name = name_in(document.words, tags, span, person=label == "PER") if label else None
        if name and label:
            names[name] = label
        is_pronoun = not label and span[1] - span[0] == 1 and tags[span[0]].startswith(("PRP", "DT", "NN"))
        kind = "pronoun" if is_pronoun else f"{'name' if name else 'common'} {label or 'PER'}"
        mentions[span] = kind
    return LabelledText(document.words, tags, without_overlap(names), mentions, document.sentences)


def without_overlap(names: dict[Span, str]) -> dict[Span, str]:
    """Names that lie in a longer one are left out."""
    taken: set[int] = set()
    found: dict[Span, str] = {}
    for (start, end), label in sorted(names.items(), key=lambda item: (item[0][0] - item[0][1], item[0])):
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            found[start, end] = label
    return found


def ontonotes_names(words: Sequence[str], entities: Sequence[tuple[int, int, str]]) -> dict[Span, str]:
    """Names by OntoNotes labels, with the title before a person and without article and possessive, as in LitBank."""
    from eval.linguistics.literary.name_words import TITLES

    found: dict[Span, str] = {}
    for start, end, label in entities:
        if label not in _FROM_ONTONOTES:
            continue
        if words[end - 1] in ("'s", "’s", "'"):
            end -= 1
        if words[start].lower() in ("the", "a", "an"):
            start += 1
        while label == "PERSON" and start and words[start - 1][:1].isupper() and _title(words[start - 1]) in TITLES:
            start -= 1
        if end > start:
            found[start, end] = _FROM_ONTONOTES[label]
    return found


def _title(word: str) -> str:
    return word.lower().rstrip(".")


def cut_stretches(stretch: LabelledText, chance: random.Random, longest: int = 110) -> Iterator[LabelledText]:
    """Cut at sentences into stretches of varied length, a third of them single sentences."""
    bounds = (*stretch.sentences[1:], len(stretch.words))
    start = end = 0
    limit = _limit(chance, longest)
    for bound in bounds:
        if end > start and bound - start > limit:
            yield stretch.part(start, end)
            start, limit = end, _limit(chance, longest)
        end = bound
    yield stretch.part(start, end)


def _limit(chance: random.Random, longest: int) -> int:
    return 1 if chance.random() < 0.33 else chance.randint(30, longest)


@dataclass(frozen=True, slots=True)
class LabelledBatch:
    """Stretches as padded pieces, and their words one after another with labels and annotated spans."""

    pieces: Tensor
    lengths: Tensor
    first: Tensor
    """The place of each word's first piece among all of the batch."""
    last: Tensor
    shapes: Tensor
    is_word: Tensor
    tags: Tensor
    names: Tensor
    stretch: Tensor
    """The number of each word's stretch, if its mentions are annotated; else -1."""
    spans: Tensor
    """First word, last word, kind."""


def make_batch(stretches: Sequence[LabelledText], pieces: WordPieces) -> LabelledBatch:
    """The tensors of some stretches."""
    shapes, is_word, starts = join_texts([stretch.words for stretch in stretches])
    batch, ends = batch_pieces(pieces, [[pieces.split(word) for word in stretch.words] for stretch in stretches])
    first, last = np.zeros(len(shapes), np.int64), np.zeros(len(shapes), np.int64)
    tags, names, owner = (np.full(len(shapes), empty, np.int64) for empty in (IGNORED, IGNORED, -1))
    spans = []
    for number, (stretch, at) in enumerate(zip(stretches, starts, strict=True)):
        here = slice(at, at + len(stretch.words))
        first[here], last[here] = (places + number * batch.pieces.shape[1] for places in ends[number])
        tags[here] = [_TAG_IDS.get(tag, IGNORED) for tag in stretch.tags]
        names[here] = _name_ids(stretch)
        owner[here] = -1 if stretch.mentions is None else number
        for (start, end), kind in (stretch.mentions or {}).items():
            if end - start <= MAX_MENTION:
                spans.append((start + at, end - 1 + at, _KIND_IDS[kind]))
    found = np.array(spans, np.int64).reshape(-1, 3)
    arrays = (batch.pieces, batch.lengths, first, last, shapes, is_word, tags, names, owner, found)
    return LabelledBatch(*map(torch.from_numpy, arrays))


def _name_ids(stretch: LabelledText) -> list[int]:
    ids = [0] * len(stretch.words)
    for (start, end), label in stretch.names.items():
        ids[start] = _NAME_IDS[f"B-{label}"]
        ids[start + 1 : end] = [_NAME_IDS[f"I-{label}"]] * (end - start - 1)
    return ids
