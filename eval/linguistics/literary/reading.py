"""What the network reads in a text: the tag of each word, names, and mentions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eval.linguistics.literary.labels import KINDS, MAX_MENTION, NAME_LABELS, TAGS
from eval.linguistics.literary.litbank import Span
from eval.linguistics.literary.name_rules import correct_names
from eval.linguistics.literary.network import GAP, Floats, Integers, PieceBatch, Weights, convolve, encode, linear
from eval.linguistics.literary.weights import LiteraryModel
from eval.linguistics.literary.wordpiece import WordPieces, shape_of

# Longer stretches cost more attention and add little context; positions end at 512 pieces.
STRETCH_WORDS = 110
_BATCH_PIECES = 2048
# The least probability of a mention: coreference loses more by a missing one than by a false one.
MENTION_THRESHOLD = 0.3
# Added to the scores of persons, as rules remove false ones: with it precision is recall on the second fold of LitBank.
_PERSON_BONUS = np.where([label.endswith("PER") for label in NAME_LABELS], np.float32(0.5), np.float32(0))


@dataclass(frozen=True, slots=True)
class WordsReading:
    """The tags of a text's words, its names by type, its mentions by kind, and a state for each word."""

    tags: list[str]
    names: dict[Span, str]
    mentions: dict[Span, str]
    states: Floats


def read_words(
    model: LiteraryModel, texts: Sequence[tuple[Sequence[str], Sequence[int]]], *, threshold: float = MENTION_THRESHOLD
) -> list[WordsReading]:
    """Read texts, each given by its words and the indices of sentence-initial words."""
    bounds = [list(cut_sentences(len(words), sentences)) for words, sentences in texts]
    stretches = [words[a:b] for (words, _), spans in zip(texts, bounds, strict=True) for a, b in spans]
    parts = _read_stretches(model, stretches, threshold)
    return [_join([(start, next(parts)) for start, _ in spans], model.weights) for spans in bounds]


def _join(parts: Sequence[tuple[int, WordsReading]], weights: Weights) -> WordsReading:
    whole = WordsReading([], {}, {}, np.zeros((0, len(weights["input.bias"])), np.float32))
    if parts:
        whole = WordsReading([], {}, {}, np.concatenate([part.states for _, part in parts]))
    for start, part in parts:
        whole.tags.extend(part.tags)
        whole.names.update({(a + start, b + start): label for (a, b), label in part.names.items()})
        whole.mentions.update({(a + start, b + start): kind for (a, b), kind in part.mentions.items()})
    return whole


def cut_sentences(number: int, sentences: Sequence[int]) -> Iterator[Span]:
    """Whole sentences up to `STRETCH_WORDS`; a longer sentence is cut."""
    start = 0
    for first, after in pairwise((*sentences, number)) if number else ():
        if after - start > STRETCH_WORDS and first > start:
            yield start, first
            start = first
        while after - start > STRETCH_WORDS:
            yield start, start + STRETCH_WORDS
            start += STRETCH_WORDS
    if number > start:
        yield start, number


def word_vectors(weights: Weights, pieces: WordPieces, texts: Sequence[Sequence[str]]) -> list[Floats]:
    """A vector for each word: the mean of its first and last piece."""
    split = [[pieces.split(word) for word in words] for words in texts]
    sizes = [sum(map(len, words)) + 2 for words in split]
    found: list[Floats] = [np.zeros((0, 0), np.float32)] * len(texts)
    batch: list[int] = []
    for place in [*sorted(range(len(texts)), key=sizes.__getitem__), -1]:
        if batch and (place < 0 or (len(batch) + 1) * sizes[place] > _BATCH_PIECES):
            for one, vectors in zip(batch, _encode(weights, pieces, [split[one] for one in batch]), strict=True):
                found[one] = vectors
            batch = []
        batch.append(place)
    return found


def _encode(weights: Weights, pieces: WordPieces, texts: Sequence[Sequence[tuple[int, ...]]]) -> Iterator[Floats]:
    batch, ends = batch_pieces(pieces, texts)
    for states, (first, last) in zip(encode(weights, batch), ends, strict=True):
        yield (states[first] + states[last]) / 2


def batch_pieces(
    pieces: WordPieces, texts: Sequence[Sequence[tuple[int, ...]]]
) -> tuple[PieceBatch, list[tuple[Integers, Integers]]]:
    """The pieces of texts, padded, and the places of the first and last piece of each word in each text."""
    sizes = [np.fromiter(map(len, words), np.int64, len(words)) for words in texts]
    lengths = np.array([size.sum() + 2 for size in sizes])
    ids = np.zeros((len(texts), lengths.max()), np.int64)
    for row, words in zip(ids, texts, strict=True):
        flat = [pieces.first, *(piece for word in words for piece in word), pieces.last]
        row[: len(flat)] = flat
    last = [np.cumsum(size) for size in sizes]
    return PieceBatch(ids, lengths), [(after - size + 1, after) for size, after in zip(sizes, last, strict=True)]


def join_texts(texts: Sequence[Sequence[str]]) -> tuple[Integers, Floats, list[int]]:
    """Texts one after another with gaps: the shapes of their rows, which of these are words, and where texts begin."""
    size = sum(map(len, texts)) + GAP * len(texts)
    shapes, is_word = np.zeros(size, np.int64), np.zeros((size, 1), np.float32)
    starts: list[int] = []
    place = 0
    for text in texts:
        starts.append(place)
        shapes[place : place + len(text)] = [shape_of(word) for word in text]
        is_word[place : place + len(text)] = 1
        place += len(text) + GAP
    return shapes, is_word, starts


def _read_stretches(model: LiteraryModel, texts: Sequence[Sequence[str]], threshold: float) -> Iterator[WordsReading]:
    if not texts:
        return
    weights = model.weights
    shapes, is_word, starts = join_texts(texts)
    flat = np.zeros((len(shapes), len(weights["positions"][0])), np.float32)
    flat[is_word[:, 0] > 0] = np.concatenate(word_vectors(weights, model.pieces, texts))
    states = convolve(weights, flat, shapes, is_word)
    tags = linear(weights, "tags", states).argmax(axis=1)
    names = linear(weights, "names", states) + _PERSON_BONUS
    first, last = linear(weights, "span_start", states), linear(weights, "span_end", states)
    for text, start in zip(texts, starts, strict=True):
        here = slice(start, start + len(text))
        spans = _spans(first[here], last[here], threshold)
        kinds = _kinds(weights, states[here], spans)
        of_words = [TAGS[tag] for tag in tags[here]]
        found = correct_names(text, of_words, decode_names(names[here]))
        yield WordsReading(of_words, found, kinds, states[here])


def decode_names(scores: Floats) -> dict[Span, str]:
    """Names by the best label of each word; the words of a name share the type with the highest sum."""
    best = scores.argmax(axis=1)
    found: dict[Span, str] = {}
    start = -1
    for place in range(len(best) + 1):
        label = NAME_LABELS[best[place]] if place < len(best) else "O"
        if start >= 0 and not label.startswith("I"):
            sums = scores[start, 1::2] + scores[start + 1 : place, 2::2].sum(axis=0)
            found[start, place] = NAME_LABELS[1 + 2 * int(sums.argmax())][2:]
            start = -1
        if label != "O" and start < 0:
            start = place
    return found


def _spans(first: Floats, last: Floats, threshold: float) -> list[Span]:
    """The spans of up to `MAX_MENTION` words whose probability exceeds the threshold."""
    limit = np.log(threshold / (1 - threshold)) * np.sqrt(first.shape[1])
    start, end = np.nonzero(first @ last.T > limit)
    allowed = (end >= start) & (end - start < MAX_MENTION)
    return [(int(a), int(b) + 1) for a, b in zip(start[allowed], end[allowed], strict=True)]


def _kinds(weights: Weights, states: Floats, spans: Sequence[Span]) -> dict[Span, str]:
    if not spans:
        return {}
    start, after = np.array(spans).T
    pairs = np.concatenate([states[start], states[after - 1]], axis=1)
    return dict(zip(spans, (KINDS[kind] for kind in linear(weights, "kinds", pairs).argmax(axis=1)), strict=True))
