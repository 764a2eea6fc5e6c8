"""Parser of judge answers: the verdict is the last tagged text, after any reasoning."""

from __future__ import annotations

from collections.abc import Mapping

import regex

from ape.passage.segment import Draft
from eval.human.vote import Choice
from eval.judge.judgement import Judgement, Unscored, Verdict

_MENU: Mapping[str, Choice] = {"a": "first", "b": "second", "tie": "tie"}
_PUNCTUATION = regex.compile(r"[^\p{L}\p{N}]+")
_REASONING = regex.compile(r".*</think>", regex.DOTALL)


def read_verdict(draft: Draft, *, ties: bool) -> Judgement:
    """Read the chosen position; "first" is the text shown as A."""
    answer = (draft.text,)
    content = strip_reasoning(draft.text)
    verdict = last_tagged("verdict", content)
    if verdict is None and _normalise(content) in _MENU:
        verdict = content  # nothing but the word
    if not verdict or not verdict.strip():
        return missing_verdict(draft)
    choice = _MENU.get(_normalise(verdict.strip().splitlines()[0]))
    if choice is None or (choice == "tie" and not ties):
        return Unscored("off_menu", answer)
    return Verdict(choice, answer)


def missing_verdict(draft: Draft) -> Unscored:
    """The reason for a missing verdict: the answer was cut off, or has none."""
    return Unscored("cut_off" if draft.finish_reason == "length" else "no_verdict", (draft.text,))


def strip_reasoning(answer: str) -> str:
    """Remove marked reasoning; empty if the reasoning never ended."""
    content = _REASONING.sub("", answer)
    return "" if content.lstrip().startswith("<think>") else content


def last_tagged(tag: str, answer: str) -> str | None:
    """Text of the last such element, even if unclosed; None without one."""
    parts = regex.split(rf"<{tag}\s*>", answer, flags=regex.IGNORECASE)
    return regex.split(rf"</{tag}\s*>", parts[-1], flags=regex.IGNORECASE)[0] if len(parts) > 1 else None


def _normalise(verdict: str) -> str:
    """Remove the punctuation, case and "Translation" that models add to a letter."""
    return _PUNCTUATION.sub(" ", verdict).strip().casefold().removeprefix("translation ")
