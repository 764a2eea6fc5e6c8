"""Error-span judge as a metric: counts by segment, scores per 100 words, resampling."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ape.engines.client import OpenAIEngine
from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.human.vote import Vote
from eval.judge import JudgeOptions, SpanJudgements, judge_spans
from eval.metrics.scoring import ResamplingOptions, measure_systems
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.scripted import Move, Say, ScriptedServer

SOURCES = ("Il fait froid ce soir.", "Elle ferme la porte.", "Le train part à midi.", "On dort.")
GOOD = ("It is cold tonight.", "She shuts the door.", "The train leaves at noon.", "We sleep.")
BAD = ("It makes cold tonight.", "She firms the door.", "The train parts at noon.", "We sleep.")
CORPUS = Corpus(
    (
        Document("one", {"good": GOOD[:2], "bad": BAD[:2]}, sources=SOURCES[:2]),
        Document("two", {"good": GOOD[2:], "bad": BAD[2:]}, sources=SOURCES[2:]),
    ),
    "fr",
    "en",
)
WRONG = {"makes": "minor", "firms": "major", "parts": "minor"}


def listing(text: str) -> str:
    lines = [
        json.dumps({"quote": word, "category": "literal", "severity": severity})
        for word, severity in WRONG.items()
        if word in text
    ]
    return "\n".join(lines) or "none"


def reviser(request: dict[str, Any], turn: int) -> Move:
    """Mark the words in WRONG."""
    content = request["messages"][-1]["content"]
    (text,) = re.findall(r"<translation>\n(.*?)\n</translation>", content, re.DOTALL)
    return Say(f"<errors>\n{listing(text)}\n</errors>")


def answer_on(word: str, answer: str) -> Any:
    return lambda request, turn: Say(answer) if word in request["messages"][-1]["content"] else reviser(request, turn)


def scored(judged: SpanJudgements, system: str) -> Score:
    counted = judged.count(CORPUS, system)
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


@pytest.fixture
def judge(engine: OpenAIEngine, scripted: ScriptedServer) -> OpenAIEngine:
    scripted.script = reviser
    return engine


async def test_the_score_is_error_weight_per_hundred_words(judge: OpenAIEngine, options: JudgeOptions) -> None:
    judged = await judge_spans(CORPUS, judge, options=options)
    # By hand: 1 + 5 + 1 + 0 over the 5 + 4 + 5 + 2 words of the source.
    assert scored(judged, "bad").value == pytest.approx(100 * 7 / 16)
    assert scored(judged, "bad").parts["literal"] == pytest.approx(100 * 7 / 16)
    assert scored(judged, "good").value == 0
    counted = judged.count(CORPUS, "bad")
    assert isinstance(counted, MetricCounts)
    assert counted.document_scores() == pytest.approx([100 * 6 / 9, 100 * 1 / 7])
    assert judged.signature.startswith("judge_spans|model:scripted|prompt:judge_spans@")
    assert "|weights:1,5,25|source:yes|words:source|" in judged.signature


async def test_without_a_source_the_words_of_the_output_count(judge: OpenAIEngine, options: JudgeOptions) -> None:
    judged = await judge_spans(CORPUS, judge, options=options, with_source=False)
    assert scored(judged, "bad").value == pytest.approx(100 * 7 / 15)  # by hand: 4 + 4 + 5 + 2 words
    assert "|source:no|words:output|" in judged.signature


async def test_a_segment_unscored_for_one_system_is_excluded_for_all(
    judge: OpenAIEngine, scripted: ScriptedServer, options: JudgeOptions
) -> None:
    scripted.script = answer_on("She shuts", "I like it.")
    judged = await judge_spans(CORPUS, judge, options=options)
    assert judged.unscored("good") == {"no_verdict": 1}
    assert not judged.unscored("bad")
    assert judged.common == (True, False, True, True)
    assert scored(judged, "bad").value == pytest.approx(100 * 2 / 12)
    values = judged.to_dict()
    assert (values["segments"], values["scored"]) == (4, 3)
    assert values["systems"]["good"]["unscored"] == {"no_verdict": 1}


async def test_a_judge_without_usable_answers_is_unmeasured(
    judge: OpenAIEngine, scripted: ScriptedServer, options: JudgeOptions
) -> None:
    scripted.play(Say("Lovely."))
    judged = await judge_spans(CORPUS, judge, options=options)
    assert isinstance(judged.count(CORPUS, "bad"), Unmeasured)
    assert judged.to_dict()["systems"]["bad"]["score"] is None


async def test_dropped_quotes_are_counted_by_system(
    judge: OpenAIEngine, scripted: ScriptedServer, options: JudgeOptions
) -> None:
    invented = json.dumps({"quote": "a walrus", "category": "style", "severity": "minor"})
    scripted.script = answer_on("It makes", f"<errors>\n{invented}\n{listing('makes')}\n</errors>")
    judged = await judge_spans(CORPUS, judge, options=options)
    assert judged.dropped("bad") == {"not_in_text": 1}
    assert scored(judged, "bad").value == pytest.approx(100 * 7 / 16)


async def test_span_scores_are_resampled_and_tested_like_any_metric(judge: OpenAIEngine, options: JudgeOptions) -> None:
    again = tuple(replace(one, id=f"{one.id} again") for one in CORPUS.documents)
    longer = replace(CORPUS, documents=(*CORPUS.documents, *again))
    judged = await judge_spans(longer, judge, options=options)
    results = measure_systems(longer, [judged], resampling=ResamplingOptions("segment", "bad", samples=200))
    row = next(row for row in results.to_dict()["scores"] if row["system"] == "good")
    assert row["better"] == "lower"
    assert row["difference"] == pytest.approx(-100 * 7 / 16)
    assert 0 <= row["p_value"] <= 1


async def test_marks_have_the_spans_of_the_errors(judge: OpenAIEngine, options: JudgeOptions) -> None:
    judged = await judge_spans(CORPUS, judge, options=options)
    assert [mark.kind for mark in judged.marks(CORPUS, "bad")] == ["literal"] * 3
    first = next(judged.marks(CORPUS, "bad"))
    assert (first.document, first.segment, BAD[0][first.start : first.end]) == ("one", 0, "makes")
    assert [mark.document for mark in judged.marks(CORPUS, "bad")] == ["one", "one", "two"]


async def test_spans_become_pairwise_verdicts_for_agreement_with_votes(
    judge: OpenAIEngine, options: JudgeOptions
) -> None:
    judged = (await judge_spans(CORPUS, judge, options=options)).as_pairs("good", "bad")
    assert judged.tallies()[0].wins == (3, 0)
    assert judged.tallies()[0].ties == 1
    votes = [
        Vote("one:1", "r", "bad", "good", "second"),
        Vote("one:2", "r", "good", "bad", "first"),
        Vote("two:1", "r", "good", "bad", "second"),
    ]
    values = judged.with_agreement(votes).to_dict()
    assert (values["agreement"]["agreed"], values["agreement"]["items"]) == (2, 3)


async def test_a_blank_output_is_not_judged(
    judge: OpenAIEngine, scripted: ScriptedServer, options: JudgeOptions
) -> None:
    blank = Corpus((replace(CORPUS.documents[0], outputs={"good": ("…", GOOD[1])}),), "fr", "en")
    judged = await judge_spans(blank, judge, options=options)
    assert len(scripted.requests) == 1
    assert judged.unscored("good") == {"blank": 1}


async def test_another_corpus_and_unknown_systems_are_rejected(judge: OpenAIEngine, options: JudgeOptions) -> None:
    judged = await judge_spans(CORPUS, judge, options=options, systems=["good"])
    assert isinstance(judged.count(CORPUS, "bad"), Unmeasured)
    other = Corpus(CORPUS.documents[:1], "fr", "en")
    with pytest.raises(InputError, match="another corpus"):
        judged.count(other, "good")
    with pytest.raises(InputError, match="no system 'none'"):
        await judge_spans(CORPUS, judge, options=options, systems=["none"])
