"""The 1,200 cases of the suite, and readers for systems' translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error, numbered_lines
from eval.corpus.raw_document import TextLines
from eval.suites.outputs import check_outputs
from eval.suites.outputs_by_id import read_outputs_by_id

CaiXiongPhenomenon: TypeAlias = Literal["pronoun", "connective", "ellipsis"]
CaiXiongVerdict: TypeAlias = Literal["right", "wrong", "undecided"]

# The pronoun classes as named in Table 3 of the paper.
_PRONOUNS = {"你们": "you (pl.)", "你": "you (sing.)", "它们": "it (pl.)", "她们": "she (pl.)", "他们": "he (pl.)"}


@dataclass(frozen=True, slots=True)
class CaiXiongCase:
    """Two sentences of a film, and what the Chinese of the second must show."""

    id: str
    phenomenon: CaiXiongPhenomenon
    word: str
    """The source word: "they", "while"; empty for ellipsis."""
    expected: str
    """The expected Chinese; empty for ellipsis."""
    source: str
    reference: str
    reference_context: str

    @property
    def label(self) -> str:
        """The class as named in the paper."""
        return _PRONOUNS.get(self.expected) or self.word or self.phenomenon


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    id: str
    phenomenon: CaiXiongPhenomenon
    word: str | None = None
    expected: str | None = None
    source: str
    reference: str
    reference_context: str = ""


def read_cases(path: Path) -> list[CaiXiongCase]:
    """Read one JSON object from each line."""
    cases = []
    for number, text in numbered_lines(path, field="data"):
        try:
            line = _Line.model_validate_json(text)
        except ValidationError as error:
            message = describe_validation_error(error, root="the line")
            raise InputError(f"Line {number} of {path}: {message}.") from error
        values: dict[str, Any] = {name: value or "" for name, value in line}
        cases.append(CaiXiongCase(**values))
    if not cases:
        raise InputError(f"{path} has no cases.", field="data")
    return cases


def read_case_outputs(path: Path, cases: Sequence[CaiXiongCase]) -> list[str]:
    """Read a system's translations in the order of the cases.

    A .jsonl file has objects with "id" and "output" in any order; any other file has one line for the second sentence
    of each case.
    """
    if path.suffix == ".jsonl":
        parts = read_outputs_by_id(path, {case.id: 1 for case in cases}, case_noun="case")
        check_outputs(parts, "zh")
        return [part.texts[0] or "" for part in parts]
    texts = [text for _, text in numbered_lines(path, blank=True, field="system")]
    if len(texts) != len(cases):
        raise InputError(
            f"{path} has {len(texts):,} lines, and the suite has {len(cases):,} cases. Give one line for each, "
            "in the order of the data.",
            field="system",
        )
    check_outputs([TextLines(path.name, tuple(texts), tuple(range(1, len(texts) + 1)))], "zh")
    return texts
