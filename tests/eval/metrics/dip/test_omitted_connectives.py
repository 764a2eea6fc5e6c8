"""Connectives that an output surely leaves out."""

from __future__ import annotations

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.metrics.dip.connectives import DipConnectives

REFERENCE = "However, there was a loud scream in the valley."
LOST = "A loud scream came out of the valley."


def kinds(
    annotator: Annotator, source: str, output: str, *, reference: str = REFERENCE, language: str = "zh", after: str = ""
) -> list[str]:
    texts = (output, after) if after else (output,)
    references = (reference, "They slept.") if after else (reference,)
    sources = (source, "他们睡了。") if after else (source,)
    corpus = Corpus((Document("one", {"mine": texts}, (references,), sources),), language, "en")
    return [mark.kind for mark in DipConnectives(annotator).marks(corpus, "mine")]


def test_a_contrast_that_the_source_says_and_the_output_does_not_is_an_error(english: Annotator) -> None:
    assert kinds(english, "然而，山谷里传来了一声尖叫。", LOST) == ["wrong"]
    corpus = Corpus(
        (Document("one", {"mine": (LOST,)}, ((REFERENCE,),), ("然而，山谷里传来了一声尖叫。",)),), "zh", "en"
    )
    tally = DipConnectives(english).tally(corpus, "mine")["however"]
    assert (tally.lost, tally.errors) == (1, 1)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("山谷里传来了一声尖叫。", LOST),  # the source does not say it
        ("不过三天，山谷里传来了一声尖叫。", LOST),  # merely three days
        ("然而，山谷里传来了一声尖叫。", "Unfortunately, a loud scream came out of the valley."),  # said otherwise
        ("然而，山谷里传来了一声尖叫。", "A scream."),  # the line was not translated as a whole
        ("然而，山谷里传来了一声尖叫。", "a loud scream came out of the valley."),  # the line was cut at its beginning
        ("然而，山谷里传来了一声尖叫。", "A loud scream came out of the valley,"),  # or at its end
    ],
)
def test_what_is_not_sure_is_only_lost(source: str, output: str, english: Annotator) -> None:
    assert kinds(english, source, output) == ["lost"]


def test_a_connective_in_the_next_line_may_be_this_one(english: Annotator) -> None:
    source = "然而，山谷里传来了一声尖叫。"
    assert kinds(english, source, LOST, after="They slept.") == ["wrong"]
    assert kinds(english, source, LOST, after="However, they slept.") == ["lost"]


def test_a_source_that_is_not_chinese_decides_nothing(english: Annotator) -> None:
    assert kinds(english, "Mais un cri retentit dans la vallée.", LOST, language="fr") == ["lost"]


def test_conditions_are_not_judged(english: Annotator) -> None:
    reference = "If you are going to lose, what is the point?"
    assert kinds(english, "如果要输，有什么意义？", "The point of losing is nil.", reference=reference) == ["lost"]


def test_connectives_of_several_senses_are_not_judged(english: Annotator) -> None:
    assert kinds(
        english, "因为下雨，他回家了。", "The man went home: heavy rain.", reference="As it rained, he went home."
    ) == ["lost"]
