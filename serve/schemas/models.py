"""Requests and responses of the model and alias routes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ape.adapters.directory import NAME_PATTERN as ADAPTER_NAME
from ape.engines.registry_entries import AdapterEntry

NAME_PATTERN = f"^{ADAPTER_NAME}$"
ModelName = Annotated[str, Field(pattern=NAME_PATTERN, description="letters, digits, '.', '_' and '-'")]


class AdapterOut(BaseModel):
    """An adapter as its own files describe it."""

    base: str = Field(description="the model it was trained on")
    languages: list[str]
    rank: int
    revision: str = Field(description="hash of its weights and of everything else that decides its output")
    parity: dict[str, JsonValue] | None = Field(
        description="agreement of served outputs with those of the training library"
    )
    data: str | None = Field(description="hash of the manifest of its training data")
    training: dict[str, JsonValue]
    in_use: int = Field(description="passages that are using it now")
    failure: str | None = Field(description="why it can't be used at the moment")

    @classmethod
    def of(cls, entry: AdapterEntry) -> AdapterOut:
        """Describe an entry of the registry."""
        card = entry.adapter.card
        return cls(
            base=card.base.model,
            languages=list(card.languages),
            rank=entry.adapter.rank,
            revision=entry.adapter.revision,
            parity=card.parity,
            data=card.data,
            training=card.training,
            in_use=entry.in_use,
            failure=entry.failure or None,
        )


class ModelOut(BaseModel):
    """A model that requests can name."""

    name: str
    kind: Literal["base", "adapter"]
    default: bool
    window: int | None = Field(description="context length in tokens, if the engine reports it")
    prompt: str = Field(description="its prompt format and the hash of that format")
    adapter: AdapterOut | None = None


class ModelsResponse(BaseModel):
    """All models, the default first, and all aliases."""

    models: list[ModelOut]
    aliases: dict[str, str]


class LoadRequest(BaseModel):
    """An adapter to load from one of the configured adapter directories."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"name": "par3-fr", "directory": "par3-fr/v2"}]}
    )

    name: ModelName = Field(description="the name for requests to use")
    directory: str | None = Field(
        None, min_length=1, max_length=1000, description="path within the adapter directories; the name if absent"
    )


class AliasRequest(BaseModel):
    """The model that an alias points to."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"model": "par3-fr"}]})

    model: str = Field(min_length=1, max_length=200, description="a name of GET /v1/models")


class AliasOut(BaseModel):
    """An alias and the model it points to."""

    alias: str
    model: str
