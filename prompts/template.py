"""A prompt as a file: turns under headings, rendered strictly, and named by a hash of its content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import cast

import jinja2
import regex

from prompts.prompt import Message, Role

HEADING = regex.compile(r"^## (system|user|assistant)(?:, an example into (\w+))?\n", regex.MULTILINE)


@dataclass(frozen=True, slots=True)
class TemplateTurn:
    """A message to be rendered. An example is shown only to whom it is in the right language."""

    role: Role
    example_into: str | None
    template: jinja2.Template


@dataclass(frozen=True, slots=True)
class Template:
    """The turns of a file, and its name with the hash."""

    turns: tuple[TemplateTurn, ...]
    fingerprint: str

    def render(self, variables: Mapping[str, object], *, target_language: str) -> tuple[Message, ...]:
        """The messages, with the examples that are in that language; a variable that is missing is an error."""
        return tuple(
            Message(turn.role, turn.template.render(variables).strip())
            for turn in self.turns
            if turn.example_into in (None, target_language)
        )


@lru_cache
def load_template(name: str) -> Template:
    """Read a file; it is cut into turns before rendering, so no data can open a turn of its own."""
    text = template_text(name)
    environment = jinja2.Environment(  # noqa: S701 - the output is a prompt, not HTML
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    turns = tuple(
        TemplateTurn(
            cast(Role, heading.group(1)), heading.group(2), environment.from_string(text[heading.end() : end])
        )
        for heading, end in zip(headings, ends, strict=True)
    )
    return Template(turns, f"{name}@{hashlib.sha256(text.encode()).hexdigest()[:12]}")


def template_text(name: str) -> str:
    """The file as it is."""
    return resources.files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
