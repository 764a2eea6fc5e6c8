"""A system in a comparison: what it made of every paragraph, and how it came by that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ape.errors import InputError
from ape.verdict import Decision, Finding, Severity
from eval.compare.data import NOTHING, Data

Kind: TypeAlias = Literal["nothing", "model", "ready"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a paragraph: a decision as of `ape edit`, or "quarantined" or "skipped"; then it is the MT."""

    text: str
    decision: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """All paragraphs in reading order. `origin` is what the manifest tells of it."""

    name: str
    kind: Kind
    outcomes: tuple[Outcome, ...]
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


def nothing(data: Data) -> System:
    """The MT as it was."""
    outcomes = tuple(Outcome(text, Decision.UNCHANGED) for text in data.mts)
    return System(NOTHING, "nothing", outcomes, {"given": data.mt})


def ready(name: str, texts: Sequence[str], data: Data, *, given: str) -> System:
    """A system whose outputs were there already; no guard has looked at them."""
    outcomes = tuple(
        Outcome(text, Decision.UNCHANGED if text == mt else Decision.EDITED)
        for text, mt in zip(texts, data.mts, strict=True)
    )
    return System(name, "ready", outcomes, {"given": given})


def in_the_set(name: str, wanted: str, data: Data) -> System:
    """A system of the set under its new name."""
    if wanted in data.others:
        return ready(name, data.others[wanted], data, given=f":{wanted}")
    if wanted in (data.mt, NOTHING):
        raise InputError(
            f"{name}=:{wanted} is the MT of the set, which is always among the systems as {NOTHING}: leave it out.",
            field="system",
        )
    there = ", ".join(data.others) or "none but the MT"
    raise InputError(
        f"The set has no system {wanted!r} for {name}=:{wanted}. There is: {there}.", field="system"
    )


def identical(systems: Iterable[System]) -> list[tuple[str, ...]]:
    """Groups of systems that say the same in every paragraph."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for system in systems:
        groups.setdefault(system.texts, []).append(system.name)
    return [tuple(names) for names in groups.values() if len(names) > 1]
