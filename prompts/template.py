"""A prompt as a Markdown file: messages under headings, rendered strictly, and named by a hash of the content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import cast

import jinja2
import regex

from prompts.prompt import Message, Role

_HEADING = regex.compile(r"^## (system|user|assistant)(?:, an example into (\w+))?\n", regex.MULTILINE)


@dataclass(frozen=True, slots=True)
class TemplateTurn:
    """A message to render. An example is used only for its own target language."""

    role: Role
    example_into: str | None
    template: jinja2.Template


@dataclass(frozen=True, slots=True)
class Template:
    """The turns of a file, and its name with the hash."""

    turns: tuple[TemplateTurn, ...]
    fingerprint: str

    def render(self, variables: Mapping[str, object], *, target_language: str) -> tuple[Message, ...]:
        """Render the messages, with the examples of that language; a missing variable is an error."""
        return tuple(
            Message(turn.role, turn.template.render(variables).strip())
            for turn in self.turns
            if turn.example_into in (None, target_language)
        )


@lru_cache
def load_template(name: str) -> Template:
    """Load a file. It is split into turns before rendering, so that data can't start a turn."""
    environment = jinja2.Environment(  # noqa: S701 - the output is a prompt, not HTML
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    text = template_text(name)
    turns = tuple(
        TemplateTurn(cast(Role, role), example_into, environment.from_string(turn))
        for role, example_into, turn in split_turns(text)
    )
    return Template(turns, f"{name}@{hashlib.sha256(text.encode()).hexdigest()[:12]}")


def template_text(name: str) -> str:
    """The text of the file."""
    return resources.files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def split_turns(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield the role, the language of the example or None, and the text of each turn."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading.group(1), heading.group(2), text[heading.end() : end]
