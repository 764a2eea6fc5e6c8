"""Formats are found by name, and their fingerprints are stable."""

from __future__ import annotations

import pytest

from prompts import FORMATS, PromptFormat, Question, prompt_format

QUESTION = Question("Il pleut.", "It rain.", "French", "English")


@pytest.mark.parametrize("known", FORMATS.values(), ids=FORMATS)
def test_a_format_is_found_by_name_and_reads_its_own_completions(known: PromptFormat) -> None:
    assert prompt_format(known.name) is known
    assert known.fingerprint.startswith(f"{known.name}@")
    prompt = known.render(QUESTION)
    assert (prompt.fingerprint, prompt.stop) == (known.fingerprint, known.stop)
    assert isinstance(prompt.body, str) is not known.is_chat
    assert prompt.read(known.completion(QUESTION, "It is raining.")) == "It is raining."


@pytest.mark.parametrize("fingerprint", ["chat@404f986d4abe", "sep@318078df5661"])
def test_a_published_format_keeps_its_fingerprint(fingerprint: str) -> None:
    # Another hash would invalidate every adapter and every job that was made before.
    assert prompt_format(fingerprint.partition("@")[0]).fingerprint == fingerprint


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'xml'; known formats: chat, examples, sep"):
        prompt_format("xml")
