"""The sep format: training and serving agree."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from prompts import SEP, Question
from prompts.sep import SEPARATOR

TEXTS = st.lists(
    st.one_of(st.text(), st.sampled_from(["###", "#", "\n\n", "####", "</s>", "<|im_end|>", SEPARATOR]))
).map("".join)


def ask(source: str, mt: str) -> Question:
    return Question(source, mt, "French", "English")


def test_source_and_mt_are_followed_by_separators() -> None:
    prompt = SEP.render(ask("Il pleut.", "It rain."))
    assert prompt.body == "Il pleut.\n\n###\n\nIt rain.\n\n###\n\n"
    assert (prompt.stop, prompt.unused_fields) == (("\n\n###",), ())


@given(source=TEXTS, mt=TEXTS)
def test_no_text_can_add_a_part(source: str, mt: str) -> None:
    body = SEP.render(ask(source, mt)).body
    assert isinstance(body, str)
    assert body.count("###") == 2
    assert len(body.split(SEPARATOR)) == 3


@example(mt="###0#######0####")  # runs of several lengths, one within the other
@given(mt=TEXTS)
def test_a_reply_that_repeats_the_mt_is_read_as_the_mt(mt: str) -> None:
    question = ask("x", mt)
    if not set("♯‹›⁅⁆¦") & set(mt):
        assert SEP.render(question).read(SEP.completion(question, mt)) == mt.strip()


@given(mt=TEXTS, human=TEXTS)
def test_a_completion_never_contains_a_stop(mt: str, human: str) -> None:
    assert "###" not in SEP.completion(ask("x", mt), human)


def test_the_name_of_the_format_is_the_hash_of_its_recipe() -> None:
    # Another hash would disown every adapter that was trained before.
    assert SEP.fingerprint == SEP.render(ask("a", "b")).fingerprint == "sep@318078df5661"


def test_unused_fields_are_listed() -> None:
    question = Question("a", "b", "French", "English", context=(("c", "d"),), instructions="Wry.")
    assert SEP.render(question).unused_fields == ("context", "instructions")
