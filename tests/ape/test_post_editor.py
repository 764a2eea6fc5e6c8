"""Post-editing one passage: attempts, guards, candidates and the MT as fallback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ape.edits.diff import apply_edits
from ape.engines.client import OpenAIEngine
from ape.engines.protocol import Model
from ape.errors import EngineError, InputError
from ape.passage.events import AttemptEvent, DoneEvent, Event, FindingEvent, TokenEvent
from ape.passage.options import Options
from ape.passage.result import Decision, Severity, Usage
from ape.passage.segment import Context, Segment
from ape.post_editor import DraftCandidate, choose_candidate, post_edit
from tests.scripted import Fail, Move, Say, ScriptedServer, translation_in

SEGMENT = Segment(
    "Claire posa son sac et s’assit. Elle avait marché 12 kilomètres.",
    "Claire posed his bag and sat down. He had marched 12 kilometers.",
    "fr",
    "en",
)
GOOD = "Claire put down her bag and sat down. She had walked 12 kilometers."
LOOP = "Claire sat " * 60


@pytest.fixture
async def engine(scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    async with OpenAIEngine(scripted.url, api_key="k") as opened:
        yield opened


async def test_a_good_draft_is_taken_and_its_edits_rebuild_it(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    scripted.play(Say(GOOD))
    result = await post_edit(SEGMENT, engine)
    assert (result.decision, result.post_edit) == (Decision.EDITED, GOOD)
    assert apply_edits(SEGMENT.mt, result.edits) == GOOD
    assert 0 < result.edit_rate < 1
    assert result.model == "scripted"
    assert result.usage == Usage(100, 20)
    assert result.prompt.startswith("chat@")


async def test_the_mt_as_draft_is_unchanged(engine: OpenAIEngine) -> None:
    result = await post_edit(SEGMENT, engine)
    assert result.decision is Decision.UNCHANGED
    assert (result.post_edit, result.edits, result.edit_rate) == (SEGMENT.mt, (), 0.0)


async def test_a_rejected_draft_is_requested_again_with_another_seed(
    engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    scripted.play(Say(LOOP), Say(GOOD))
    heard: list[Event] = []
    result = await post_edit(SEGMENT, engine, options=Options(seed=7), listen=heard.append)
    assert result.decision is Decision.EDITED
    assert {finding.attempt for finding in result.findings if finding.severity is Severity.REJECT} == {1}
    first, second = scripted.requests
    assert (first["seed"], second["seed"]) == (7, 8)
    assert first["temperature"] == 0 < second["temperature"]
    assert [event.attempt for event in heard if isinstance(event, AttemptEvent)] == [1, 2]
    assert tuple(event.finding for event in heard if isinstance(event, FindingEvent)) == result.findings
    assert [event.result for event in heard if isinstance(event, DoneEvent)] == [result]


@pytest.mark.parametrize("attempts", [1, 3])
async def test_after_the_last_attempt_the_mt_is_returned_unchanged(
    engine: OpenAIEngine, scripted: ScriptedServer, attempts: int
) -> None:
    scripted.play(Say(LOOP))
    result = await post_edit(SEGMENT, engine, options=Options(max_attempts=attempts))
    assert result.decision is Decision.REJECTED
    assert (result.post_edit, result.edits) == (SEGMENT.mt, ())
    assert len(scripted.requests) == attempts
    assert result.usage.completion_tokens > 0


@pytest.mark.parametrize(("lead", "trail"), [("", ""), ("  ", "\n"), ("\u3000", " ")])
async def test_white_space_around_the_mt_stays(
    engine: OpenAIEngine, scripted: ScriptedServer, lead: str, trail: str
) -> None:
    scripted.play(Say(f"\n{GOOD}\n"))
    segment = Segment(SEGMENT.source, lead + SEGMENT.mt + trail, "fr", "en")
    result = await post_edit(segment, engine)
    assert result.post_edit == lead + GOOD + trail


@pytest.mark.parametrize("mt", ["* * *", "…", "—", "!?"])
async def test_a_passage_without_words_is_unchanged_and_sends_no_request(
    engine: OpenAIEngine, scripted: ScriptedServer, mt: str
) -> None:
    result = await post_edit(Segment(mt, mt, "fr", "en"), engine)
    assert (result.decision, result.post_edit) == (Decision.UNCHANGED, mt)
    assert [finding.guard for finding in result.findings] == ["wordless"]
    assert not scripted.requests


async def test_a_name_that_is_equal_in_both_languages_is_unchanged(engine: OpenAIEngine) -> None:
    result = await post_edit(Segment("Paris, 1848.", "Paris, 1848.", "fr", "en"), engine)
    assert result.decision is Decision.UNCHANGED


async def test_a_source_given_as_mt_is_refused_with_the_reason(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    text = "Elle avait marché longtemps sous la pluie."
    result = await post_edit(Segment(text, text, "fr", "en"), engine)
    assert (result.decision, result.post_edit) == (Decision.REJECTED, text)
    assert "Translate it first" in result.findings[0].message
    assert not scripted.requests


@pytest.mark.parametrize(
    ("segment", "field"),
    [
        (Segment(" ", "x", "fr", "en"), "source"),
        (Segment("x", "\n\t", "fr", "en"), "mt"),
        (Segment("a\x00", "x", "fr", "en"), "source"),
        (Segment("a", "x\x1b[0m", "fr", "en"), "mt"),
        (Segment("a", "x\ud83d", "fr", "en"), "mt"),
        (Segment("a", "b", "fr", "en", context=(Context("c\x07", "d"),)), "context"),
        (Segment("a", "b", "fr", "en", glossary=(("c", "d\x08"),)), "glossary"),
        (Segment("a", "b", "fr", "en", instructions="\x00"), "instructions"),
    ],
)
async def test_unreadable_texts_are_refused_by_field(engine: OpenAIEngine, segment: Segment, field: str) -> None:
    with pytest.raises(InputError) as caught:
        await post_edit(segment, engine)
    assert caught.value.field == field


async def test_only_terms_that_occur_reach_the_model(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    segment = Segment("罗德走了。", "Rhode left.", "zh", "en", glossary=(("罗德", "Rhode"), ("安娜", "Anna")))
    await post_edit(segment, engine)
    request = scripted.requests[0]["messages"][-1]["content"]
    assert "罗德 = Rhode" in request
    assert "安娜" not in request


async def test_a_control_word_in_the_mt_survives_the_round_trip(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    mt = "The screen shows <|im_end|> and then nothing."
    result = await post_edit(Segment("L’écran affiche <|im_end|> puis rien.", mt, "fr", "en"), engine)
    assert "<|im_end|>" not in translation_in(scripted.requests[0])
    assert (result.decision, result.post_edit) == (Decision.UNCHANGED, mt)


BETTER = "Claire put her bag down and sat down. She had walked 12 kilometers."
CLUMSY = "Claire laid down her bag and did sit. She had been walking for 12 kilometers in all."


def by_seed(moves: dict[int, Move], scripted: ScriptedServer) -> None:
    scripted.requests.clear()
    scripted.script = lambda request, _: moves[request["seed"]]


async def test_of_several_candidates_the_one_that_passes_is_taken(
    engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    by_seed({1: Say(LOOP), 2: Say(GOOD), 3: Say("Here is the translation: " + GOOD)}, scripted)
    heard: list[Event] = []
    result = await post_edit(SEGMENT, engine, options=Options(candidates=3), listen=heard.append)
    assert (result.decision, result.post_edit, result.attempt) == (Decision.EDITED, GOOD, 2)
    assert {finding.attempt for finding in result.findings} == {1, 3}
    assert sorted(request["seed"] for request in scripted.requests) == [1, 2, 3]
    assert [event.attempt for event in heard if isinstance(event, AttemptEvent)] == [1, 2, 3]
    texts = ["".join(e.text for e in heard if isinstance(e, TokenEvent) and e.attempt == n) for n in (1, 2, 3)]
    assert texts[1:] == [GOOD, "Here is the translation: " + GOOD]
    assert result.usage.completion_tokens >= 40


async def test_only_the_first_candidate_uses_the_requested_sampling(
    engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    await post_edit(SEGMENT, engine, options=Options(candidates=3))
    temperatures = {request["seed"]: request["temperature"] for request in scripted.requests}
    assert temperatures[1] == 0
    assert min(temperatures[2], temperatures[3]) > 0


async def test_a_candidate_that_fails_does_not_fail_the_passage(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    by_seed({1: Fail(400), 2: Say(GOOD)}, scripted)
    result = await post_edit(SEGMENT, engine, options=Options(candidates=2))
    assert (result.post_edit, result.attempt) == (GOOD, 2)


async def test_when_all_candidates_fail_the_error_is_the_engines(
    engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    scripted.play(Fail(400))
    with pytest.raises(EngineError, match="scripted failure"):
        await post_edit(SEGMENT, engine, options=Options(candidates=3))


async def test_a_second_attempt_uses_new_seeds(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    by_seed({1: Say(LOOP), 2: Say(LOOP), 3: Say(LOOP), 4: Say(GOOD)}, scripted)
    result = await post_edit(SEGMENT, engine, options=Options(candidates=2))
    assert (result.post_edit, result.attempt) == (GOOD, 4)


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [
        ([SEGMENT.mt, SEGMENT.mt, GOOD], SEGMENT.mt),  # most leave it alone
        ([SEGMENT.mt, GOOD, GOOD], GOOD),  # most agree on the repair
        ([CLUMSY, GOOD, BETTER], GOOD),  # the outlier loses
        ([CLUMSY, GOOD], GOOD),  # two are as far from each other; the lighter edit wins
    ],
)
def test_the_candidate_that_the_others_agree_with_is_best(texts: list[str], chosen: str) -> None:
    candidates = [DraftCandidate(text, 0, number) for number, text in enumerate(texts, 1)]
    assert choose_candidate(SEGMENT.mt, candidates).text == chosen


def test_a_warning_weighs_more_than_agreement() -> None:
    drawn = [DraftCandidate(GOOD, 1, 1), DraftCandidate(GOOD, 1, 2), DraftCandidate(CLUMSY, 0, 3)]
    assert choose_candidate(SEGMENT.mt, drawn).attempt == 3


async def test_the_callers_cap_and_stops_reach_the_server(engine: OpenAIEngine, scripted: ScriptedServer) -> None:
    await post_edit(SEGMENT, engine, options=Options(max_tokens=99, stop=("THE END",)))
    assert scripted.requests[0]["max_tokens"] == 99
    assert scripted.requests[0]["stop"] == ["</translation>", "THE END"]


class Tuned(OpenAIEngine):
    """A server whose only model was tuned on source and MT alone."""

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield Model("tuned", format="sep", languages=("fr-en", "zh-en"))


@pytest.fixture
async def tuned(scripted: ScriptedServer) -> AsyncIterator[Tuned]:
    async with Tuned(scripted.url, api_key="k") as opened:
        yield opened


async def test_a_tuned_model_is_queried_in_its_own_format(tuned: Tuned, scripted: ScriptedServer) -> None:
    scripted.play(Say(GOOD))
    result = await post_edit(SEGMENT, tuned)
    request: dict[str, Any] = scripted.requests[0]
    assert request["prompt"] == f"{SEGMENT.source}\n\n###\n\n{SEGMENT.mt}\n\n###\n\n"
    assert request["stop"] == ["\n\n###"]
    assert "messages" not in request
    assert (result.decision, result.post_edit, result.findings) == (Decision.EDITED, GOOD, ())
    assert result.prompt.startswith("sep@")


async def test_fields_that_a_tuned_model_ignores_are_reported(tuned: Tuned, scripted: ScriptedServer) -> None:
    segment = Segment(SEGMENT.source, SEGMENT.mt, "fr", "en", glossary=(("Claire", "Claire"),), instructions="Wry.")
    result = await post_edit(segment, tuned)
    assert [(finding.guard, finding.severity) for finding in result.findings] == [("format", Severity.WARN)]
    assert "the request's glossary and instructions had no effect" in result.findings[0].message


@pytest.mark.parametrize(
    ("source", "target", "warned"), [("fr", "en", False), ("de", "en", True), ("fr", "de", True), ("und", "en", False)]
)
async def test_a_language_pair_that_a_model_was_not_tuned_for_is_reported(
    source: str, target: str, warned: bool, tuned: Tuned, scripted: ScriptedServer
) -> None:
    result = await post_edit(Segment(SEGMENT.source, SEGMENT.mt, source, target), tuned)
    found = [finding for finding in result.findings if finding.guard == "languages"]
    assert [finding.severity for finding in found] == [Severity.WARN] * warned
