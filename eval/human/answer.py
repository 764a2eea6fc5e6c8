"""From what a rater sends to a vote: the sheet knows which systems were A and B."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from eval.human.sheet import rater_sheet
from eval.human.trial import Trial
from eval.human.trial_index import TrialIndex
from eval.human.vote import ERROR_KINDS, Belief, Choice, Confidence, Vote, VoteSide

_LONGEST_COMMENT = 10_000


class RaterAnswer(BaseModel):
    """What a page sends for an item; "first" and "second" are A and B as this rater was shown them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: Annotated[str, Field(min_length=1, max_length=100)]
    choice: Choice
    confidence: Confidence | None = None
    believed_human: Belief | None = None
    errors: dict[VoteSide, tuple[str, ...]] = {}
    comment: Annotated[str, Field(max_length=_LONGEST_COMMENT)] = ""
    at: Annotated[str, Field(max_length=40)] = ""

    @field_validator("errors")
    @classmethod
    def _known(cls, errors: dict[VoteSide, tuple[str, ...]]) -> dict[VoteSide, tuple[str, ...]]:
        """Each kind once, in our order; a text without errors is left out."""
        for kind in (kind for kinds in errors.values() for kind in kinds):
            if kind not in ERROR_KINDS:
                raise ValueError(f"{kind[:40]!r} is no kind of error; there are: {', '.join(ERROR_KINDS)}")
        return {
            side: tuple(kind for kind in ERROR_KINDS if kind in kinds)
            for side, kinds in errors.items()
            if kinds
        }

    @field_validator("at")
    @classmethod
    def _is_time(cls, at: str) -> str:
        """In UTC, to the second."""
        return to_utc(at) if at else ""


def to_utc(at: str) -> str:
    """The time as ISO 8601 in UTC, to the second; one that names no zone is in UTC. Raises ValueError."""
    try:
        given = datetime.fromisoformat(at)
    except ValueError:
        raise ValueError(f"{at!r} is no time in ISO 8601") from None
    try:
        return (
            (given if given.tzinfo else given.replace(tzinfo=UTC))
            .astimezone(UTC)
            .isoformat(timespec="seconds")
        )
    except OverflowError:
        raise ValueError(f"{at!r} is no time that can be") from None


def read_answer(given: object, *, place: str = "The vote") -> RaterAnswer:
    """The answer, checked. `place` says where it is from in what is raised."""
    try:
        return RaterAnswer.model_validate(given)
    except ValidationError as error:
        raise InputError(
            f"{place} can't be read: {describe_validation_error(error)}.", field="vote"
        ) from error


class VoteBuilder:
    """The votes of one rater, made from answers by the sheet that this rater was shown."""

    def __init__(self, trial: Trial, rater: str) -> None:
        self._catalogue = TrialIndex(trial)
        self._rater = rater
        self._shown = {shown.item.id: shown for shown in rater_sheet(trial, rater)}

    def vote(self, answer: RaterAnswer) -> Vote:
        """The vote. Raises InputError for an item that is not in the trial, or a tie where there are none."""
        self._catalogue.find(answer.item)
        shown = self._shown[answer.item]
        given = answer.model_dump() | {"at": answer.at or datetime.now(UTC).isoformat(timespec="seconds")}
        return self._catalogue.complete(
            Vote(rater=self._rater, first=shown.first, second=shown.second, **given)
        )
