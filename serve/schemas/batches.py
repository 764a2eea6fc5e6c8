"""Schemas of files and batches, in the shapes of OpenAI's batch API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ape.jobs.batch import Batch, BatchFile, BatchState

BATCH_ENDPOINT = "/v1/post-edit"
BATCH_PURPOSE = "batch"
MetadataKey = Annotated[str, Field(max_length=64)]
MetadataValue = Annotated[str, Field(max_length=512)]


class FileOut(BaseModel):
    """A file of requests or answers."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: str
    status: Literal["processed"] = "processed"

    @classmethod
    def of(cls, file: BatchFile) -> FileOut:
        """Convert a stored file."""
        created = int(file.created)
        return cls(id=file.id, bytes=file.size, created_at=created, filename=file.name, purpose=file.purpose)


class FileList(BaseModel):
    """A page of files, newest first."""

    object: Literal["list"] = "list"
    data: list[FileOut]
    has_more: bool


class FileDeleted(BaseModel):
    """The confirmation that a file is deleted."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class BatchRequest(BaseModel):
    """A batch to begin: the id of an uploaded JSONL file of requests to POST /v1/post-edit."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    input_file_id: str = Field(min_length=1, max_length=100)
    endpoint: Literal["/v1/post-edit"]
    completion_window: Literal["24h"] = Field("24h", description="accepted for compatibility; batches do not expire")
    metadata: Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)] | None = None
    output_expires_after: dict[Literal["anchor", "seconds"], str | int] | None = Field(
        None, description="accepted for compatibility; files are kept until they are deleted"
    )


class BatchErrorOut(BaseModel):
    """A reason why the input file was refused."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class BatchErrors(BaseModel):
    """The reasons why the input file was refused."""

    object: Literal["list"] = "list"
    data: list[BatchErrorOut]


class RequestCounts(BaseModel):
    """How many requests there are, and how they ended."""

    total: int
    completed: int
    failed: int


class BatchOut(BaseModel):
    """A batch and its progress."""

    id: str
    object: Literal["batch"] = "batch"
    endpoint: str
    errors: BatchErrors | None
    input_file_id: str
    completion_window: str
    status: BatchState
    output_file_id: str | None
    error_file_id: str | None
    created_at: int
    in_progress_at: int | None
    finalizing_at: int | None
    completed_at: int | None
    failed_at: int | None
    cancelling_at: int | None
    cancelled_at: int | None
    request_counts: RequestCounts
    metadata: dict[str, str] | None

    @classmethod
    def of(cls, batch: Batch) -> BatchOut:
        """Convert a stored batch."""
        reached = {
            f"{state.value}_at": int(batch.times[state.value]) if state.value in batch.times else None
            for state in BatchState
            if state is not BatchState.VALIDATING
        }
        errors = [BatchErrorOut(code=one.code, message=one.message, line=one.line) for one in batch.errors]
        return cls(
            id=batch.id,
            endpoint=batch.endpoint,
            errors=BatchErrors(data=errors) if errors else None,
            input_file_id=batch.input_file,
            completion_window=batch.window,
            status=batch.state,
            output_file_id=batch.output_file or None,
            error_file_id=batch.error_file or None,
            created_at=int(batch.created),
            request_counts=RequestCounts(total=batch.total, completed=batch.completed, failed=batch.failed),
            metadata=dict(batch.notes) or None,
            **reached,
        )


class BatchList(BaseModel):
    """A page of batches, newest first."""

    object: Literal["list"] = "list"
    data: list[BatchOut]
    has_more: bool
