"""Responses of the health checks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Health(BaseModel):
    """The service is alive."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """The engine answers requests."""

    status: Literal["ready"] = "ready"
    models: list[str]
    restarts: int = Field(0, description="how many times the model server was restarted")
