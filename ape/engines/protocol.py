"""What an engine is: something that turns a prompt into a draft, and knows its models."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from ape.edits.filter import EditFilter
from ape.errors import EngineUnavailable, UnknownModel
from ape.passage.events import Listener
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.passage.result import Usage
from ape.passage.segment import Draft
from prompts import DEFAULT_FORMAT, Prompt

EngineState = Literal["starting", "up", "down", "stopped"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a draft is drawn.

    `max_characters` stops a run-away early: a draft longer than that will be refused by the guards anyway. `stop` ends
    a draft besides what the prompt's format has for that. `alternatives` asks for the chances of the draft's tokens,
    and of so many others in the place of each.
    """

    temperature: float
    top_p: float
    seed: int
    max_tokens: int
    max_characters: int
    stop: tuple[str, ...] = ()
    alternatives: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A draft and what it cost."""

    draft: Draft
    usage: Usage


@dataclass(frozen=True, slots=True)
class Model:
    """A model that an engine serves, and the format it is to be asked in.

    `window` is its context length in tokens, where the server tells. `revision` stands for its weights, where we can
    see them: two models of one name and one revision are the same. `edit_filter` undoes the edits it is not sure of.
    `languages` are the pairs that it was tuned for, as "fr-en"; none means any.
    """

    name: str
    window: int | None = None
    format: str = DEFAULT_FORMAT.name
    revision: str = ""
    edit_filter: EditFilter | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """How an engine is at this moment, and how often it was started again."""

    state: EngineState
    restarts: int = 0


class Engine(Protocol):
    """A model server, reached through the OpenAI dialect."""

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Draw one draft; cancelling the call stops the generation on the server too."""
        ...

    async def count(self, text: str) -> int | None:
        """How many tokens the text is, exactly, or None where the server does not tell."""
        ...

    async def models(self) -> tuple[Model, ...]:
        """What is served, the default first."""
        ...

    def using(self, name: str) -> AbstractAsyncContextManager[Model]:
        """The model of that name, or UnknownModel; it stays loaded for the length of the block."""
        ...

    def health(self) -> EngineHealth:
        """How it is, as far as is known without asking it."""
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
