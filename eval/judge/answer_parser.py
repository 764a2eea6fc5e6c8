"""Reading a judge's answer: it thinks aloud first, so the last thing between the tags is what counts."""

from __future__ import annotations

from collections.abc import Mapping

import regex

from ape.passage.segment import Draft
from eval.human.vote import Choice
from eval.judge.judgement import Judgement, Unscored, Verdict

_MENU: Mapping[str, Choice] = {"a": "first", "b": "second", "tie": "tie"}
_MARKS = regex.compile(r"[^\p{L}\p{N}]+")
_THOUGHT = regex.compile(r".*</think>", regex.DOTALL)


def read_verdict(draft: Draft, *, ties: bool) -> Judgement:
    """Which place was chosen: "first" is the text shown as A."""
    answer = (draft.text,)
    spoken = strip_reasoning(draft.text)
    said = last_tagged("verdict", spoken)
    if said is None and _plain(spoken) in _MENU:
        said = spoken  # nothing but the word
    if not said or not said.strip():
        return missing_verdict(draft)
    choice = _MENU.get(_plain(said.strip().splitlines()[0]))
    if choice is None or (choice == "tie" and not ties):
        return Unscored("off_menu", answer)
    return Verdict(choice, answer)


def missing_verdict(draft: Draft) -> Unscored:
    """There is no verdict: because the answer was cut off, or because it has none."""
    return Unscored("cut_off" if draft.finish_reason == "length" else "no_verdict", (draft.text,))


def strip_reasoning(answer: str) -> str:
    """What comes after the model's thoughts, where it marks them; of thoughts that never ended, nothing."""
    spoken = _THOUGHT.sub("", answer)
    return "" if spoken.lstrip().startswith("<think>") else spoken


def last_tagged(tag: str, answer: str) -> str | None:
    """What stands between the last of these tags, or after it if it was never closed; None where there is none."""
    parts = regex.split(rf"<{tag}\s*>", answer, flags=regex.IGNORECASE)
    return regex.split(rf"</{tag}\s*>", parts[-1], flags=regex.IGNORECASE)[0] if len(parts) > 1 else None


def _plain(said: str) -> str:
    """Without the marks, capitals and "Translation" that models put around a letter."""
    return _MARKS.sub(" ", said).strip().casefold().removeprefix("translation ")
