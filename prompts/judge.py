"""Questions to a judge: which of two translations is better, and what is wrong in one.

The texts under judgement are data. Our delimiters and the control words of chat models lose their power in them, so
that none can close its place in the prompt, speak for us, or hold what could be read as the judge's own verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from prompts.neutral import neutralise
from prompts.prompt import Prompt
from prompts.template import load

JudgeFile = Literal["judge_pairs", "judge_spans"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that a judge may use, and what it means."""

    name: str
    meaning: str


def render_pair(
    first: str,
    second: str,
    *,
    source: str = "",
    source_language: str = "",
    target_language: str = "",
    ties: bool = True,
) -> Prompt:
    """Which of the two is better? The first is shown as A. Languages are names, or nothing where not known."""
    variables = {
        "first": neutralise(first.strip()).text,
        "second": neutralise(second.strip()).text,
        "source": neutralise(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "ties": ties,
    }
    file = load("judge_pairs")
    messages = file.render(variables, target_language=target_language)
    return Prompt(messages, file.fingerprint, neutralise(""), opening="", stop=())


def render_spans(
    translation: str,
    *,
    categories: Sequence[Entry],
    severities: Sequence[Entry],
    source: str = "",
    source_language: str = "",
    target_language: str = "",
) -> Prompt:
    """What is wrong in it? The prompt's `mt` gives quotations the translation's own signs again."""
    neutral = neutralise(translation.strip())
    variables = {
        "translation": neutral.text,
        "source": neutralise(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "categories": categories,
        "severities": severities,
    }
    file = load("judge_spans")
    messages = file.render(variables, target_language=target_language)
    return Prompt(messages, file.fingerprint, neutral, opening="", stop=())


def judge_fingerprint(name: JudgeFile) -> str:
    """The name of the file with its hash, for signatures."""
    return load(name).fingerprint
