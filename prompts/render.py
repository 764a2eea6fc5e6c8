"""Render a question to a model from a readable file, strictly, and name it by the hash of that file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal, cast

import jinja2
import regex

from prompts.neutral import Neutral, neutralise

Role = Literal["system", "user", "assistant"]
_HEADING = regex.compile(r"^## (system|user|assistant)(?:, an example into (\w+))?\n", regex.MULTILINE)
_TEMPLATE_CODE = regex.compile(r"\{\{.*?\}\}|\{%.*?%\}|^## .*$|</?\w+>", regex.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """All that a prompt may speak of. Languages are names ("French"), ready to be read."""

    source: str
    mt: str
    source_language: str
    target_language: str
    earlier: tuple[tuple[str, str], ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, the name of the format with its hash, and the MT as the model sees it."""

    messages: tuple[Message, ...]
    fingerprint: str
    mt: Neutral
    opening: str
    stop: str

    def read(self, reply: str) -> str:
        """The draft in a reply: without the delimiters around it, and with those of the MT itself restored.

        Only delimiters at the very ends are taken off. Whatever else stands beside the passage is left for the
        guards to refuse.
        """
        return self.mt.restore(reply.strip().removeprefix(self.opening).removesuffix(self.stop).strip())


@dataclass(frozen=True, slots=True)
class _Turn:
    """A message to be rendered. An example is shown only to whom it is in the right language."""

    role: Role
    example_into: str | None
    template: jinja2.Template


@dataclass(frozen=True, slots=True)
class _Format:
    turns: tuple[_Turn, ...]
    fingerprint: str


def render_chat(question: Question) -> Prompt:
    """Ask an instruct model that was not tuned for this work."""
    chat = _load("chat")
    translation = neutralise(question.mt)
    variables = {
        "source": neutralise(question.source).text,
        "translation": translation.text,
        "source_language": question.source_language,
        "target_language": question.target_language,
        "earlier": [
            {"source": _safe(source), "target": _safe(target)} for source, target in question.earlier
        ],
        "glossary": [{"term": _safe(term), "wording": _safe(wording)} for term, wording in question.glossary],
        "style": _safe(question.instructions),
    }
    messages = tuple(
        Message(turn.role, turn.template.render(variables).strip())
        for turn in chat.turns
        if turn.example_into in (None, question.target_language)
    )
    return Prompt(messages, chat.fingerprint, translation, opening="<translation>", stop="</translation>")


@lru_cache
def own_words() -> str:
    """All that we say to a model ourselves, the worked example too: none of it belongs into a draft."""
    return _TEMPLATE_CODE.sub(" ", _text("chat"))


@lru_cache
def example_words() -> str:
    """The worked examples alone, question and answer: small models take them for a part of the book."""
    text = _text("chat")
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    shown = [
        text[heading.end() : end] for heading, end in zip(headings, ends, strict=True) if heading.group(2)
    ]
    return _TEMPLATE_CODE.sub(" ", "\n".join(shown))


def _safe(text: str) -> str:
    return neutralise(text).text


@lru_cache
def _load(name: str) -> _Format:
    """Read a format; it is cut into turns before rendering, so no data can open a turn of its own."""
    text = _text(name)
    environment = jinja2.Environment(  # noqa: S701 - the output is a prompt, not HTML
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    turns = tuple(
        _Turn(
            cast(Role, heading.group(1)), heading.group(2), environment.from_string(text[heading.end() : end])
        )
        for heading, end in zip(headings, ends, strict=True)
    )
    return _Format(turns, f"{name}@{hashlib.sha256(text.encode()).hexdigest()[:12]}")


def _text(name: str) -> str:
    return resources.files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
