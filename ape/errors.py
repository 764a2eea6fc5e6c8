"""Everything we raise on purpose.

ApeError
├── InputError             the caller can fix it                 HTTP 422, exit 2
│   ├── TooLong            more than a limit or the window       HTTP 413
│   ├── UnknownModel       no model of that name                 HTTP 404
│   ├── UnknownJob         no job of that name, or not theirs    HTTP 404
│   ├── UnknownTrial       no blind test or link of that name    HTTP 404
│   ├── UnknownBatch       no batch or file of that name         HTTP 404
│   ├── AdapterRefused     an adapter can't be served here       HTTP 422
│   └── Conflict           it conflicts with the current state   HTTP 409
├── ModelError             a model can't be fetched or loaded    HTTP 503, exit 1
├── StoreError             the jobs' database can't be used      HTTP 503, exit 1
│   └── StoreUnreachable   its server is away, as at a restart   waited for
├── NoRoom                 no memory for one more adapter        HTTP 507, exit 1
├── Busy                   the queue is full                     HTTP 429, exit 1
└── EngineError            the model server failed               HTTP 502, exit 1, retried
    ├── EngineTimeout      it did not answer in time             HTTP 504
    ├── EngineUnavailable  it can't be reached or is overloaded  HTTP 503
    └── EngineRefused      it will not answer this request       not retried
        └── KeyRefused     the key is missing or wrong           not retried
"""

from __future__ import annotations


class ApeError(Exception):
    """The base class of all errors that this project raises on purpose."""

    exit_code = 1
    status = 500
    title = "Internal error"


class InputError(ApeError):
    """The input can't be processed; `field` names the part that is wrong."""

    exit_code = 2
    status = 422
    title = "Unprocessable request"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class TooLong(InputError):
    """The input exceeds a limit or the model's window."""

    status = 413
    title = "Payload too large"

    def __init__(
        self, message: str, *, actual: int | None = None, limit: int | None = None, field: str | None = None
    ) -> None:
        super().__init__(message, field=field)
        self.actual = actual
        self.limit = limit


class UnknownModel(InputError):
    """No model of that name is served here."""

    status = 404
    title = "Unknown model"


class UnknownJob(InputError):
    """No job has that name, or it belongs to another owner; the two are not distinguished."""

    status = 404
    title = "Unknown job"


class UnknownTrial(InputError):
    """No blind test has that name, or the link to it is invalid."""

    status = 404
    title = "Unknown test"


class UnknownBatch(InputError):
    """No batch or file has that name, or it belongs to another owner."""

    status = 404
    title = "Unknown batch"


class AdapterRefused(InputError):
    """An adapter can't be served, because of its files."""

    title = "Adapter refused"


class Conflict(InputError):
    """The request conflicts with the current state."""

    status = 409
    title = "Conflict"


class ModelError(ApeError):
    """A model file can't be fetched, checked or loaded."""

    status = 503
    title = "Model unavailable"


class StoreError(ApeError):
    """The job database is full, locked, read-only, damaged or unreachable."""

    status = 503
    title = "Job store unavailable"


class StoreUnreachable(StoreError):
    """The database server is away, as at a restart; it may come back."""


class NoRoom(ApeError):
    """The model server has no memory for one more adapter."""

    status = 507
    title = "Out of adapter memory"


class Busy(ApeError):
    """The queue is full; `retry_after` estimates the seconds until there is room."""

    status = 429
    title = "Service busy"

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineError(ApeError):
    """The model server failed or sent an invalid answer; a retry may help."""

    status = 502
    title = "Model server error"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineTimeout(EngineError):
    """The model server did not answer in time."""

    status = 504
    title = "Model server timeout"


class EngineUnavailable(EngineError):
    """The model server can't be reached or is overloaded."""

    status = 503
    title = "Model server unavailable"


class EngineRefused(EngineError):
    """The model server refuses this request for good (a wrong key, a bad parameter)."""

    title = "Model server refused the request"


class KeyRefused(EngineRefused):
    """The model server refuses the key."""
