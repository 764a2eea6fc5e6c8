"""Lexical consistency: whether a word that the reference repeats within a few sentences is repeated in the output.

A block has three to five sentences. A chain is a noun, name or adjective whose lemma the reference has at least twice
in a block. An output with the lemma as often is consistent; with fewer but at least one, inconsistent; with none,
undecided, as it may use another word throughout. %Con leaves undecided chains out, %Full counts them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ape.text.languages import language_code
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator, Token
from eval.metrics.dip.annotated_sides import (
    AnnotatedSides,
    annotate_sides,
    class_share_fold,
    dip_annotator_or_unmeasured,
    row_documents,
)
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured, ratio

ConsistencyVerdict: TypeAlias = Literal["consistent", "inconsistent", "undecided"]
CONSISTENCY_VERDICTS: tuple[ConsistencyVerdict, ...] = ("consistent", "inconsistent", "undecided")
CHAIN_CLASSES = ("nouns", "names", "adjectives")
_TAGS = {
    "en": {"NN": 0, "NNS": 0, "NNP": 1, "NNPS": 1, "JJ": 2, "JJR": 2, "JJS": 2},
    "zh": {"NN": 0, "NT": 0, "NR": 1, "JJ": 2, "VA": 2},
}
LANGUAGES = tuple(_TAGS)
_NOTHING = Annotation(())
FEWEST, MOST = 3, 5
MIN_OCCURRENCES = 2


@dataclass(frozen=True, slots=True)
class ConsistencyChain:
    """A lemma that the reference repeats in a block."""

    lemma: str
    kind: int
    """The class of CHAIN_CLASSES that most of its occurrences have."""
    times: int
    forms: frozenset[str]
    """The forms in the reference, so that an output with the same form matches even if its lemma differs."""


def split_blocks(annotations: Sequence[Annotation | None]) -> Iterator[range]:
    """The segments of each block: three to five sentences, never splitting a segment.

    The rest at the end of a document joins the last block if there is room, and else is a block.
    """
    sizes = [len(one.sentences) if one is not None and one.tokens else 0 for one in annotations]
    found: list[range] = []
    start = held = 0
    for segment, size in enumerate(sizes):
        if held >= FEWEST and held + size > MOST:
            found.append(range(start, segment))
            start, held = segment, 0
        held += size
    if found and held < FEWEST and sum(sizes[place] for place in found[-1]) + held <= MOST:
        found[-1] = range(found[-1].start, len(sizes))
    elif start < len(sizes):
        found.append(range(start, len(sizes)))
    yield from found


def find_chains(block: Sequence[Annotation], language: str = "en") -> list[ConsistencyChain]:
    """The lemmas that the reference repeats, in alphabetical order."""
    kinds: dict[str, Counter[int]] = {}
    forms: dict[str, set[str]] = {}
    for token in _tokens(block):
        kind = _TAGS[language].get(token.tag)
        if kind is not None and _is_word(token, language):
            lemma = token.lemma.lower()
            kinds.setdefault(lemma, Counter())[kind] += 1
            forms.setdefault(lemma, set()).add(token.text.lower())
    return [
        ConsistencyChain(
            lemma, min(counts, key=lambda kind: (-counts[kind], kind)), counts.total(), frozenset(forms[lemma])
        )
        for lemma, counts in sorted(kinds.items())
        if counts.total() >= MIN_OCCURRENCES
    ]


def find_chain_occurrences(chain: ConsistencyChain, block: Sequence[Annotation]) -> list[tuple[int, Token]]:
    """The tokens of the block with the chain's word, whatever their tags, each with its segment index."""
    return [
        (place, token)
        for place, one in enumerate(block)
        for token in one.tokens
        if token.lemma.lower() == chain.lemma or token.text.lower() in chain.forms
    ]


def judge_chain(chain: ConsistencyChain, output: Sequence[Annotation]) -> ConsistencyVerdict:
    """The verdict on the output."""
    times = len(find_chain_occurrences(chain, output))
    return "consistent" if times >= chain.times else "inconsistent" if times else "undecided"


@dataclass(frozen=True, slots=True)
class DipConsistency:
    """%Con, with %Full and each class as parts. A block's chains are counted in the row of its first segment."""

    annotator: Annotator | None = None
    name: str = "dip-consistency"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each class three columns: consistent, inconsistent, undecided chains."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = row_documents(corpus)
        rows = np.zeros((len(documents), len(CHAIN_CLASSES) * len(CONSISTENCY_VERDICTS)))
        for side, block, chain, verdict in judge_system_chains(corpus, system, annotator):
            rows[
                side.first_row + block.start,
                chain.kind * len(CONSISTENCY_VERDICTS) + CONSISTENCY_VERDICTS.index(verdict),
            ] += 1
        signature = metric_signature(self.name, block=f"{FEWEST}-{MOST}", refs="each", annotator=annotator.name)
        parts = {"con": _share(), "full": _share(full=True), "undecided": _undecided}
        for kind, label in enumerate(CHAIN_CLASSES):
            parts[f"con of {label}"] = _share(kind)
            parts[f"full of {label}"] = _share(kind, full=True)
        return MetricCounts(rows, documents, _share(), signature, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """The words of inconsistent chains: all of the reference, and those repeated in the output."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for side, block, chain, verdict in judge_system_chains(corpus, system, annotator):
            if verdict != "inconsistent":
                continue
            there = find_chain_occurrences(chain, _side(side, block)[1])
            note = f"{chain.lemma}: {len(there)} of {chain.times} times"
            for place, token in there:
                segment = block.start + place
                yield Mark(side.id, segment, "output", token.start, token.end, "inconsistent", note)
            for place, token in find_chain_occurrences(chain, _side(side, block)[0]):
                segment = block.start + place
                yield Mark(side.id, segment, "reference", token.start, token.end, "inconsistent", note)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return dip_annotator_or_unmeasured(corpus, LANGUAGES, what="Lexical consistency", annotator=self.annotator)


def judge_system_chains(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, range, ConsistencyChain, ConsistencyVerdict]]:
    """Every chain of every block, with its verdict."""
    language = language_code(corpus.target_language)
    for side in annotate_sides(corpus, system, annotator):
        for block in split_blocks(side.references):
            reference, output = _side(side, block)
            for chain in find_chains(reference, language):
                yield side, block, chain, judge_chain(chain, output)


def _side(side: AnnotatedSides, block: range) -> tuple[list[Annotation], list[Annotation]]:
    """The segments of a block on both sides; the output has none where the reference has none."""
    references = [side.references[segment] or _NOTHING for segment in block]
    outputs = [side.outputs[segment] if side.references[segment] else _NOTHING for segment in block]
    return references, outputs


def _tokens(block: Sequence[Annotation]) -> Iterator[Token]:
    for one in block:
        yield from one.tokens


def _is_word(token: Token, language: str) -> bool:
    """Whether the token is a word: taggers take stray letters, 's and punctuation for nouns."""
    return len(token.text) > (1 if language == "en" else 0) and token.text.replace("-", "").isalpha()


def _share(kind: int | None = None, *, full: bool = False) -> Fold:
    """Per cent of the chains, decided or all, that are consistent."""
    classes = range(len(CHAIN_CLASSES)) if kind is None else (kind,)
    return class_share_fold(classes, len(CONSISTENCY_VERDICTS), [0], [0, 1, 2] if full else [0, 1])


def _undecided(sums: FloatArray) -> FloatArray:
    return 100 * ratio(sums[..., 2::3].sum(-1), sums.sum(-1))
