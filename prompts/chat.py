"""The `chat` format: a question to an instruct model, rendered strictly from a readable file and named by its hash."""

from __future__ import annotations

from functools import lru_cache

import regex

from prompts.escaping import escape_delimiters
from prompts.prompt import Prompt, Question
from prompts.template import HEADING, load_template, template_text

_TEMPLATE_CODE = regex.compile(r"\{\{.*?\}\}|\{%.*?%\}|^## .*$|</?\w+>", regex.MULTILINE)


def render_chat(question: Question) -> Prompt:
    """Ask an instruct model that was not tuned for this work."""
    chat = load_template("chat")
    translation = escape_delimiters(question.mt)
    variables = {
        "source": escape_delimiters(question.source).text,
        "translation": translation.text,
        "source_language": question.source_language,
        "target_language": question.target_language,
        "earlier": [
            {"source": _safe(source), "target": _safe(target)} for source, target in question.earlier
        ],
        "glossary": [{"term": _safe(term), "wording": _safe(wording)} for term, wording in question.glossary],
        "style": _safe(question.instructions),
    }
    messages = chat.render(variables, target_language=question.target_language)
    return Prompt(messages, chat.fingerprint, translation, opening="<translation>", stop=("</translation>",))


def chat_fingerprint() -> str:
    """The name of the format, with the hash of its file."""
    return load_template("chat").fingerprint


@lru_cache
def prompt_words() -> str:
    """All that we say to a model ourselves, the worked example too: none of it belongs into a draft."""
    return _TEMPLATE_CODE.sub(" ", template_text("chat"))


@lru_cache
def example_words() -> str:
    """The worked examples alone, question and answer: small models take them for a part of the book."""
    text = template_text("chat")
    headings = list(HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    shown = [
        text[heading.end() : end] for heading, end in zip(headings, ends, strict=True) if heading.group(2)
    ]
    return _TEMPLATE_CODE.sub(" ", "\n".join(shown))


def _safe(text: str) -> str:
    return escape_delimiters(text).text
