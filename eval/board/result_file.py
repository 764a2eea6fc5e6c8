"""Result files: one JSON object for one suite and language pair, with the scores of any number of systems.

    {"format": "ape-results/1", "suite": "fiction-zh-en", "title": "Chinese web fiction",
     "source_language": "zh", "target_language": "en", "paper": "", "groups_by": "paired bootstrap …", "notes": [],
     "systems": [{"name": "google", "description": "Google Translate, 2023", "role": "do-nothing"}],
     "scores": [{"system": "google", "metric": "bleu", "value": 13.66, "interval": [12.1, 15.0], "better": "higher",
                 "signature": "bleu|nrefs:1|…", "origin": "measured", "group": 2}]}

Several files of one suite and language pair make one table, so a system is added by adding a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error

RESULT_FORMAT = "ape-results/1"
ScoreOrigin: TypeAlias = Literal["measured", "published"]
SystemRole: TypeAlias = Literal["system", "do-nothing", "human"]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Ends = tuple[float, float]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class BoardSystem(_Frozen):
    """What a system was. "do-nothing" is the text that post-editors start from; "human" is a human translation."""

    name: _Name
    description: str = ""
    role: SystemRole = "system"


class BoardScore(_Frozen):
    """A system's score by one metric; `value` is None where it has none, and `why` says the reason."""

    system: _Name
    metric: _Name
    value: float | None = None
    interval: _Ends | None = None
    """95% interval."""
    bounds: _Ends | None = None
    """Lowest and highest value: over seeds, or of undecided cases as wrong and as right."""
    better: Literal["higher", "lower"] = "higher"
    signature: str = ""
    origin: ScoreOrigin = "measured"
    group: Annotated[int, Field(ge=1)] | None = None
    """Significance group by this metric, from 1: each of its systems is better than every one of later groups."""
    why: str = ""


class ResultFile(_Frozen):
    """The scores of systems on one suite and language pair."""

    format: Literal["ape-results/1"] = "ape-results/1"
    suite: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
    title: _Name
    source_language: Annotated[str, Field(pattern=r"^[A-Za-z-]+$")]
    target_language: Annotated[str, Field(pattern=r"^[A-Za-z-]+$")]
    paper: str = ""
    groups_by: str = ""
    """How the groups were tested."""
    notes: tuple[str, ...] = ()
    systems: tuple[BoardSystem, ...] = ()
    scores: tuple[BoardScore, ...] = ()

    @model_validator(mode="after")
    def _once(self) -> Self:
        """One score for each system, metric and origin."""
        seen = set()
        for score in self.scores:
            key = (score.system, score.metric, score.origin)
            if key in seen:
                raise ValueError(f"{score.system} has two {score.origin} scores by {score.metric}")
            seen.add(key)
        if len({system.name for system in self.systems}) < len(self.systems):
            raise ValueError("a system is described twice")
        return self

    @property
    def key(self) -> str:
        """The suite with its language pair, as in file names."""
        return f"{self.suite}-{self.source_language}-{self.target_language}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics in the order of their first score; the first one is the suite's headline."""
        return tuple(dict.fromkeys(score.metric for score in self.scores))

    @property
    def system_names(self) -> tuple[str, ...]:
        """All systems, described or not."""
        described = (system.name for system in self.systems)
        return tuple(dict.fromkeys((*described, *(score.system for score in self.scores))))

    def to_json(self) -> str:
        """Serialise with a line for each system and score, so that a change of one score changes one line."""
        values = {"format": RESULT_FORMAT, **self.model_dump(mode="json", exclude_defaults=True)}
        members = (f" {json.dumps(name)}: {_member(value)}" for name, value in values.items())
        return "{\n" + ",\n".join(members) + "\n}\n"


def _member(value: object) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n ]"


def parse_result_file(values: object, *, place: str) -> ResultFile:
    """Validate a result file. `place` names it in errors."""
    try:
        return ResultFile.model_validate(values)
    except ValidationError as error:
        raise InputError(
            f"{place} is not a result file: {describe_validation_error(error)}.", field="results"
        ) from error


def merge_result_files(files: Sequence[tuple[str, ResultFile]]) -> list[ResultFile]:
    """One table for each suite and language pair, in the order of their keys. Each file comes with its name.

    The first file of a suite gives title, paper and the headline metric. Raises InputError where two files give one
    system different scores or descriptions.
    """
    tables: dict[str, list[tuple[str, ResultFile]]] = {}
    for name, file in files:
        tables.setdefault(file.key, []).append((name, file))
    return [_merge(tables[key]) for key in sorted(tables)]


def _merge(files: Sequence[tuple[str, ResultFile]]) -> ResultFile:
    first = files[0][1]
    systems: dict[str, tuple[str, BoardSystem]] = {}
    scores: dict[tuple[str, str, str], tuple[str, BoardScore]] = {}
    for place, file in files:
        for system in file.systems:
            _keep(systems, system.name, place, system, what=f"describe {system.name!r}")
        for score in file.scores:
            key = (score.system, score.metric, score.origin)
            _keep(scores, key, place, score, what=f"score {score.system!r} by {score.metric}")
    return first.model_copy(
        update={
            "notes": tuple(dict.fromkeys(note for _, file in files for note in file.notes)),
            "groups_by": "; ".join(dict.fromkeys(file.groups_by for _, file in files if file.groups_by)),
            "paper": next((file.paper for _, file in files if file.paper), ""),
            "systems": tuple(system for _, system in systems.values()),
            "scores": tuple(score for _, score in scores.values()),
        }
    )


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _keep(found: dict[_Key, tuple[str, _Value]], key: _Key, place: str, value: _Value, *, what: str) -> None:
    """Add a value, or check that it is the one that an earlier file gave."""
    earlier, known = found.setdefault(key, (place, value))
    if known != value:
        raise InputError(f"{earlier} and {place} {what} differently. Leave out one of them.", field="results")
