"""The question and the answer as JSON: parsed once, here, and never checked again behind it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from ape.passage.options import Options
from ape.passage.result import Decision, PostEdit, Severity
from ape.passage.segment import Context, Segment
from ape.text.characters import NOT_BLANK_PATTERN, READABLE_PATTERN
from ape.text.languages import detect_language, guess_language, language_code

EXAMPLE_QUESTION: dict[str, JsonValue] = {
    "source": "罗德把帽子往桌上一扔，二话没说就走了。",
    "mt": "Rhode threw the hat to the table and left without a word.",
    "source_language": "zh",
    "target_language": "en",
    "glossary": {"罗德": "Rhode"},
}
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

_TEXT: dict[str, JsonValue] = {"pattern": READABLE_PATTERN}
_PASSAGE: dict[str, JsonValue] = {"pattern": NOT_BLANK_PATTERN}
_NAMES: dict[str, JsonValue] = {"propertyNames": _TEXT}
Text = Annotated[str, Field(json_schema_extra=_TEXT)]
PassageText = Annotated[str, Field(min_length=1, json_schema_extra=_PASSAGE)]


def _parse_whole_number(value: object) -> object:
    """2.0 is an integer to JSON Schema, though not to strict pydantic."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WholeNumber = Annotated[int, BeforeValidator(_parse_whole_number)]

Language = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        description="ISO 639 code; told from the text if absent",
    ),
]


class ContextPair(BaseModel):
    """A paragraph that came just before, already edited."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Text = Field(min_length=1, max_length=20_000)
    target: Text = Field(min_length=1, max_length=20_000)


class PostEditRequest(BaseModel):
    """A passage and its machine translation. Only these two are required."""

    # Strict, or `true` would pass for a seed and "0.5" for a temperature.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, json_schema_extra={"examples": [EXAMPLE_QUESTION]}
    )

    source: PassageText = Field(description="what the author wrote")
    mt: PassageText = Field(description="what the machine made of it")
    source_language: Language | None = None
    target_language: Language | None = None
    model: str = Field("default", min_length=1, max_length=200, description="a name of GET /v1/models")
    context: list[ContextPair] = Field([], max_length=8, description="paragraphs just before, oldest first")
    glossary: dict[str, Text] = Field(
        {}, max_length=500, description="source terms and the wording to use", json_schema_extra=_NAMES
    )
    instructions: Text = Field("", max_length=4_000, description="wishes of style")
    temperature: float = Field(0, ge=0, le=2, allow_inf_nan=False)
    top_p: float = Field(0.2, gt=0, le=1, allow_inf_nan=False)
    seed: WholeNumber = Field(1, ge=0, le=2**31 - 1)
    max_attempts: WholeNumber = Field(2, ge=1, le=5, description="times to ask before the MT is kept")
    n: WholeNumber = Field(1, ge=1, le=8, description="candidates to draw each time; the best one is taken")
    max_tokens: Annotated[int, Field(ge=1, le=32_768), BeforeValidator(_parse_whole_number)] | None = Field(
        None, description="longest draft; worked out from the MT's length if absent"
    )
    stop: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        [], max_length=3, description="strings that end a draft, besides those of the prompt"
    )

    def to_segment(self) -> Segment:
        """The passage, with its languages known."""
        target = language_code(self.target_language or detect_language(self.mt, default="en"))
        return Segment(
            source=self.source,
            mt=self.mt,
            source_language=language_code(
                self.source_language or guess_language(self.source, other_than=target)
            ),
            target_language=target,
            context=tuple(Context(pair.source, pair.target) for pair in self.context),
            glossary=tuple(self.glossary.items()),
            instructions=self.instructions,
        )

    def to_options(self) -> Options:
        """How the passage is to be worked on."""
        return Options(
            model=self.model,
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            max_attempts=self.max_attempts,
            candidates=self.n,
            max_tokens=self.max_tokens,
            stop=tuple(self.stop),
        )


class FindingOut(BaseModel):
    """What a guard saw, in words for a translator."""

    guard: str
    severity: Severity
    message: str
    attempt: int = Field(description="the draft it speaks of, from 1; 0 is the passage itself")


class EditOut(BaseModel):
    """One change, as spans of characters in the MT and in the post-edit."""

    kind: str
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]


class UsageOut(BaseModel):
    """Tokens over all attempts."""

    prompt_tokens: int
    completion_tokens: int


class PostEditResponse(BaseModel):
    """The post-edit, or the MT untouched with the reasons."""

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
    attempt: int = Field(description="the draft that was taken; 0: none")

    @classmethod
    def of(cls, result: PostEdit) -> PostEditResponse:
        """The answer as it is sent."""
        return cls.model_validate(result, from_attributes=True)
