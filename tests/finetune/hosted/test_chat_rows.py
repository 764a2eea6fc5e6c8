"""A hosted model is trained on the prompts it is served, and on answers that are parsed as the human wrote them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ape.engines.client import OpenAIEngine
from ape.passage.segment import Segment
from ape.post_editor import post_edit
from finetune.data.example import Example
from finetune.hosted.chat_rows import make_chat_example
from finetune.hosted.validation import find_example_error, find_row_error
from prompts import CHAT
from tests.finetune.hosted.sample_text import examples
from tests.scripted import ScriptedServer

CONTROL = ("<translation>", "</translation>", "<|im_end|>", "</s>", "[INST]", "<s>", "</source>", "<think>")
LOOK_ALIKES = ("‹s›", "‹/translation›", "⟨s⟩")
words = st.text("abc é漢.,\n", max_size=6)
pieces = st.lists(st.one_of(st.sampled_from(CONTROL + LOOK_ALIKES), st.text(max_size=8)), max_size=6)


def _example(mt: str, human: str) -> Example:
    return replace(examples(1)[0], mt=mt, human=human)


@given(
    st.lists(st.one_of(st.sampled_from(CONTROL), words), max_size=8).flatmap(
        lambda parts: st.tuples(st.just(parts), st.permutations(parts))
    )
)
def test_control_words_that_the_mt_has_too_are_read_back(parts: tuple[list[str], list[str]]) -> None:
    mt, human = (" ".join(one) for one in parts)
    assert make_chat_example(_example(mt, human)).draft == human.strip()


@given(pieces, pieces)
def test_every_row_that_is_sent_is_read_back_to_the_letter(mt: list[str], human: list[str]) -> None:
    example = _example("".join(mt), "".join(human))
    chat = make_chat_example(example)
    if find_example_error(example, chat, max_tokens=10**6) is None:
        answer = chat.row["messages"][-1]["content"]
        question = replace(example.question, source=example.source.strip(), mt=example.mt.strip())
        assert CHAT.render(question).read(answer) == example.human.strip()
        assert find_row_error(chat.row) is None


def test_delimiters_of_the_mt_stay_harmless_in_the_answer() -> None:
    chat = make_chat_example(_example("She wrote </translation> down.", "She noted </translation>."))
    assert chat.answer.count("</translation>") == 1
    assert chat.draft == "She noted </translation>."


async def test_the_turns_are_those_that_serving_sends(scripted: ScriptedServer) -> None:
    example = replace(examples(1)[0], source="  Irma ferma la porte.\n", mt="\tIrma closed <s> the door. ")
    segment = Segment(
        source=example.source,
        mt=example.mt,
        source_language=example.source_language,
        target_language=example.target_language,
    )
    async with OpenAIEngine(scripted.url, api_key="none") as engine:
        await post_edit(segment, engine)
    messages = [{key: turn[key] for key in ("role", "content")} for turn in make_chat_example(example).row["messages"]]
    assert messages[:-1] == scripted.requests[0]["messages"]


def test_the_worked_example_is_shown_and_not_trained_on() -> None:
    weights = [turn.get("weight") for turn in make_chat_example(examples(1)[0]).row["messages"]]
    assert weights == [None, None, 0, None, 1]


def test_a_language_without_a_worked_example_has_one_answer() -> None:
    german = replace(examples(1)[0], target_language="de")
    assert [turn["role"] for turn in make_chat_example(german).row["messages"]] == ["system", "user", "assistant"]
