"""From what a rater sends to a vote: the sheet knows which systems were A and B."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ape.errors import InputError
from eval.ab.catalogue import Catalogue
from eval.ab.sheet import sheet
from eval.ab.trial import Trial
from eval.preference.vote import ERRORS, Belief, Choice, Confidence, Side, Vote

_LONGEST_COMMENT = 10_000


class Answer(BaseModel):
    """What a page sends for an item; "first" and "second" are A and B as this rater was shown them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: Annotated[str, Field(min_length=1, max_length=100)]
    choice: Choice
    confidence: Confidence | None = None
    believed_human: Belief | None = None
    errors: dict[Side, tuple[str, ...]] = {}
    comment: Annotated[str, Field(max_length=_LONGEST_COMMENT)] = ""
    at: Annotated[str, Field(max_length=40)] = ""

    @field_validator("errors")
    @classmethod
    def _known(cls, errors: dict[Side, tuple[str, ...]]) -> dict[Side, tuple[str, ...]]:
        """Each kind once, in our order; a text without errors is left out."""
        for kind in (kind for kinds in errors.values() for kind in kinds):
            if kind not in ERRORS:
                raise ValueError(f"{kind[:40]!r} is no kind of error; there are: {', '.join(ERRORS)}")
        return {
            side: tuple(kind for kind in ERRORS if kind in kinds) for side, kinds in errors.items() if kinds
        }

    @field_validator("at")
    @classmethod
    def _is_time(cls, at: str) -> str:
        """In UTC, to the second."""
        return in_utc(at) if at else ""


def in_utc(at: str) -> str:
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


def read_answer(given: object, *, place: str = "The vote") -> Answer:
    """The answer, checked. `place` says where it is from in what is raised."""
    try:
        return Answer.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{place} can't be read: {why(error)}.", field="vote") from error


def why(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {said}" if where else said


class Ballots:
    """The votes of one rater, made from answers by the sheet that this rater was shown."""

    def __init__(self, trial: Trial, rater: str) -> None:
        self._catalogue = Catalogue(trial)
        self._rater = rater
        self._shown = {shown.item.id: shown for shown in sheet(trial, rater)}

    def vote(self, answer: Answer) -> Vote:
        """The vote. Raises InputError for an item that is not in the trial, or a tie where there are none."""
        self._catalogue.find(answer.item)
        shown = self._shown[answer.item]
        given = answer.model_dump() | {"at": answer.at or datetime.now(UTC).isoformat(timespec="seconds")}
        return self._catalogue.complete(
            Vote(rater=self._rater, first=shown.first, second=shown.second, **given)
        )
