"""Batches of post-edit requests, and the files that they are read from and written to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class BatchState(StrEnum):
    """The states of a batch, as OpenAI's batch API names them."""

    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more is done."""
        return self in (BatchState.FAILED, BatchState.COMPLETED, BatchState.CANCELLED)


@dataclass(frozen=True, slots=True)
class BatchFile:
    """An uploaded file of requests, or a file of answers. Its content lies in the folder of the service."""

    id: str
    owner: str
    name: str
    purpose: str
    size: int
    created: float


@dataclass(frozen=True, slots=True)
class BatchError:
    """A reason why a file of requests is refused, with its line from 1."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch: its input, its state and when it reached each state, its counts and its output files."""

    id: str
    owner: str
    input_file: str
    endpoint: str
    window: str
    created: float
    state: BatchState = BatchState.VALIDATING
    notes: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[BatchError, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    total: int = 0
    completed: int = 0
    failed: int = 0
    output_file: str = ""
    error_file: str = ""


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answer to one line: the status and body that POST /v1/post-edit would have sent."""

    line: int
    custom_id: str
    status: int
    body: str
