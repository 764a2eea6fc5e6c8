"""The id of the request under way, which goes with it to the model server and into the logs of both."""

from __future__ import annotations

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
