"""Estimate a book before it is post-edited: chapters, pairs, skipped paragraphs, tokens, time and cost.

Tokens, time and cost are ranges. The low end is one draft for each paragraph with a tokenizer that suits the languages,
the high end all allowed attempts with one that does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ape.books.pairing.book_pairing import ParagraphPair
from ape.jobs.counts import ModelRate
from ape.jobs.job import JobRecipe
from ape.text.languages import language_name
from ape.text.token_estimate import TokenRange, estimate_tokens
from ape.text.tokens import words
from prompts import DEFAULT_FORMAT, FORMATS, Question

_EXAMPLES = 5
_EXAMPLE_CHARACTERS = 80
# A post-edit is about as long as the MT.
_LENGTH = (0.9, 1.1)
# Control tokens of the chat template, and delimiters of context paragraphs.
_REQUEST_TOKENS = 40


@dataclass(frozen=True, slots=True)
class EngineSpeed:
    """Tokens that one request reads and writes per second, and the number of concurrent requests.

    The expected speed is within a factor of `slack`. `origin` describes where the numbers come from.
    """

    reads: float
    writes: float
    concurrency: int
    slack: float = 2.0
    origin: str = "a guess, since nothing was measured yet"

    @classmethod
    def measured(cls, rate: ModelRate, *, concurrency: int) -> EngineSpeed:
        """The speed of earlier passages, with reading and writing side by side."""
        # Half of the time for each, so that an equal passage takes equally long.
        seconds = max(rate.seconds, 1e-6) / 2
        origin = f"measured on the last {rate.passages:,} passages"
        return cls(rate.prompt_tokens / seconds, rate.completion_tokens / seconds, concurrency, 1.3, origin)


# First guesses. Embedded: SmolLM2 on an idle machine writes 60 to 75 tokens a second for a single request.
ENGINE_SPEEDS: Mapping[str, EngineSpeed] = {
    "embedded": EngineSpeed(reads=400, writes=25, concurrency=4),
    "vllm": EngineSpeed(reads=5_000, writes=40, concurrency=32),
    "url": EngineSpeed(reads=2_000, writes=60, concurrency=8),
}


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Prices of a million tokens read and of a million tokens written, in one currency."""

    reads: float
    writes: float


FREE_PRICE = TokenPrice(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ChapterEstimate:
    """A chapter: numbers of paragraphs, pairs to edit, skipped paragraphs, and words to edit."""

    number: int
    title: str
    paragraphs: int = 0
    pairs: int = 0
    skipped: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True)
class SkipCount:
    """A skip reason, the number of its paragraphs, and the first of them as (id, beginning)."""

    reason: str
    count: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BookEstimate:
    """The estimate of a book. `cost` is None without a price. `pairs_by` counts pairs by how they were found."""

    chapters: tuple[ChapterEstimate, ...]
    paragraphs: int
    pairs: int
    words: int
    characters: int
    skipped: tuple[SkipCount, ...]
    pairs_by: Mapping[str, int]
    tokens_in: TokenRange
    tokens_out: TokenRange
    seconds: TokenRange
    cost: TokenRange | None
    speed: EngineSpeed

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON values, with whole tokens and seconds."""
        found = asdict(self) | {"pairs_by": dict(self.pairs_by)}
        found["speed"]["at_once"] = found["speed"].pop("concurrency")
        for name in ("tokens_in", "tokens_out", "seconds"):
            found[name] = {end: round(value) for end, value in found[name].items()}
        found["skipped"] = [
            {
                "reason": skip.reason,
                "count": skip.count,
                "examples": [{"id": name, "text": text} for name, text in skip.examples],
            }
            for skip in self.skipped
        ]
        return found


def estimate_book(
    pairs: Iterable[ParagraphPair],
    recipe: JobRecipe,
    *,
    speed: EngineSpeed,
    price: TokenPrice | None = None,
    prediction: bool = False,
) -> BookEstimate:
    """Estimate a book in one pass over its pairs. At worst all tokens of a prediction are rejected, and paid."""
    counter = _EstimateCounter(recipe)
    for pair in pairs:
        counter.add(pair)
    tokens_in, tokens_out = (counter.reads.times(1, recipe.max_attempts), counter.writes.times(1, recipe.max_attempts))
    paid = tokens_out + TokenRange(0, tokens_out.high) if prediction else tokens_out
    return BookEstimate(
        chapters=tuple(ChapterEstimate(*counts) for counts in counter.chapters),
        paragraphs=counter.paragraphs,
        pairs=sum(counter.pairs_by.values()),
        words=counter.words,
        characters=counter.characters,
        skipped=tuple(
            SkipCount(reason, count, tuple(counter.examples[reason])) for reason, count in counter.by_frequency()
        ),
        pairs_by=dict(counter.pairs_by),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        seconds=_seconds(tokens_in, tokens_out, speed),
        cost=_cost(tokens_in, paid, price),
        speed=speed,
    )


def _seconds(tokens_in: TokenRange, tokens_out: TokenRange, speed: EngineSpeed) -> TokenRange:
    reading, writing = tokens_in.times(1 / speed.reads), tokens_out.times(1 / speed.writes)
    return (reading + writing).times(1 / speed.concurrency / speed.slack, speed.slack / speed.concurrency)


def _cost(tokens_in: TokenRange, tokens_out: TokenRange, price: TokenPrice | None) -> TokenRange | None:
    if price is None:
        return None
    return tokens_in.times(price.reads / 1e6) + tokens_out.times(price.writes / 1e6)


@dataclass(slots=True)
class _EstimateCounter:
    """Running counts for one draft of each paragraph, with the token ranges of the context."""

    recipe: JobRecipe
    paragraphs: int = 0
    words: int = 0
    characters: int = 0
    chapters: list[list[Any]] = field(default_factory=list)
    pairs_by: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    reads: TokenRange = field(default_factory=TokenRange)
    writes: TokenRange = field(default_factory=TokenRange)
    fixed: TokenRange = field(init=False)
    uses_context: bool = field(init=False)
    before: deque[TokenRange] = field(init=False)

    def __post_init__(self) -> None:
        recipe = self.recipe
        question = Question(
            source="",
            mt="",
            source_language=language_name(recipe.source_language),
            target_language=language_name(recipe.target_language),
            context=(("", ""),),
            instructions=recipe.instructions,
        )
        prompt = FORMATS.get(recipe.prompt.partition("@")[0], DEFAULT_FORMAT).render(question)
        self.fixed = estimate_tokens(prompt.text, language="en") + TokenRange(_REQUEST_TOKENS, _REQUEST_TOKENS)
        self.uses_context = "context" not in prompt.unused_fields
        self.before = deque(maxlen=recipe.context if self.uses_context else 0)

    def add(self, pair: ParagraphPair) -> None:
        if not self.chapters or self.chapters[-1][0] != pair.chapter:
            self.chapters.append([pair.chapter, pair.title, 0, 0, 0, 0])
            self.before.clear()
        chapter = self.chapters[-1]
        self.paragraphs += 1
        chapter[2] += 1
        if pair.skip:
            chapter[4] += 1
            self._skip(pair)
            return
        count = len(words(pair.mt))
        chapter[3] += 1
        chapter[5] += count
        self.words += count
        self.characters += len(pair.mt)
        self.pairs_by[pair.how] = self.pairs_by.get(pair.how, 0) + 1
        self._add_tokens(pair)

    def _skip(self, pair: ParagraphPair) -> None:
        # Without the number in "the pair is doubtful (confidence 0.31)", so that equal reasons are counted together.
        reason = pair.skip.partition(" (")[0]
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append((pair.id, pair.mt.strip()[:_EXAMPLE_CHARACTERS]))

    def _add_tokens(self, pair: ParagraphPair) -> None:
        recipe = self.recipe
        source = estimate_tokens(pair.source, language=recipe.source_language)
        mt = estimate_tokens(pair.mt, language=recipe.target_language)
        request = self.fixed + source + mt
        for context in self.before:
            request += context
        for term, wording in recipe.glossary:
            if self.uses_context and term in pair.source:
                request += estimate_tokens(f"{term} = {wording}\n")
        self.reads += request.times(recipe.candidates)
        self.writes += mt.times(_LENGTH[0] * recipe.candidates, _LENGTH[1] * recipe.candidates)
        self.before.append(source + mt)

    def by_frequency(self) -> list[tuple[str, int]]:
        return sorted(self.reasons.items(), key=lambda item: -item[1])
