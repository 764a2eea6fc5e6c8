"""The format of tuned models: what they are taught is what they are asked."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prompts import Question, completion_sep, fingerprint, render, render_chat, render_sep
from prompts.sep import SEPARATOR

TEXTS = st.lists(
    st.one_of(st.text(), st.sampled_from(["###", "#", "\n\n", "####", "</s>", "<|im_end|>", SEPARATOR]))
).map("".join)


def ask(source: str, mt: str) -> Question:
    return Question(source, mt, "French", "English")


def test_source_and_mt_stand_before_separators() -> None:
    prompt = render_sep(ask("Il pleut.", "It rain."))
    assert prompt.body == "Il pleut.\n\n###\n\nIt rain.\n\n###\n\n"
    assert (prompt.stop, prompt.unsaid) == (("\n\n###",), ())


@given(source=TEXTS, mt=TEXTS)
def test_no_text_can_add_a_part(source: str, mt: str) -> None:
    body = render_sep(ask(source, mt)).body
    assert isinstance(body, str)
    assert body.count("###") == 2
    assert len(body.split(SEPARATOR)) == 3


@example(mt="###0#######0####")  # runs of several lengths, one within the other
@given(mt=TEXTS)
def test_an_mt_that_is_given_back_comes_back_as_it_was(mt: str) -> None:
    question = ask("x", mt)
    if not set("♯‹›⁅⁆¦") & set(mt):
        assert render_sep(question).read(completion_sep(question, mt)) == mt.strip()


@given(mt=TEXTS, human=TEXTS)
def test_what_is_taught_never_holds_a_stop(mt: str, human: str) -> None:
    assert "###" not in completion_sep(ask("x", mt), human)


def test_the_name_of_the_format_is_the_hash_of_its_recipe() -> None:
    # Another hash would disown every adapter that was trained before.
    assert fingerprint("sep") == render_sep(ask("a", "b")).fingerprint == "sep@318078df5661"


@pytest.mark.parametrize("name", ["chat", "sep"])
def test_a_format_is_rendered_by_its_name(name: str) -> None:
    question = ask("Il pleut.", "It rain.")
    expected = {"chat": render_chat, "sep": render_sep}[name](question)
    assert render(name, question) == expected  # type: ignore[arg-type]


def test_what_has_no_place_is_told() -> None:
    question = Question("a", "b", "French", "English", earlier=(("c", "d"),), instructions="Wry.")
    assert render_sep(question).unsaid == ("context", "instructions")
