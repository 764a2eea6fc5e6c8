"""The formats by name. A model is asked in the one it was made for, and never in another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from prompts.chat import chat_fingerprint, render_chat
from prompts.prompt import Prompt, Question
from prompts.sep import render_sep, sep_fingerprint

FormatName = Literal["chat", "sep"]
FORMATS: Mapping[FormatName, Callable[[Question], Prompt]] = {"chat": render_chat, "sep": render_sep}
_FINGERPRINTS: Mapping[FormatName, Callable[[], str]] = {"chat": chat_fingerprint, "sep": sep_fingerprint}


def render(name: FormatName, question: Question) -> Prompt:
    """The question in a format."""
    return FORMATS[name](question)


def fingerprint(name: FormatName) -> str:
    """The format with its hash, as `chat@3f2a9c41d7e0`: another hash is another format."""
    return _FINGERPRINTS[name]()
