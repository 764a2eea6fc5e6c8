"""Response schemas of POST /v1/post-edit."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ape.passage.result import Decision, PostEdit, Severity

EXAMPLE_ANSWER: dict[str, JsonValue] = {
    "id": "2f6c1f0d3c3b4c0f9a55c7e1d2a4b6e8",
    "post_edit": "Rhode threw his hat on the table and left without a word.",
    "decision": "edited",
    "findings": [],
    "edits": [
        {"kind": "pronoun", "before": "the", "after": "his", "mt_span": [12, 15], "span": [12, 15]},
        {"kind": "word choice", "before": "to", "after": "on", "mt_span": [20, 22], "span": [20, 22]},
    ],
    "edit_rate": 0.1538,
    "model": "smollm2-135m",
    "prompt": "chat@3f2a9c41d7e0",
    "usage": {"prompt_tokens": 310, "completion_tokens": 19},
    "attempt": 1,
}


class FindingOut(BaseModel):
    """A finding of a guard, worded for a translator."""

    guard: str
    severity: Severity
    message: str
    attempt: int = Field(description="number of the draft, from 1; 0 for the passage itself")


class EditOut(BaseModel):
    """One change, with its character spans in the MT and in the post-edit."""

    kind: str
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]


class UsageOut(BaseModel):
    """Token counts over all attempts."""

    prompt_tokens: int
    completion_tokens: int
    accepted_prediction_tokens: int = Field(0, description="tokens of the completion that OpenAI's prediction gave")
    rejected_prediction_tokens: int = Field(0, description="tokens of the prediction that were paid and not used")


class PostEditResponse(BaseModel):
    """The post-edit, or the unchanged MT with the reasons."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ANSWER]})

    id: str
    post_edit: str
    decision: Decision
    findings: list[FindingOut]
    edits: list[EditOut]
    edit_rate: float
    model: str
    prompt: str
    usage: UsageOut
    attempt: int = Field(description="number of the accepted draft; 0 if none was accepted")

    @classmethod
    def of(cls, result: PostEdit) -> PostEditResponse:
        """Convert a result to its JSON schema."""
        return cls.model_validate(result, from_attributes=True)
