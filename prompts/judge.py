"""Questions to a judge: which of two translations is better, and what is wrong in one.

The texts under judgement are data. Our delimiters and the control words of chat models lose their power in them, so
that none can close its place in the prompt, speak for us, or hold what could be read as the judge's own verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from prompts.escaping import escape_delimiters
from prompts.prompt import Prompt
from prompts.template import load_template

JudgeFile = Literal["judge_pairs", "judge_spans"]


@dataclass(frozen=True, slots=True)
class JudgeTerm:
    """A word that a judge may use, and what it means."""

    name: str
    meaning: str


def render_pair_judge(
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
        "first": escape_delimiters(first.strip()).text,
        "second": escape_delimiters(second.strip()).text,
        "source": escape_delimiters(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "ties": ties,
    }
    file = load_template("judge_pairs")
    messages = file.render(variables, target_language=target_language)
    return Prompt(messages, file.fingerprint, escape_delimiters(""), opening="", stop=())


def render_span_judge(
    translation: str,
    *,
    categories: Sequence[JudgeTerm],
    severities: Sequence[JudgeTerm],
    source: str = "",
    source_language: str = "",
    target_language: str = "",
) -> Prompt:
    """What is wrong in it? The prompt's `mt` gives quotations the translation's own signs again."""
    neutral = escape_delimiters(translation.strip())
    variables = {
        "translation": neutral.text,
        "source": escape_delimiters(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "categories": categories,
        "severities": severities,
    }
    file = load_template("judge_spans")
    messages = file.render(variables, target_language=target_language)
    return Prompt(messages, file.fingerprint, neutral, opening="", stop=())


def judge_fingerprint(name: JudgeFile) -> str:
    """The name of the file with its hash, for signatures."""
    return load_template(name).fingerprint
