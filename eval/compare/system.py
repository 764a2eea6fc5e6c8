"""A system in a comparison: what it made of every paragraph, and how it came by that."""

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
    """What became of a paragraph: a decision as of `ape edit`, or "quarantined" or "skipped"; then it is the MT."""

    text: str
    decision: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """All paragraphs in reading order. `origin` is what the manifest tells of it."""

    name: str
    kind: SystemKind
    outcomes: tuple[ParagraphOutcome, ...]
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """What it says."""
        return tuple(one.text for one in self.outcomes)

    @property
    def decisions(self) -> Counter[str]:
        """How often which."""
        return Counter(one.decision for one in self.outcomes)

    def findings(self) -> dict[str, dict[str, int]]:
        """By guard, in how many paragraphs it refused a draft or, at most, warned."""
        told: dict[str, Counter[str]] = {}
        for outcome in self.outcomes:
            # The gravest come last and stand, so that a paragraph counts once.
            worst = {one.guard: str(one.severity) for one in sorted(outcome.findings, key=_is_grave)}
            for guard, severity in worst.items():
                told.setdefault(guard, Counter())[severity] += 1
        order = sorted(told, key=lambda guard: (-told[guard].total(), guard))
        return {guard: dict(told[guard]) for guard in order}


def _is_grave(finding: Finding) -> bool:
    return finding.severity is Severity.REJECT


def do_nothing_system(data: ComparisonSet) -> System:
    """The MT as it was."""
    outcomes = tuple(ParagraphOutcome(text, Decision.UNCHANGED) for text in data.mts)
    return System(DO_NOTHING, "nothing", outcomes, {"given": data.mt})


def ready_system(name: str, texts: Sequence[str], data: ComparisonSet, *, given: str) -> System:
    """A system whose outputs were there already; no guard has looked at them."""
    outcomes = tuple(
        ParagraphOutcome(text, Decision.UNCHANGED if text == mt else Decision.EDITED)
        for text, mt in zip(texts, data.mts, strict=True)
    )
    return System(name, "ready", outcomes, {"given": given})


def system_from_set(name: str, wanted: str, data: ComparisonSet) -> System:
    """A system of the set under its new name."""
    if wanted in data.others:
        return ready_system(name, data.others[wanted], data, given=f":{wanted}")
    if wanted in (data.mt, DO_NOTHING):
        raise InputError(
            f"{name}=:{wanted} is the MT of the set, which is always among the systems as {DO_NOTHING}: leave it out.",
            field="system",
        )
    there = ", ".join(data.others) or "none but the MT"
    raise InputError(
        f"The set has no system {wanted!r} for {name}=:{wanted}. There is: {there}.", field="system"
    )


def identical_systems(systems: Iterable[System]) -> list[tuple[str, ...]]:
    """Groups of systems that say the same in every paragraph."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for system in systems:
        groups.setdefault(system.texts, []).append(system.name)
    return [tuple(names) for names in groups.values() if len(names) > 1]
