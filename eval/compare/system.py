"""A system in a comparison: its output for every paragraph, and its origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ape.errors import InputError
from ape.passage.result import Decision, Finding, Severity
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet

SystemKind: TypeAlias = Literal["nothing", "model", "ready"]


@dataclass(frozen=True, slots=True)
class ParagraphOutcome:
    """Output for a paragraph: a post-editing decision, or "quarantined" or "skipped" with the MT as text."""

    text: str
    decision: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """Outputs of all paragraphs in reading order; `origin` goes into the manifest."""

    name: str
    kind: SystemKind
    outcomes: tuple[ParagraphOutcome, ...]
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of all paragraphs."""
        return tuple(outcome.text for outcome in self.outcomes)

    @property
    def decisions(self) -> Counter[str]:
        """Number of paragraphs by decision."""
        return Counter(outcome.decision for outcome in self.outcomes)

    def findings(self) -> dict[str, dict[str, int]]:
        """Number of paragraphs by guard and worst severity."""
        counts: dict[str, Counter[str]] = {}
        for outcome in self.outcomes:
            # The worst severity overwrites the others, so that a paragraph counts once.
            worst = {finding.guard: str(finding.severity) for finding in sorted(outcome.findings, key=_is_rejection)}
            for guard, severity in worst.items():
                counts.setdefault(guard, Counter())[severity] += 1
        order = sorted(counts, key=lambda guard: (-counts[guard].total(), guard))
        return {guard: dict(counts[guard]) for guard in order}


def _is_rejection(finding: Finding) -> bool:
    return finding.severity is Severity.REJECT


def do_nothing_system(data: ComparisonSet) -> System:
    """The unchanged MT as a system."""
    outcomes = tuple(ParagraphOutcome(text, Decision.UNCHANGED) for text in data.mt_texts)
    return System(DO_NOTHING, "nothing", outcomes, {"given": data.mt})


def ready_system(name: str, texts: Sequence[str], data: ComparisonSet, *, given: str) -> System:
    """A system with ready outputs, which guards have not checked."""
    outcomes = tuple(
        ParagraphOutcome(text, Decision.UNCHANGED if text == mt else Decision.EDITED)
        for text, mt in zip(texts, data.mt_texts, strict=True)
    )
    return System(name, "ready", outcomes, {"given": given})


def system_from_set(name: str, system: str, data: ComparisonSet) -> System:
    """A system of the set under a new name."""
    if system in data.others:
        return ready_system(name, data.others[system], data, given=f":{system}")
    if system in (data.mt, DO_NOTHING):
        raise InputError(
            f"{name}=:{system} is the MT of the set, which is always compared as {DO_NOTHING}: leave it out.",
            field="system",
        )
    others = ", ".join(data.others) or "only the MT"
    raise InputError(f"The set has no system {system!r} for {name}=:{system}. It has: {others}.", field="system")


def identical_systems(systems: Iterable[System]) -> list[tuple[str, ...]]:
    """Groups of systems with the same text in every paragraph."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for system in systems:
        groups.setdefault(system.texts, []).append(system.name)
    return [tuple(names) for names in groups.values() if len(names) > 1]
