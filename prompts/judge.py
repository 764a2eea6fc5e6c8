"""Prompts for a judge: which of two translations is better, and which errors one contains.

The texts under judgement are data. Delimiters and control words in them are escaped, so that no text can close its
element of the prompt, pose as an instruction, or contain what could be parsed as the verdict.
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
    """A label that a judge may use, and its meaning."""

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
    """Ask which of two translations is better; the first is A. Languages are English names, or "" if unknown."""
    variables = {
        "first": escape_delimiters(first.strip()).text,
        "second": escape_delimiters(second.strip()).text,
        "source": escape_delimiters(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "ties": ties,
    }
    template = load_template("judge_pairs")
    messages = template.render(variables, target_language=target_language)
    return Prompt(messages, template.fingerprint, escape_delimiters(""), opening="", stop=())


def render_span_judge(
    translation: str,
    *,
    categories: Sequence[JudgeTerm],
    severities: Sequence[JudgeTerm],
    source: str = "",
    source_language: str = "",
    target_language: str = "",
) -> Prompt:
    """Ask for the errors of a translation. The prompt's `mt` restores the original characters in quotations."""
    escaped = escape_delimiters(translation.strip())
    variables = {
        "translation": escaped.text,
        "source": escape_delimiters(source.strip()).text,
        "source_language": source_language,
        "target_language": target_language,
        "categories": categories,
        "severities": severities,
    }
    template = load_template("judge_spans")
    messages = template.render(variables, target_language=target_language)
    return Prompt(messages, template.fingerprint, escaped, opening="", stop=())


def judge_fingerprint(name: JudgeFile) -> str:
    """The name of a judge's prompt with its hash, for signatures."""
    return load_template(name).fingerprint
