"""Two translations of one passage for a judge to compare."""

from __future__ import annotations

from dataclasses import dataclass

from eval.judge.judgement import Judgement, Unscored


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two texts and their systems, which the judge does not see. Unknown languages are "und"."""

    id: str
    source: str | None
    """None: the judge sees only the translations."""
    first: str
    second: str
    first_system: str
    second_system: str
    source_language: str = "und"
    target_language: str = "und"
    item: str = ""
    """The item id of the votes, where it differs from the id: an item may have several pairs."""

    @property
    def systems(self) -> tuple[str, str]:
        """The systems of the first and the second text."""
        return self.first_system, self.second_system


def winner_of(pair: JudgePair, judgement: Judgement) -> str | Unscored | None:
    """The preferred system; None for a tie."""
    if isinstance(judgement, Unscored):
        return judgement
    return {"first": pair.first_system, "second": pair.second_system, "tie": None}[judgement.choice]
