"""The trained resolver on its shipped weights."""

from __future__ import annotations

import pytest

from eval.linguistics.annotators import Annotator, annotator_for
from eval.linguistics.coreference.entity_ranker import load_ranker
from eval.linguistics.coreference.resolver import Mention
from eval.linguistics.coreference.trained_resolver import TrainedCoreferenceResolver, default_resolver
from eval.metrics.centering import KpCoherence
from eval.statistics.counts import MetricCounts
from tests.eval.metrics.dip.conftest import corpus_of

STORY = (
    "Mr. Harding walked to Barchester with his daughter Eleanor. He was tired.",
    "Eleanor took his hand, for she loved her father. Mr. Harding smiled at her.",
)


@pytest.fixture(scope="module")
def literary() -> Annotator:
    return annotator_for("en", prefer="literary")


def resolved(annotator: Annotator, *texts: str) -> list[tuple[Mention, ...]]:
    return TrainedCoreferenceResolver().resolve(annotator.annotate(texts))


def entity(found: list[tuple[Mention, ...]], segment: int, text: str) -> str:
    return next(one.entity for one in found[segment] if STORY[segment][one.start : one.end] == text)


def test_names_pronouns_and_genders_are_one_entity_over_segments(literary: Annotator) -> None:
    found = resolved(literary, *STORY)
    harding = entity(found, 0, "Mr. Harding")
    assert entity(found, 0, "He") == entity(found, 1, "Mr. Harding") == harding
    eleanor = entity(found, 1, "Eleanor")
    assert entity(found, 1, "she") == eleanor != harding


def test_mentions_are_in_the_order_of_the_text_with_their_offsets(literary: Annotator) -> None:
    for number, mentions in enumerate(resolved(literary, *STORY)):
        assert [one.start for one in mentions] == sorted(one.start for one in mentions)
        assert all(STORY[number][one.start : one.end].strip() for one in mentions)
        assert all(one.pronoun == (STORY[number][one.start : one.end].lower() in PRONOUNS) for one in mentions)


PRONOUNS = {"he", "his", "she", "her"}


def test_an_annotator_without_mentions_gives_names_and_pronouns() -> None:
    found = resolved(annotator_for("en", prefer="textblob"), *STORY)
    texts = {STORY[number][one.start : one.end] for number, mentions in enumerate(found) for one in mentions}
    assert {"He", "his", "she"} <= texts
    assert not any("daughter" in one for one in texts)


def test_empty_texts_have_no_mentions(literary: Annotator) -> None:
    assert resolved(literary, "", "…") == [(), ()]


def test_centering_takes_it_where_the_annotator_finds_mentions(literary: Annotator) -> None:
    assert isinstance(default_resolver(literary), TrainedCoreferenceResolver)
    assert not isinstance(default_resolver(annotator_for("en", prefer="textblob")), TrainedCoreferenceResolver)
    counted = KpCoherence(annotator=literary).count(corpus_of(STORY, STORY), "mine")
    assert isinstance(counted, MetricCounts)
    assert f"ranker-{load_ranker().version}" in counted.signature
