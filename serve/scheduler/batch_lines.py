"""Read the requests of a batch file, and write its answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ape.field_errors import describe_field_error
from ape.files.atomic import atomic_path
from ape.jobs.batch import BatchAnswer, BatchError
from serve.schemas.batches import BATCH_ENDPOINT

# As in OpenAI's batch API.
MAX_LINES = 50_000
# Blank lines are skipped, but each has to be looked at.
MAX_BLANK_LINES = 50_000
MAX_ERRORS = 20


class BatchLine(BaseModel):
    """One line of a batch file."""

    model_config = ConfigDict(frozen=True, strict=True)

    custom_id: str = Field(min_length=1, max_length=512)
    method: str
    url: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckedLines:
    """How many requests a file has, or the reasons to refuse it."""

    count: int
    errors: tuple[BatchError, ...]


class TooManyLines(ValueError):
    """The file has too many blank lines."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1; raises TooManyLines where the others are too many."""
    blank = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line
                continue
            blank += 1
            if blank > MAX_BLANK_LINES:
                raise TooManyLines


def parse_line(line: bytes) -> BatchLine:
    """Parse a line; raises ValueError or RecursionError."""
    return BatchLine.model_validate(json.loads(line))


def check_lines(path: Path, *, max_line_bytes: int) -> CheckedLines:
    """Check every line before the first is answered: a batch is begun whole or refused."""
    errors: list[BatchError] = []
    seen: set[str] = set()
    count = 0
    try:
        for number, line in read_lines(path):
            count += 1
            if count > MAX_LINES:
                errors.append(BatchError("too_many_requests", f"A file may have {MAX_LINES:,} requests. Split it."))
            elif error := _line_error(number, line, seen, max_line_bytes):
                errors.append(error)
            if len(errors) >= MAX_ERRORS or count > MAX_LINES:
                break
    except TooManyLines:
        errors.append(BatchError("too_many_lines", f"A file may have {MAX_BLANK_LINES:,} blank lines."))
    if not count and not errors:
        errors.append(BatchError("empty_file", "The file has no requests."))
    return CheckedLines(count, tuple(errors))


def _line_error(number: int, line: bytes, seen: set[str], max_bytes: int) -> BatchError | None:
    if len(line) > max_bytes:
        return BatchError("line_too_long", f"The line has {len(line):,} bytes; at most {max_bytes:,}.", number)
    try:
        parsed = parse_line(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "line"
        return BatchError("invalid_request", f"{where}: {describe_field_error(first)}", number)
    except (ValueError, RecursionError):
        return BatchError("invalid_json_line", "The line is not a JSON object.", number)
    if (parsed.method.upper(), parsed.url) != ("POST", BATCH_ENDPOINT):
        return BatchError("invalid_url", f"Requests must be POST {BATCH_ENDPOINT}.", number)
    if parsed.custom_id in seen:
        return BatchError("duplicate_custom_id", f"The custom_id {parsed.custom_id[:80]!r} occurs twice.", number)
    seen.add(parsed.custom_id)
    return None


def write_answers(batch: str, answers: Iterable[BatchAnswer], output: Path, errors: Path) -> tuple[int, int]:
    """Write the answers with status 200 and the others to a file each; returns their sizes in bytes."""
    with (
        atomic_path(output, sync=True) as good_path,
        atomic_path(errors, sync=True) as bad_path,
        good_path.open("xb") as good,
        bad_path.open("xb") as bad,
    ):
        for answer in answers:
            (good if answer.status == 200 else bad).write(
                json.dumps(_answer_line(batch, answer), ensure_ascii=False).encode() + b"\n"
            )
    return output.stat().st_size, errors.stat().st_size


def _answer_line(batch: str, answer: BatchAnswer) -> dict[str, Any]:
    name = f"{batch}_{answer.line}"
    response = {"status_code": answer.status, "request_id": name, "body": json.loads(answer.body)}
    return {"id": f"batch_req_{name}", "custom_id": answer.custom_id, "response": response, "error": None}
