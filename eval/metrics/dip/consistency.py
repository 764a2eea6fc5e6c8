"""Lexical consistency: whether a word that the reference repeats within a few sentences is repeated in the output.

A block has three to five sentences. A chain is a noun, name or adjective whose lemma the reference has at least twice
in a block. An output with the lemma as often is consistent; with fewer but at least one, inconsistent; with none,
undecided, as it may use another word throughout. %Con leaves undecided chains out, %Full counts them. A name of several
words is one chain; an output that shortens it to some of its words still has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ape.text.languages import language_code
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator, Token
from eval.metrics.dip.annotated_sides import AnnotatedSides, DipMetric, annotate_sides, class_share_fold
from eval.metrics.metric import Mark
from eval.statistics.counts import FloatArray, Fold, ratio

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
NAME_CLASS = CHAIN_CLASSES.index("names")


@dataclass(frozen=True, slots=True)
class ConsistencyChain:
    """A lemma that the reference repeats in a block."""

    lemma: str
    kind: int
    """The class of CHAIN_CLASSES that most of its occurrences have."""
    times: int
    forms: frozenset[str]
    """The forms in the reference, so that an output with the same form matches even if its lemma differs."""

    def has(self, token: Token) -> bool:
        """Whether the token is the chain's word, or one of the words of its name."""
        return token.lemma.lower() in self.lemma.split() or token.text.lower() in self.forms


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
    """The lemmas and names that the reference repeats, in alphabetical order."""
    kinds: dict[str, Counter[int]] = {}
    forms: dict[str, set[str]] = {}
    for kind, tokens in _units(block, language):
        lemma = " ".join(token.lemma.lower() for token in tokens)
        kinds.setdefault(lemma, Counter())[kind] += 1
        forms.setdefault(lemma, set()).update(token.text.lower() for token in tokens)
    return [
        ConsistencyChain(
            lemma, min(counts, key=lambda kind: (-counts[kind], kind)), counts.total(), frozenset(forms[lemma])
        )
        for lemma, counts in sorted(kinds.items())
        if counts.total() >= MIN_OCCURRENCES
    ]


def _units(block: Sequence[Annotation], language: str) -> Iterator[tuple[int, list[Token]]]:
    """The words of the chain classes with their class; adjacent words of an English name together."""
    for one in block:
        name: list[Token] = []
        for token in one.tokens:
            kind = _TAGS[language].get(token.tag) if _is_word(token, language) else None
            if name and not (kind == NAME_CLASS and token.start - name[-1].end <= 1):
                yield NAME_CLASS, name
                name = []
            if kind == NAME_CLASS and language == "en":
                name.append(token)
            elif kind is not None:
                yield kind, [token]
        if name:
            yield NAME_CLASS, name


def find_chain_occurrences(chain: ConsistencyChain, block: Sequence[Annotation]) -> list[tuple[int, Token]]:
    """The tokens of the block with the chain's word, whatever their tags, each with its segment index.

    Of adjacent words of one name the first stands for all.
    """
    several = " " in chain.lemma
    return [
        (place, token)
        for place, one in enumerate(block)
        for at, token in enumerate(one.tokens)
        if chain.has(token) and not (several and at and chain.has(one.tokens[at - 1]))
    ]


def judge_chain(chain: ConsistencyChain, output: Sequence[Annotation]) -> ConsistencyVerdict:
    """The verdict on the output."""
    times = len(find_chain_occurrences(chain, output))
    return "consistent" if times >= chain.times else "inconsistent" if times else "undecided"


@dataclass(frozen=True, slots=True)
class DipConsistency(DipMetric):
    """%Con, with %Full and each class as parts. A block's chains are counted in the row of its first segment."""

    name: str = "dip-consistency"
    subject: ClassVar[str] = "Lexical consistency"
    languages: ClassVar[tuple[str, ...]] = LANGUAGES
    columns: ClassVar[int] = len(CHAIN_CLASSES) * len(CONSISTENCY_VERDICTS)
    settings: ClassVar[dict[str, Any]] = {"block": f"{FEWEST}-{MOST}", "names": "whole"}

    def _add_counts(self, rows: FloatArray, corpus: Corpus, system: str, annotator: Annotator) -> None:
        """For each class three columns: consistent, inconsistent, undecided chains."""
        for side, block, chain, verdict in judge_system_chains(corpus, system, annotator):
            column = chain.kind * len(CONSISTENCY_VERDICTS) + CONSISTENCY_VERDICTS.index(verdict)
            rows[side.first_row + block.start, column] += 1

    def _folds(self) -> tuple[Fold, dict[str, Fold]]:
        parts = {"con": _share(), "full": _share(full=True), "undecided": _undecided}
        for kind, label in enumerate(CHAIN_CLASSES):
            parts[f"con of {label}"] = _share(kind)
            parts[f"full of {label}"] = _share(kind, full=True)
        return _share(), parts

    def _marks(self, corpus: Corpus, system: str, annotator: Annotator) -> Iterator[Mark]:
        """The words of inconsistent chains, those of the reference and those repeated, and names that it changed."""
        from eval.metrics.dip.renamed import find_renamed  # it builds on this module

        for side, block, chain, verdict in judge_system_chains(corpus, system, annotator):
            if verdict != "inconsistent":
                continue
            there = find_chain_occurrences(chain, sides_of_block(side, block)[1])
            note = f"{chain.lemma}: {len(there)} of {chain.times} times"
            for place, token in there:
                segment = block.start + place
                yield Mark(side.id, segment, "output", token.start, token.end, "inconsistent", note)
            for place, token in find_chain_occurrences(chain, sides_of_block(side, block)[0]):
                segment = block.start + place
                yield Mark(side.id, segment, "reference", token.start, token.end, "inconsistent", note)
        language = language_code(corpus.target_language)
        for side in annotate_sides(corpus, system, annotator):
            for one in find_renamed(side, language):
                name, note = one.entity, f"{one.chain.lemma} → {one.entity.text}"
                yield Mark(side.id, one.segment, "output", name.start, name.end, "wrong", note)


def judge_system_chains(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, range, ConsistencyChain, ConsistencyVerdict]]:
    """Every chain of every block, with its verdict."""
    language = language_code(corpus.target_language)
    for side in annotate_sides(corpus, system, annotator):
        for block in split_blocks(side.references):
            reference, output = sides_of_block(side, block)
            for chain in find_chains(reference, language):
                yield side, block, chain, judge_chain(chain, output)


def sides_of_block(side: AnnotatedSides, block: range) -> tuple[list[Annotation], list[Annotation]]:
    """The segments of a block on both sides; the output has none where the reference has none."""
    references = [side.references[segment] or _NOTHING for segment in block]
    outputs = [side.outputs[segment] if side.references[segment] else _NOTHING for segment in block]
    return references, outputs


def _is_word(token: Token, language: str) -> bool:
    """Whether the token is a word: taggers take stray letters, 's and punctuation for nouns."""
    return len(token.text) > (1 if language == "en" else 0) and token.text.replace("-", "").isalpha()


def _share(kind: int | None = None, *, full: bool = False) -> Fold:
    """Per cent of the chains, decided or all, that are consistent."""
    classes = range(len(CHAIN_CLASSES)) if kind is None else (kind,)
    return class_share_fold(classes, len(CONSISTENCY_VERDICTS), [0], [0, 1, 2] if full else [0, 1])


def _undecided(sums: FloatArray) -> FloatArray:
    return 100 * ratio(sums[..., 2::3].sum(-1), sums.sum(-1))
