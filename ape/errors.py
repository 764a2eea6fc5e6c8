"""Everything we raise on purpose.

ApeError
├── InputError             the caller can mend it                HTTP 422, exit 2
│   ├── TooLong            more than a limit or the window       HTTP 413
│   ├── UnknownModel       no model of that name                 HTTP 404
│   ├── UnknownJob         no job of that name, or not theirs    HTTP 404
│   ├── UnknownTrial       no blind test or link of that name    HTTP 404
│   ├── AdapterRefused     an adapter can't be served here       HTTP 422
│   └── Conflict           it stands against what is there now   HTTP 409
├── ModelError             a model can't be fetched or loaded    HTTP 503, exit 1
├── StoreError             the jobs' database can't be used      HTTP 503, exit 1
├── NoRoom                 no memory for one more adapter        HTTP 507, exit 1
├── Busy                   the queue is full                     HTTP 429, exit 1
└── EngineError            the model server failed               HTTP 502, exit 1, retried
    ├── EngineTimeout      it did not answer in time             HTTP 504
    ├── EngineUnavailable  it can't be reached or is overloaded  HTTP 503
    └── EngineRefused      it will not answer this request       not retried
        └── KeyRefused     it does not let us in                 not retried
"""

from __future__ import annotations


class ApeError(Exception):
    """The root: catch it to catch all that this project raises on purpose."""

    exit_code = 1
    status = 500
    title = "Internal error"


class InputError(ApeError):
    """What was given can't be worked on; `field` names the part of it, as the caller would."""

    exit_code = 2
    status = 422
    title = "Unprocessable request"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class TooLong(InputError):
    """More was given than a limit allows, or than the model's window holds."""

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
    """No job of that name is here, or it is somebody else's: nobody is told which."""

    status = 404
    title = "Unknown job"


class UnknownTrial(InputError):
    """No blind test of that name is here, or a link to one is not one that we gave."""

    status = 404
    title = "Unknown test"


class AdapterRefused(InputError):
    """An adapter can't be served here, for a reason that its files tell."""

    title = "Adapter refused"


class Conflict(InputError):
    """What is asked for stands against what is there now."""

    status = 409
    title = "Conflict"


class ModelError(ApeError):
    """A model file can't be fetched, checked or loaded."""

    status = 503
    title = "Model unavailable"


class StoreError(ApeError):
    """The database of the jobs is full, locked, read-only, damaged or out of reach."""

    status = 503
    title = "Job store unavailable"


class NoRoom(ApeError):
    """The model server has no memory for one more adapter."""

    status = 507
    title = "Out of adapter memory"


class Busy(ApeError):
    """More is asked for than may wait; `retry_after` is our guess of the seconds until there is room."""

    status = 429
    title = "Service busy"

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineError(ApeError):
    """The model server failed or answered nonsense; asking again may help."""

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
    """The model server can't be reached, or says that it is overloaded."""

    status = 503
    title = "Model server unavailable"


class EngineRefused(EngineError):
    """The model server will not answer this request, now or later (a wrong key, a bad parameter)."""

    title = "Model server refused the request"


class KeyRefused(EngineRefused):
    """The model server does not let us in: the key is missing or wrong, whatever is asked."""
