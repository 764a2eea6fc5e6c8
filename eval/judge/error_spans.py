"""Error categories and severities, and the parser of a judge's list of errors.

Severities weigh 1, 5 and 25, as in MQM. An error is a quotation that occurs in the translation, or, for an omission,
in the source. Quotations that do not occur are dropped and counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ape.passage.segment import Draft
from eval.judge.answer_parser import last_tagged, missing_verdict, strip_reasoning
from eval.judge.judgement import Unscored
from eval.judge.quotes import CharacterSpan, find_quote
from prompts import escape_delimiters
from prompts.judge import JudgeTerm

DropReason: TypeAlias = Literal["not_in_text", "off_menu", "unreadable", "repeated"]
OMISSION = "omission"

_SOURCE_CATEGORIES = (
    JudgeTerm("mistranslation", "it says something else than the passage"),
    JudgeTerm(OMISSION, "something of the passage is lost"),
    JudgeTerm("addition", "it says what the passage does not"),
)
_TEXT_CATEGORIES = (
    JudgeTerm("untranslated", "words were left in the language of the passage"),
    JudgeTerm("literal", "rendered word by word, so that it is no idiom or no sense"),
    JudgeTerm("reference", "a wrong pronoun or name: one takes somebody for somebody else"),
    JudgeTerm("inconsistency", "a person, thing or tense is not what it was a moment ago"),
    JudgeTerm("grammar", "grammar, spelling or punctuation"),
    JudgeTerm("style", "a tone that does not fit the passage"),
    JudgeTerm("other", "an error of another kind"),
)
SEVERITIES = (
    JudgeTerm("minor", "a reader may notice it and reads on"),
    JudgeTerm("major", "a reader stumbles, or is told something wrong"),
    JudgeTerm("critical", "the passage is ruined: nonsense, or the opposite of what is meant"),
)
SEVERITY_WEIGHTS: Mapping[str, float] = {"minor": 1.0, "major": 5.0, "critical": 25.0}
ERROR_CATEGORIES = tuple(entry.name for entry in (*_SOURCE_CATEGORIES, *_TEXT_CATEGORIES))


def error_categories(*, with_source: bool) -> tuple[JudgeTerm, ...]:
    """The categories that a judge can assign with or without the source."""
    return (*_SOURCE_CATEGORIES, *_TEXT_CATEGORIES) if with_source else _TEXT_CATEGORIES


@dataclass(frozen=True, slots=True)
class SpanError:
    """An error with its character offsets in the translation, or in the source for an omission."""

    category: str
    severity: str
    start: int
    end: int

    @property
    def side(self) -> Literal["source", "output"]:
        """The text that the offsets refer to."""
        return "source" if self.category == OMISSION else "output"

    @property
    def weight(self) -> float:
        """Weight of its severity."""
        return SEVERITY_WEIGHTS[self.severity]


@dataclass(frozen=True, slots=True)
class TranslationErrors:
    """Errors of one translation, possibly none."""

    errors: tuple[SpanError, ...]
    answer: str
    dropped: Mapping[DropReason, int] = field(default_factory=dict)

    @property
    def penalty(self) -> float:
        """Sum of the weights of all errors."""
        return sum(error.weight for error in self.errors)


def read_errors(draft: Draft, translation: str, *, source: str = "") -> TranslationErrors | Unscored:
    """Read the last list of errors in an answer; Unscored if there is no usable one."""
    content = strip_reasoning(draft.text)
    block = last_tagged("errors", content)
    # A truncated list would count too few errors.
    if block is None or (draft.finish_reason == "length" and content.endswith(block)):
        return missing_verdict(draft)
    reader = _Reader(translation, source)
    for entry in _entries(block):
        reader.add(entry)
    if reader.dropped and not reader.errors:
        unfounded = set(reader.dropped) == {"not_in_text"}
        return Unscored("unfounded" if unfounded else "off_menu", (draft.text,))
    return TranslationErrors(tuple(reader.errors), draft.text, dict(reader.dropped))


class _Reader:
    """Collects the entries of a list; each span counts once."""

    def __init__(self, translation: str, source: str) -> None:
        self._texts = {"output": translation, "source": source}
        self._menu = {entry.name for entry in error_categories(with_source=bool(source))}
        self._seen: set[tuple[str, CharacterSpan]] = set()
        self.errors: list[SpanError] = []
        self.dropped: Counter[DropReason] = Counter()

    def add(self, entry: object) -> None:
        error = self._read(entry)
        if isinstance(error, SpanError):
            self.errors.append(error)
        else:
            self.dropped[error] += 1

    def _read(self, entry: object) -> SpanError | DropReason:
        parts = _entry_parts(entry)
        if parts is None:
            return "unreadable"
        quote, category, severity = parts
        if category not in self._menu or severity not in SEVERITY_WEIGHTS:
            return "off_menu"
        side = "source" if category == OMISSION else "output"
        text = self._texts[side]
        spans = find_quote(escape_delimiters(text.strip()).restore(quote), text)
        if not spans:
            return "not_in_text"
        span = next((span for span in spans if (side, span) not in self._seen), None)
        if span is None:
            return "repeated"
        self._seen.add((side, span))
        return SpanError(category, severity, *span)


def _entry_parts(entry: object) -> tuple[str, str, str] | None:
    if not isinstance(entry, dict):
        return None
    quote, category, severity = (entry.get(name) for name in ("quote", "category", "severity"))
    if not (isinstance(quote, str) and isinstance(category, str) and isinstance(severity, str)):
        return None
    return quote, category.strip().casefold(), severity.strip().casefold()


def _entries(block: str) -> Iterator[Any]:
    """The entries of a list: JSON as a whole, or line by line; None for a line that is neither."""
    lines = [line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith("```")]
    if [line.casefold().rstrip(".") for line in lines] in ([], ["none"]):
        return
    whole = _json("\n".join(lines))
    if isinstance(whole, dict) and isinstance(whole.get("errors"), list):
        whole = whole["errors"]
    yield from whole if isinstance(whole, list) else (_json(line.rstrip(",")) for line in lines)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
