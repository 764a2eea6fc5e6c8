"""A post-edit request as JSON, as the HTTP service and `ape edit` read it."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, TypeVar, get_type_hints

from annotated_types import MaxLen, MinLen
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, create_model

from ape.passage.options import (
    DEFAULT_MODEL_NAME,
    GLOSSARY_DESCRIPTION,
    MAX_CONTEXT,
    MAX_STOPS,
    MAX_TERMS,
    STOPS_DESCRIPTION,
    Instructions,
    MaxTokens,
    Options,
    SharedOptions,
    StopText,
    option_name,
    option_values,
)
from ape.passage.segment import Context, Segment
from ape.text.characters import NOT_BLANK_PATTERN, READABLE_PATTERN
from ape.text.languages import resolve_languages

EXAMPLE_QUESTION: dict[str, JsonValue] = {
    "source": "罗德把帽子往桌上一扔，二话没说就走了。",
    "mt": "Rhode threw the hat to the table and left without a word.",
    "source_language": "zh",
    "target_language": "en",
    "glossary": {"罗德": "Rhode"},
}

# Unreadable characters are refused by `refuse_unreadable`, which names their position; here they are documented.
_READABLE: dict[str, JsonValue] = {"pattern": READABLE_PATTERN}
Text = Annotated[str, Field(json_schema_extra=_READABLE)]
PassageText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": NOT_BLANK_PATTERN})]
# 2.0 is an integer in JSON Schema, but not in strict pydantic.
_WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
ModelName = Annotated[str, MinLen(1), MaxLen(200), Field(description="A name of GET /v1/models.")]
Language = Annotated[
    str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", description="ISO 639 code; detected if absent.")
]
RequestT = TypeVar("RequestT", bound=BaseModel)


def with_shared_options(model: type[RequestT]) -> type[RequestT]:
    """Add a field for each shared option that the model does not declare itself."""
    hints = get_type_hints(SharedOptions, include_extras=True)
    added: dict[str, Any] = {
        field.name: (Annotated[hints[field.name], _WHOLE], Field(field.default, alias=option_name(field.name)))
        for field in fields(SharedOptions)
        if field.name not in model.model_fields
    }
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **added)


class ContextPair(BaseModel):
    """A preceding paragraph, already edited."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Text = Field(min_length=1, max_length=20_000)
    target: Text = Field(min_length=1, max_length=20_000)


@with_shared_options
class PostEditRequest(BaseModel):
    """A passage and its machine translation. Only these two are required."""

    # Strict, or `true` would be accepted as a seed and "0.5" as a temperature.
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        json_schema_extra={"examples": [EXAMPLE_QUESTION]},
    )

    source: PassageText = Field(description="The passage in the original language.")
    mt: PassageText = Field(description="Its machine translation.")
    source_language: Language | None = None
    target_language: Language | None = None
    model: ModelName = DEFAULT_MODEL_NAME
    context: Annotated[list[ContextPair], MAX_CONTEXT] = Field(
        [], description="Preceding paragraphs, the oldest first."
    )
    glossary: Annotated[dict[str, Text], MAX_TERMS, GLOSSARY_DESCRIPTION] = Field(
        {}, json_schema_extra={"propertyNames": _READABLE}
    )
    instructions: Annotated[Instructions, Field(json_schema_extra=_READABLE)] = ""
    max_tokens: Annotated[MaxTokens, _WHOLE] | None = None
    stop: Annotated[list[StopText], MAX_STOPS, STOPS_DESCRIPTION] = []

    def to_segment(self) -> Segment:
        """The passage, with its languages resolved."""
        source_language, target_language = resolve_languages(
            self.source, self.mt, self.source_language, self.target_language
        )
        return Segment(
            source=self.source,
            mt=self.mt,
            source_language=source_language,
            target_language=target_language,
            context=tuple(Context(pair.source, pair.target) for pair in self.context),
            glossary=tuple(self.glossary.items()),
            instructions=self.instructions,
        )

    def to_options(self) -> Options:
        """The options of the request."""
        return Options(**option_values(self), model=self.model, max_tokens=self.max_tokens, stop=tuple(self.stop))
