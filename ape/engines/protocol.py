"""The protocol of engines, which turn prompts into drafts."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from ape.edits.filter import EditFilter
from ape.errors import EngineUnavailable, UnknownModel
from ape.passage.events import Listener
from ape.passage.options import DEFAULT_MODEL_NAME, SamplingOptions
from ape.passage.result import Usage
from ape.passage.segment import Draft
from prompts import DEFAULT_FORMAT, Prompt

EngineState = Literal["starting", "up", "down", "stopped"]


@dataclass(frozen=True, slots=True)
class Sampling(SamplingOptions):
    """Decoding parameters of a draft.

    `max_characters` stops a runaway draft early, which the guards would refuse anyway. `stop` adds to the stop strings
    of the prompt's format. `alternatives` is the number of alternative tokens to return logprobs for; 0 returns none.
    """

    max_tokens: int
    max_characters: int
    stop: tuple[str, ...] = ()
    alternatives: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A draft and its token usage."""

    draft: Draft
    usage: Usage


@dataclass(frozen=True, slots=True)
class Model:
    """A model of an engine and its prompt format.

    `window` is its context length in tokens, if known. `revision` is a digest of its weights, if they can be read: two
    models with the same name and revision are the same. `edit_filter` undoes uncertain edits. `languages` are the pairs
    that it was tuned for, as "fr-en"; an empty tuple means any.
    """

    name: str
    window: int | None = None
    format: str = DEFAULT_FORMAT.name
    revision: str = ""
    edit_filter: EditFilter | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """The current state of an engine and its number of restarts."""

    state: EngineState
    restarts: int = 0


class Engine(Protocol):
    """A model server behind the OpenAI API."""

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Generate one draft; cancelling the call also stops the generation on the server."""
        ...

    async def count(self, text: str) -> int | None:
        """The exact number of tokens of a text, or None if the server can't count them."""
        ...

    async def models(self) -> tuple[Model, ...]:
        """The served models, the default first."""
        ...

    def using(self, name: str) -> AbstractAsyncContextManager[Model]:
        """The model of that name, loaded during the block; raises UnknownModel."""
        ...

    def health(self) -> EngineHealth:
        """The last known health, without a request."""
        ...


def pick_model(models: tuple[Model, ...], name: str) -> Model:
    """The model of that name; "default" is the first."""
    if not models:
        raise EngineUnavailable("The model server serves no model.")
    if name == DEFAULT_MODEL_NAME:
        return models[0]
    for model in models:
        if model.name == name:
            return model
    known = ", ".join([DEFAULT_MODEL_NAME, *(model.name for model in models)])
    raise UnknownModel(f"No model is called {name!r} here. There is: {known}.", field="model")
