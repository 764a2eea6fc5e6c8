"""The `chat` format: a question to an instruct model, rendered strictly from a readable file and named by its hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import cast

import jinja2
import regex

from prompts.neutral import neutralise
from prompts.prompt import Message, Prompt, Question, Role

_HEADING = regex.compile(r"^## (system|user|assistant)(?:, an example into (\w+))?\n", regex.MULTILINE)
_TEMPLATE_CODE = regex.compile(r"\{\{.*?\}\}|\{%.*?%\}|^## .*$|</?\w+>", regex.MULTILINE)


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
    return Prompt(messages, chat.fingerprint, translation, opening="<translation>", stop=("</translation>",))


def chat_fingerprint() -> str:
    """The name of the format, with the hash of its file."""
    return _load("chat").fingerprint


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
