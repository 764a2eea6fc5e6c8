"""The edit filter undoes uncertain edits and keeps the rest of the draft."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ape.edits.filter import EditFilter
from ape.engines.client import OpenAIEngine
from ape.engines.protocol import Model
from ape.passage.edit import EditKind
from ape.passage.result import Decision
from ape.passage.segment import Draft, Segment, TokenLogprobs
from ape.post_editor import post_edit
from tests.scripted import Raw, ScriptedServer

SEGMENT = Segment("Anna vint.", "Anna come from Rome today.", "fr", "en")
TEXT = "Anna came from Paris today."
LOGPROBS = (
    TokenLogprobs("Anna", 0.0),
    TokenLogprobs(" came", -0.1),
    TokenLogprobs(" from", 0.0),
    TokenLogprobs(" Paris", -2.0),
    TokenLogprobs(" today.", 0.0),
)
# A filter on the log-probability of the first token: one half at -1.
BY_LEAD = EditFilter(features={"lead": (-1.0, 1.0, 5.0)}, bias=0.0, threshold=0.5)


def test_likely_edits_are_kept_and_unlikely_ones_undone() -> None:
    outcome = BY_LEAD.apply(SEGMENT, Draft(TEXT, logprobs=LOGPROBS))
    assert outcome.text == "Anna came from Rome today."
    assert [(edit.before, edit.after) for edit in outcome.undone] == [("Rome", "Paris")]
    assert [edit.after for edit in outcome.kept] == ["came"]


def test_neighbours_pass_or_fail_together_if_asked() -> None:
    segment = Segment("Le 3 mai.", "On 3 May he come.", "fr", "en")
    logprobs = tuple(map(TokenLogprobs, ("On", " May", " 3", " he", " came."), (0.0, -0.1, -3.0, 0.0, -0.1)))
    draft = Draft("On May 3 he came.", logprobs=logprobs)
    joined = BY_LEAD.model_copy(update={"joins_neighbours": True})
    assert joined.apply(segment, draft).text == "On 3 May he came."


RESTORING = EditFilter(features={}, bias=-9.0, threshold=0.5, restores_names=True, refused_kinds=(EditKind.NAME,))


@pytest.mark.parametrize(
    ("source", "mt", "draft", "kept"),
    [
        ("Castelul Severin a ars.", "Severei Castle burned.", "Severin Castle burned.", True),
        ("Zidurile Severinului au ars.", "The walls of Severei burned.", "The walls of Severin burned.", True),
        ("Замок Шереметьев сгорел.", "Sheremetov Castle burned.", "Sheremetyev Castle burned.", True),
        ("Максим сгорел.", "Maksim burned.", "Maxim burned.", False),  # the source has it as the MT does
        ("Castelul a ars.", "Severei Castle burned.", "Severin Castle burned.", False),  # the source has neither
        ("Ann a venit.", "Anne came.", "Ann came.", False),  # too short to tell a slip from another name
    ],
)
def test_a_name_of_the_source_is_restored_though_names_are_refused(
    source: str, mt: str, draft: str, kept: bool
) -> None:
    segment = Segment(source, mt, "ro", "en")
    outcome = RESTORING.apply(segment, Draft(draft, logprobs=(TokenLogprobs(draft, -1.0),)))
    assert outcome.text == (draft if kept else mt)
    unsure = RESTORING.model_copy(update={"restores_names": False})
    assert unsure.apply(segment, Draft(draft, logprobs=(TokenLogprobs(draft, -1.0),))).text == mt


def test_a_draft_without_logprobs_is_undone() -> None:
    outcome = BY_LEAD.apply(SEGMENT, Draft(TEXT))
    assert (outcome.text, outcome.kept) == (SEGMENT.mt, ())


@given(st.floats(0, 1), st.text(alphabet="ab .", max_size=12), st.text(alphabet="ab .", min_size=1, max_size=12))
def test_the_result_is_between_mt_and_draft(threshold: float, made: str, mt: str) -> None:
    made = made.strip()
    edit_filter = EditFilter(features={"lead": (0.0, 1.0, 1.0)}, bias=0.0, threshold=threshold)
    logprobs = tuple(TokenLogprobs(character, -0.1 * at) for at, character in enumerate(made))
    outcome = edit_filter.apply(Segment("x", mt, "fr", "en"), Draft(made, logprobs=logprobs))
    if not outcome.undone:
        assert outcome.text == made
    if not outcome.kept:
        assert outcome.text == mt.strip()


def test_a_threshold_of_one_undoes_every_edit() -> None:
    edit_filter = EditFilter(features={"lead": (-1.0, 0.001, 50.0)}, bias=50.0, threshold=1.0)
    assert edit_filter.apply(SEGMENT, Draft(TEXT, logprobs=LOGPROBS)).kept == ()


def test_a_filter_with_an_unknown_feature_is_refused() -> None:
    with pytest.raises(ValidationError, match="moon, which this version does not know"):
        EditFilter(features={"moon": (0.0, 1.0, 1.0)}, bias=0.0, threshold=0.5)


NOTHING = EditFilter(features={}, bias=0.0, threshold=1.0)
LOOPED = "He bows to the king, to the king, to the king, to the king, and goes."


@pytest.mark.parametrize("draft", ["He bows to the king, and goes.", "He bows to the king, to the king, and goes."])
def test_cutting_a_loop_is_accepted_at_any_probability(draft: str) -> None:
    segment = Segment("Il salue le roi et part.", LOOPED, "fr", "en")
    assert NOTHING.apply(segment, Draft(draft)).text == draft


def test_other_edits_near_a_loop_are_filtered() -> None:
    segment = Segment("Il salue le roi et part.", LOOPED, "fr", "en")
    outcome = NOTHING.apply(segment, Draft("She bows to the king, and goes."))
    assert outcome.text == "He bows to the king, and goes."
    assert [edit.after for edit in outcome.undone] == ["She"]


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        ("I do not know, I do not know, I do not know, he said.", "I do know, I do know, I do know, he said."),
        ("The big dog, the big dog, the big dog sleeps.", "The dog, the dog, the dog sleeps."),
        (LOOPED, "He bows to the king, to, and goes."),
    ],
)
def test_only_whole_rounds_of_a_loop_are_cut(mt: str, draft: str) -> None:
    assert NOTHING.apply(Segment("Il ne sait pas.", mt, "fr", "en"), Draft(draft)).text == mt


def test_a_loop_that_the_draft_leaves_is_cut_and_reported_if_the_filter_cuts_loops() -> None:
    segment = Segment("Il salue le roi et part.", LOOPED, "fr", "en")
    cutting = NOTHING.model_copy(update={"cuts_loops": True})
    assert NOTHING.apply(segment, Draft(LOOPED)).text == LOOPED
    outcome = cutting.apply(segment, Draft(LOOPED))
    assert outcome.text == "He bows to the king, and goes."
    assert outcome.loops == ("to the king",)
    author = Segment("Il salue le roi, le roi, le roi, et part.", LOOPED, "fr", "en")
    assert cutting.apply(author, Draft(LOOPED)).text == LOOPED


def test_a_joining_word_is_cut_with_its_round() -> None:
    mt, draft = "He was very strong , and very strong , and very strong .", "He was very strong ."
    assert NOTHING.apply(Segment("Il était fort .", mt, "fr", "en"), Draft(draft)).text == draft


@pytest.mark.parametrize(
    ("source", "draft"),
    [
        ("Il salue le roi, le roi, le roi, et part.", "He bows to the king, and goes."),  # the author's own
        ("Il salue le roi et part.", "He bows, and goes."),  # not one round is left
    ],
)
def test_repetition_by_the_author_and_the_last_round_are_not_cut(source: str, draft: str) -> None:
    assert NOTHING.apply(Segment(source, LOOPED, "fr", "en"), Draft(draft)).text == LOOPED


class Gated(OpenAIEngine):
    """A server whose model has an edit filter."""

    async def models(self) -> tuple[Model, ...]:
        self._known = (Model("scripted", format="sep", edit_filter=BY_LEAD),)
        return self._known


def stream(shape: str) -> str:
    """The draft as streamed by llama.cpp or vLLM."""
    events = []
    for token in LOGPROBS:
        logprobs_json: dict[str, Any] = (
            {"content": [{"token": token.text, "bytes": list(token.text.encode()), "logprob": token.logprob}]}
            if shape == "llama.cpp"
            else {
                "tokens": [token.text],
                "token_logprobs": [token.logprob],
                "top_logprobs": [{token.text: token.logprob}],
            }
        )
        events.append({"choices": [{"index": 0, "text": token.text, "logprobs": logprobs_json, "finish_reason": None}]})
    events.append({"choices": [{"index": 0, "text": "", "logprobs": None, "finish_reason": "stop"}]})
    import json

    lines = [
        json.dumps({"id": "1", "object": "text_completion", "created": 1, "model": "m", **event}) for event in events
    ]
    return "".join(f"data: {line}\n\n" for line in lines) + "data: [DONE]\n\n"


@pytest.mark.parametrize("shape", ["llama.cpp", "vllm"])
async def test_a_passage_is_filtered_by_the_filter_of_its_model(scripted: ScriptedServer, shape: str) -> None:
    scripted.play(Raw(stream(shape)))
    async with Gated(scripted.url, api_key="k") as engine:
        result = await post_edit(SEGMENT, engine)
    assert (result.decision, result.post_edit) == (Decision.EDITED, "Anna came from Rome today.")
    (finding,) = result.findings
    assert finding.guard == "gate"
    assert "“Rome” → “Paris”" in finding.message
    assert scripted.requests[-1]["logprobs"] == 10


def test_the_halves_of_a_moved_word_pass_or_fail_together() -> None:
    segment = Segment("Il fit demander à Jean.", "He made Jean ask why.", "fr", "en")
    logprobs = tuple(map(TokenLogprobs, ("He", " asked", " Jean", " why."), (0.0, -0.1, 0.0, -4.0)))
    alone = BY_LEAD.apply(segment, Draft("He asked Jean why.", logprobs=logprobs))
    joined = BY_LEAD.model_copy(update={"joins_neighbours": True})
    assert alone.text == "He asked Jean ask why."
    assert joined.apply(segment, Draft("He asked Jean why.", logprobs=logprobs)).text == segment.mt
