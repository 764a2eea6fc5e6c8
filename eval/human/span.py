"""Error spans that raters mark: the protocols, severities, categories and weights.

ESA (Kocmi et al. 2024): spans of two severities and a score from 0 to 100. MQM: the spans have a category of the
typology too; its weights are those of WMT (Freitag et al. 2021), 25 for a critical error as for "non-translation".
Here both are contrastive: a rater marks the two texts of a passage side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

SpanProtocol: TypeAlias = Literal["esa", "mqm"]
Severity: TypeAlias = Literal["neutral", "minor", "major", "critical"]

SEVERITIES: Mapping[SpanProtocol, tuple[Severity, ...]] = {
    "esa": ("minor", "major"),
    "mqm": ("neutral", "minor", "major", "critical"),
}
SEVERITY_WEIGHTS: Mapping[Severity, float] = {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}
PUNCTUATION_WEIGHT = 0.1
"""The weight of a minor error of punctuation."""
PUNCTUATION = "fluency/punctuation"
MQM_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "accuracy": ("mistranslation", "omission", "addition", "untranslated"),
    "discourse": ("pronoun or reference", "tense", "name inconsistency", "connective"),
    "fluency": ("grammar", "register", "inconsistency", "spelling", "punctuation"),
    "style": ("overly literal", "awkward", "voice of the author"),
    "terminology": ("wrong term", "inconsistent term"),
    "other": ("locale", "source error", "non-translation", "other"),
}
"""The upper level of MQM as at WMT, with the discourse and style errors of literary translation."""
CATEGORIES = tuple(f"{kind}/{name}" for kind, names in MQM_CATEGORIES.items() for name in names)
PARAGRAPH_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """Characters `start` to `end` (exclusive, in code points) of a text whose paragraphs are joined by an empty line.

    An empty span at the end of the text says that something is missing.
    """

    start: int
    end: int
    severity: Severity
    category: str = ""

    @property
    def weight(self) -> float:
        """MQM points."""
        if self.category == PUNCTUATION and self.severity == "minor":
            return PUNCTUATION_WEIGHT
        return SEVERITY_WEIGHTS[self.severity]


def join_paragraphs(paragraphs: Iterable[str]) -> str:
    """The text that spans point into."""
    return PARAGRAPH_BREAK.join(paragraphs)


def span_problem(span: ErrorSpan, text: str, protocol: SpanProtocol) -> str:
    """What is wrong with a span, as a part of a sentence; empty if nothing is."""
    if not 0 <= span.start <= span.end <= len(text) or (span.start == span.end != len(text)):
        return f"the span {span.start} to {span.end} is not in its text of {len(text):,} characters"
    if span.severity not in SEVERITIES[protocol]:
        return f"{span.severity!r} is not a severity of {protocol.upper()}: {', '.join(SEVERITIES[protocol])}"
    if span.category and span.category not in CATEGORIES:
        return f"there is no category {span.category[:60]!r}"
    return ""
