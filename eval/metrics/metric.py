"""The protocol of a metric: count one system over a corpus first, fold the counts into scores after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal, Protocol

from eval.corpus.corpus import Corpus
from eval.statistics.counts import MetricCounts, Unmeasured


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a text that moved a score. Offsets count characters of that text."""

    document: str
    segment: int
    side: Literal["source", "reference", "output"]
    start: int
    end: int
    kind: str
    """"lost", "added", "inconsistent" …; a report shows it as a CSS class."""
    note: str = ""


class Metric(Protocol):
    """A named measure that counts one system over a corpus.

    A metric that needs the marks of dropped pronouns in the source has `reads_pronoun_marks = True` as well, and one
    whose scores are easily misread a `caveat`, which stands wherever they do.
    """

    @property
    def name(self) -> str:
        """The key of the registry."""

    @property
    def higher_is_better(self) -> bool:
        """False for error rates such as TER."""

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Count; Unmeasured where the corpus lacks a supported language, a reference or a source."""


class MarkingMetric(Protocol):
    """A metric that can locate what it counts."""

    def marks(self, corpus: Corpus, system: str) -> Iterable[Mark]:
        """The spans that raised or lowered the system's score."""


def metric_caveat(metric: Metric) -> str:
    """What must be known of the metric's scores, as a clause; "" if nothing must."""
    return str(getattr(metric, "caveat", ""))


def reads_pronoun_marks(metric: Metric) -> bool:
    """Whether the metric needs the marks of dropped pronouns."""
    return bool(getattr(metric, "reads_pronoun_marks", False))


def corpus_for_metric(metric: Metric, corpus: Corpus) -> Corpus:
    """The corpus as the metric should read it: any other metric would count marks of dropped pronouns as words."""
    return corpus if reads_pronoun_marks(metric) else corpus.without_pronoun_marks()


def metric_signature(name: str, **settings: object) -> str:
    """The name of the metric, every setting that changes the number, and the version of this package."""
    fields = [f"{key}:{_format_value(value)}" for key, value in settings.items()]
    return "|".join([name, *fields, f"v:{version('ape-books')}"])


def _format_value(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
