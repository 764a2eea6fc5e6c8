"""Answers of raters, and their conversion to votes by the rater's sheet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from eval.human.sheet import rater_sheet
from eval.human.span import ErrorSpan
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import ERROR_KINDS, Belief, Choice, Confidence, Vote, VoteSide

_LONGEST_COMMENT = 10_000
_MOST_SPANS = 500
_SIDES = ("first", "second")


class RaterAnswer(BaseModel):
    """A rater's answer to one item; "first" and "second" are A and B on this rater's page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: Annotated[str, Field(min_length=1, max_length=100)]
    choice: Choice
    confidence: Confidence | None = None
    believed_human: Belief | None = None
    errors: dict[VoteSide, tuple[str, ...]] = {}
    scores: dict[VoteSide, Annotated[float, Field(ge=0, le=100)]] = {}
    spans: dict[VoteSide, Annotated[tuple[ErrorSpan, ...], Field(max_length=_MOST_SPANS)]] = {}
    comment: Annotated[str, Field(max_length=_LONGEST_COMMENT)] = ""
    at: Annotated[str, Field(max_length=40)] = ""

    @model_validator(mode="before")
    @classmethod
    def _prefer_higher_score(cls, given: Any) -> Any:
        """The choice follows from the scores, if there are any."""
        scores = given.get("scores") if isinstance(given, dict) else None
        if not isinstance(scores, dict) or not all(isinstance(scores.get(side), int | float) for side in _SIDES):
            return given
        first, second = (scores[side] for side in _SIDES)
        return given | {"choice": "tie" if first == second else "first" if first > second else "second"}

    @field_validator("errors")
    @classmethod
    def _known(cls, errors: dict[VoteSide, tuple[str, ...]]) -> dict[VoteSide, tuple[str, ...]]:
        """Deduplicate the kinds, in canonical order, and drop texts without errors."""
        for kind in (kind for kinds in errors.values() for kind in kinds):
            if kind not in ERROR_KINDS:
                raise ValueError(f"{kind[:40]!r} is not an error kind; choose from: {', '.join(ERROR_KINDS)}")
        return {side: tuple(kind for kind in ERROR_KINDS if kind in kinds) for side, kinds in errors.items() if kinds}

    @field_validator("at")
    @classmethod
    def _is_time(cls, at: str) -> str:
        """Normalise to UTC."""
        return to_utc(at) if at else ""

    def fields(self) -> dict[str, Any]:
        """The values for a vote."""
        return {name: getattr(self, name) for name in RaterAnswer.model_fields}


def to_utc(at: str) -> str:
    """Convert an ISO 8601 time to UTC, to the second; without a zone it is taken as UTC. Raises ValueError."""
    try:
        given = datetime.fromisoformat(at)
    except ValueError:
        raise ValueError(f"{at!r} is not an ISO 8601 time") from None
    try:
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except OverflowError:
        raise ValueError(f"{at!r} is out of range") from None


def read_answer(given: object, *, place: str = "The vote") -> RaterAnswer:
    """Validate an answer. `place` names its origin in errors."""
    try:
        return RaterAnswer.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{place} can't be read: {describe_validation_error(error)}.", field="vote") from error


class VoteBuilder:
    """Builds the votes of one rater from answers and the rater's sheet."""

    def __init__(self, trial: Trial, rater: str) -> None:
        self._index = TrialIndex(trial)
        self._rater = rater
        self._sheet = {item.item.id: item for item in rater_sheet(trial, rater)}

    def build_vote(self, answer: RaterAnswer) -> Vote:
        """Build a vote. Raises InputError for an unknown item, or for a tie where ties are not allowed."""
        self._index.find(answer.item)
        item = self._sheet[answer.item]
        values = answer.fields() | {"at": answer.at or datetime.now(UTC).isoformat(timespec="seconds")}
        return self._index.complete_vote(Vote(rater=self._rater, first=item.first, second=item.second, **values))
