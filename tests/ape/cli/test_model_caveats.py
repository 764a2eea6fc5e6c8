"""What `ape book plan` and `ape book edit` say of a model before the work."""

from __future__ import annotations

import pytest

from ape.cli.model_caveats import ignored_wishes_caveat, larger_model_hint, model_caveats
from ape.engines.protocol import Model
from ape.models.catalogue import DEFAULT_MODEL, LARGE_MODEL, TUNED_MODEL


def caveats(model: str, *tuned_for: str, pair: str = "fr-en") -> str:
    source, _, target = pair.partition("-")
    return " ".join(model_caveats(model, tuned_for, source_language=source, target_language=target))


@pytest.mark.parametrize(("model", "hints"), [(TUNED_MODEL, True), (DEFAULT_MODEL, True), (LARGE_MODEL, False)])
def test_of_a_tiny_model_it_is_said_before_the_work_and_a_larger_one_is_named(model: str, hints: bool) -> None:
    assert (f"ape models pull {LARGE_MODEL}" in caveats(model)) is hints
    assert bool(larger_model_hint(model)) is hints


def test_a_model_that_was_tuned_for_other_languages_is_named_with_them() -> None:
    assert "was tuned for et-en, ro-en, not for French to English" in caveats("mine", "et-en", "ro-en")
    assert not caveats("mine", "et-en", "fr-en")


def test_a_model_measured_on_english_alone_says_so_for_other_targets() -> None:
    assert "measured on translations into English only: review its edits of German" in caveats(
        LARGE_MODEL, pair="no-de"
    )
    assert not caveats(LARGE_MODEL)
    assert not caveats(LARGE_MODEL, pair="no-und")


@pytest.mark.parametrize(("format", "says"), [("sep", "ignore the glossary and the instructions"), ("chat", "")])
def test_of_a_model_that_ignores_what_was_asked_for_it_is_said(format: str, says: str) -> None:
    caveat = ignored_wishes_caveat(Model("mine", format=format), glossary=True, instructions=True)
    assert says in caveat
    assert bool(caveat) is bool(says)
    assert not ignored_wishes_caveat(Model("mine", format=format), glossary=False, instructions=False)


def test_nothing_is_said_of_a_model_that_is_not_known() -> None:
    assert not caveats("gpt-4.1", pair="no-de")
