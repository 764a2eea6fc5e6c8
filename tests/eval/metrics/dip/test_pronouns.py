"""Pronouns of the reference and their counterparts in the output."""

from __future__ import annotations

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.metrics.dip.pronouns import DipPronouns, compare_pronouns
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.dip.conftest import corpus_of


@pytest.mark.parametrize(
    ("reference", "output", "outcomes"),
    [
        ("she saw the ship.", "she saw the ship.", ["kept"]),
        ("she saw the ship.", "he saw the ship.", ["wrong"]),
        ("she gave him the lamp.", "he gave her the lamp.", ["wrong", "wrong"]),
        ("he saw her.", "she was seen by him.", ["kept", "kept"]),
        ("she saw the ship.", "Mira saw the ship.", ["lost"]),
        ("it was red.", "that was red.", ["interchangeable"]),
        ("it was red.", "they was red.", ["wrong"]),
        ("Mira gave him his lamp.", "Mira gave his lamp.", ["lost", "kept"]),
    ],
)
def test_each_pronoun_has_its_outcome(reference: str, output: str, outcomes: list[str], listed: Annotator) -> None:
    ours, theirs = listed.annotate([reference, output])
    assert sorted(one.outcome for one in compare_pronouns(ours, theirs)) == sorted(outcomes)


def test_names_and_nouns_that_look_like_pronouns_do_not_count(listed: Annotator) -> None:
    ours, theirs = listed.annotate(["the US left the IT ship.", "he left."])
    assert compare_pronouns(ours, theirs) == []


REFERENCE = ["she saw him.", "the ship left."]


def scored(outputs: list[str], annotator: Annotator) -> Score:
    found = DipPronouns(annotator).count(corpus_of(outputs, REFERENCE), "mine")
    assert isinstance(found, MetricCounts)
    score = found.score()
    assert isinstance(score, Score)
    return score


def test_the_reference_itself_keeps_them_all(listed: Annotator) -> None:
    assert scored(REFERENCE, listed).value == 100


def test_a_change_of_gender_is_a_mismatch_of_its_class(listed: Annotator) -> None:
    score = scored(["he saw him.", "the ship left."], listed)
    assert score.value == 50  # by hand: him is kept, she is wrong
    assert (score.parts["feminine"], score.parts["masculine"], score.parts["neuter"]) == (0, 100, None)
    assert (score.parts["mismatch"], score.parts["lost"], score.parts["of paired"]) == (50, 0, 50)


def test_marks_show_the_wrong_pronoun_on_both_sides(listed: Annotator) -> None:
    corpus = corpus_of(["he saw him.", "the ship left."], REFERENCE)
    marks = list(DipPronouns(listed).marks(corpus, "mine"))
    assert [(mark.side, mark.start, mark.end, mark.note) for mark in marks] == [
        ("reference", 0, 3, "she → he"),
        ("output", 0, 2, "she → he"),
    ]


def test_a_reference_without_pronouns_is_not_measured(listed: Annotator) -> None:
    found = DipPronouns(listed).count(corpus_of(["he left."], ["Mira left."]), "mine")
    assert isinstance(found, MetricCounts)
    assert isinstance(found.score(), Unmeasured)


@pytest.mark.parametrize(
    ("reference", "output", "is_error"),
    [
        ("she saw the ship.", "he saw the ship.", True),
        ("she saw her lamp.", "she saw his lamp.", True),
        ("he saw the ship.", "Mira saw her ship.", False),  # another place of the sentence
        ("she saw the ship.", "it saw the ship.", False),
        ("he saw it.", "she saw that he saw it.", False),  # "he" is there too
        ("she gave him the lamp.", "he gave the lamp.", False),  # him may have become he
    ],
)
def test_only_a_change_of_gender_with_no_other_candidate_is_an_error(
    reference: str, output: str, is_error: bool, listed: Annotator
) -> None:
    ours, theirs = listed.annotate([reference, output])
    assert any(one.is_error for one in compare_pronouns(ours, theirs)) == is_error


@pytest.mark.parametrize(
    ("source", "kind"), [("看见了船。", "wrong"), ("他们看见了船。", "wrong"), ("他看见了船。", "changed")]
)
def test_a_pronoun_that_the_chinese_source_has_is_no_error(source: str, kind: str, listed: Annotator) -> None:
    assert kinds(source, "她来了。", listed) == {kind}


@pytest.mark.parametrize("other", ["他来了。", "她们来了。", "来了。"])
def test_a_chinese_document_that_never_says_the_gender_decides_nothing(other: str, listed: Annotator) -> None:
    assert kinds("看见了船。", other, listed) == {"changed"}


def kinds(source: str, other: str, annotator: Annotator) -> set[str]:
    """The marks of "he saw the ship" for "she saw the ship", where another line of the source is `other`."""
    outputs, references = ("he saw the ship.", "Mira came."), ("she saw the ship.", "Mira came.")
    one = Document("one", {"mine": outputs}, (references,), (source, other))
    return {mark.kind for mark in DipPronouns(annotator).marks(Corpus((one,), "zh", "en"), "mine")}
