"""Problem details as RFC 9457 defines them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

EXAMPLE_PROBLEM: dict[str, JsonValue] = {
    "type": "urn:ape:problem:input",
    "title": "Unprocessable request",
    "status": 422,
    "detail": "mt is blank. Give the passage and its machine translation.",
    "field": "mt",
}


class Problem(BaseModel):
    """An error in the form of RFC 9457."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_PROBLEM]})

    type: str = Field(description="identifier of this kind of problem")
    title: str
    status: int
    detail: str = Field(description="what is wrong, where, and how to fix it")
    field: str | None = Field(None, description="the part of the request at fault")
    actual: int | None = Field(None, description="the size received, where a limit was exceeded")
    limit: int | None = Field(None, description="the size allowed")
    mt: str | None = Field(None, description="the MT as it was sent, where the engine or the service failed on it")

    def to_json(self) -> dict[str, Any]:
        """Return the members that have a value."""
        return self.model_dump(exclude_none=True)
