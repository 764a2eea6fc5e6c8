"""Two translations of one passage, to be told apart by a judge."""

from __future__ import annotations

from dataclasses import dataclass

from eval.judge.judgement import Judgement, Unscored


@dataclass(frozen=True, slots=True)
class JudgePair:
    """The texts and whose they are, which the judge does not know. Languages are codes, "und" where not known."""

    id: str
    source: str | None
    """None: the judge sees the translations alone."""
    first: str
    second: str
    first_system: str
    second_system: str
    source_language: str = "und"
    target_language: str = "und"
    item: str = ""
    """What votes call it, where that is not its id: several pairs may be of one item."""

    @property
    def systems(self) -> tuple[str, str]:
        """Of the first and of the second text."""
        return self.first_system, self.second_system


def winner_of(pair: JudgePair, judgement: Judgement) -> str | Unscored | None:
    """The system that was preferred, None for a tie."""
    if isinstance(judgement, Unscored):
        return judgement
    return {"first": pair.first_system, "second": pair.second_system, "tie": None}[judgement.choice]
