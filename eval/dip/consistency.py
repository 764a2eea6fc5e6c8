"""Lexical consistency: does a word that the reference says again in a few sentences come again in the output?

A block is three to five sentences; a chain is a noun, a name or an adjective whose lemma the reference has at least
twice in it. An output that has the lemma as often is consistent; at least once but fewer times, inconsistent. One that
never has it is undecided: another word may have been used throughout. %Con leaves the undecided out, %Full does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ape.languages import code_of
from eval.annotate.protocol import Annotation, Annotator, Token
from eval.corpus import Corpus
from eval.dip.sides import Sides, asking, documents_of_rows, read_sides
from eval.metric import Counted, Fold, Mark, Numbers, Unmeasured, ratio, signed

Verdict: TypeAlias = Literal["consistent", "inconsistent", "undecided"]
VERDICTS: tuple[Verdict, ...] = ("consistent", "inconsistent", "undecided")
CLASSES = ("nouns", "names", "adjectives")
_TAGS = {
    "en": {"NN": 0, "NNS": 0, "NNP": 1, "NNPS": 1, "JJ": 2, "JJR": 2, "JJS": 2},
    "zh": {"NN": 0, "NT": 0, "NR": 1, "JJ": 2, "VA": 2},
}
LANGUAGES = tuple(_TAGS)
_NOTHING = Annotation(())
FEWEST, MOST = 3, 5
REPEATED = 2


@dataclass(frozen=True, slots=True)
class Chain:
    """A lemma that the reference repeats in a block."""

    lemma: str
    kind: int
    """Which of CLASSES, as most of its occurrences."""
    times: int
    forms: frozenset[str]
    """How the reference writes it: an output that writes the same is not to be failed by its lemma."""


def blocks(annotations: Sequence[Annotation | None]) -> Iterator[range]:
    """The segments of each block: no more than five sentences, but at least three, and never part of a segment.

    What is left over at the end of a document joins the last block if there is room, and else stands alone.
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


def chains(block: Sequence[Annotation], language: str = "en") -> list[Chain]:
    """What the reference repeats, in the order of the alphabet."""
    kinds: dict[str, Counter[int]] = {}
    forms: dict[str, set[str]] = {}
    for token in _tokens(block):
        kind = _TAGS[language].get(token.tag)
        if kind is not None and _is_word(token, language):
            lemma = token.lemma.lower()
            kinds.setdefault(lemma, Counter())[kind] += 1
            forms.setdefault(lemma, set()).add(token.text.lower())
    return [
        Chain(
            lemma,
            min(counts, key=lambda kind: (-counts[kind], kind)),
            counts.total(),
            frozenset(forms[lemma]),
        )
        for lemma, counts in sorted(kinds.items())
        if counts.total() >= REPEATED
    ]


def occurrences(chain: Chain, block: Sequence[Annotation]) -> list[tuple[int, Token]]:
    """The tokens of the block that say the chain's word, each with the place of its segment; whatever their tags."""
    return [
        (place, token)
        for place, one in enumerate(block)
        for token in one.tokens
        if token.lemma.lower() == chain.lemma or token.text.lower() in chain.forms
    ]


def judge(chain: Chain, output: Sequence[Annotation]) -> Verdict:
    """Whether the output repeats it too."""
    times = len(occurrences(chain, output))
    return "consistent" if times >= chain.times else "inconsistent" if times else "undecided"


@dataclass(frozen=True, slots=True)
class Consistency:
    """%Con, with %Full and each class as its parts. A block's chains are counted on the row of its first segment."""

    annotator: Annotator | None = None
    name: str = "dip-consistency"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> Counted | Unmeasured:
        """Columns: for each class, how many chains are consistent, inconsistent, undecided."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = documents_of_rows(corpus)
        rows = np.zeros((len(documents), len(CLASSES) * len(VERDICTS)))
        for side, block, chain, verdict in judged(corpus, system, annotator):
            rows[side.first + block.start, chain.kind * len(VERDICTS) + VERDICTS.index(verdict)] += 1
        told = signed(self.name, block=f"{FEWEST}-{MOST}", refs="each", annotator=annotator.name)
        parts = {"con": _share(), "full": _share(full=True), "undecided": _undecided}
        for kind, label in enumerate(CLASSES):
            parts[f"con of {label}"] = _share(kind)
            parts[f"full of {label}"] = _share(kind, full=True)
        return Counted(rows, documents, _share(), told, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """The words of every chain that the output breaks: all of the reference's, and those that came again."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for side, block, chain, verdict in judged(corpus, system, annotator):
            if verdict != "inconsistent":
                continue
            there = occurrences(chain, _side(side, block)[1])
            note = f"{chain.lemma}: {len(there)} of {chain.times} times"
            for place, token in there:
                segment = block.start + place
                yield Mark(side.id, segment, "output", token.start, token.end, "inconsistent", note)
            for place, token in occurrences(chain, _side(side, block)[0]):
                segment = block.start + place
                yield Mark(side.id, segment, "reference", token.start, token.end, "inconsistent", note)

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return asking(corpus, LANGUAGES, what="Lexical consistency", annotator=self.annotator)


def judged(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[Sides, range, Chain, Verdict]]:
    """Every chain of every block, with the verdict on the output."""
    language = code_of(corpus.target_language)
    for side in read_sides(corpus, system, annotator):
        for block in blocks(side.references):
            asked, output = _side(side, block)
            for chain in chains(asked, language):
                yield side, block, chain, judge(chain, output)


def _side(side: Sides, block: range) -> tuple[list[Annotation], list[Annotation]]:
    """Both texts of a block; where the reference has no segment, the output is given none for nothing."""
    asked = [side.references[segment] or _NOTHING for segment in block]
    answers = [side.outputs[segment] if side.references[segment] else _NOTHING for segment in block]
    return asked, answers


def _tokens(block: Sequence[Annotation]) -> Iterator[Token]:
    for one in block:
        yield from one.tokens


def _is_word(token: Token, language: str) -> bool:
    """Taggers take a stray letter, an 's or a mark for a noun."""
    return len(token.text) > (1 if language == "en" else 0) and token.text.replace("-", "").isalpha()


def _share(kind: int | None = None, *, full: bool = False) -> Fold:
    """Per cent of the chains that are consistent, of those decided or of all; of one class or of all."""
    picked = range(len(CLASSES)) if kind is None else (kind,)

    def fold(sums: Numbers) -> Numbers:
        columns = [sums[..., [one * len(VERDICTS) + place for one in picked]].sum(-1) for place in range(3)]
        below = columns[0] + columns[1] + (columns[2] if full else 0)
        return 100 * ratio(columns[0], below)

    return fold


def _undecided(sums: Numbers) -> Numbers:
    return 100 * ratio(sums[..., 2::3].sum(-1), sums.sum(-1))
