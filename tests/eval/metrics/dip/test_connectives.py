"""Connectives: detection in the reference, and matches in the output."""

from __future__ import annotations

import pytest

from eval.linguistics.annotators import Annotator
from eval.metrics.dip.connectives import (
    ConnectiveUse,
    DipConnectives,
    find_connective_candidates,
    find_connectives,
    match_connectives,
)
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.dip.conftest import corpus_of

# Connectives in discourse use are in brackets.
USES = """
[Since] he left, nobody has sung.
[Since] you know the way, you should lead us.
He has not slept since Monday.
He has lived here since 1990.
I have not seen her since then.
The road was closed, [so] we walked along the river.
[So], you came back.
I think so.
She was so tired that nobody woke her.
He whispered [so that] the guard could not hear him.
[While] the water boiled, he cut the bread.
She hummed [while] washing the cups.
They waited for a while.
It took him a while.
[As] she opened the door, the dog barked.
He worked as a baker.
The tower is as tall as the oak.
She sells fruits such as plums.
He walked [as if] he were asleep.
[Then] the bell rang.
He locked the gate [and] [then] he went home.
By then it was dark.
Just then a shot rang out.
[Still], nobody believed him.
He was still there.
[Yet] nobody came.
He has not arrived yet.
They heard yet another story.
We have yet to see it.
[When] the rain stopped, the children ran out.
When did she arrive?
He asked when the train would leave.
[If] you sell the farm, you will regret it.
She wondered if he would come.
[After] he had eaten, he slept.
[After] hearing the news, she wept.
We met after dinner.
[Before] the sun rose, they were gone.
I have seen it before.
[Once] you have seen it, you will understand.
He was once a soldier.
Come here at once.
[Because] it rained, the match was cancelled.
They stayed because of the rain.
[However], the door was locked.
However hard he tried, the door stayed shut.
He bought apples and pears.
He opened the box [and] took out a letter.
The wind fell, [and] the ship stood still.
She wanted to leave, [but] the door was locked.
He ate nothing but bread.
He hid, [for] he knew the voice.
This letter is for you.
You must hurry, [or] you will miss the ferry.
Do you want tea or milk?
He escaped [by] climbing the wall.
The book was written by a monk.
She left [without] saying a word.
[Instead], he laughed.
He drank milk instead of wine.
I will wait [until] she comes home.
We stayed until midnight.
"""


@pytest.mark.parametrize("line", USES.strip().splitlines())
def test_discourse_use_is_distinguished_from_other_uses(line: str, english: Annotator) -> None:
    text = line.replace("[", "").replace("]", "")
    expected = [part.split("]")[0].lower() for part in line.split("[")[1:]]
    assert [use.name for use in find_connectives(english.annotate([text])[0])] == expected


def test_in_the_output_any_possible_connective_counts(english: Annotator) -> None:
    annotation = english.annotate(["They waited for a while, as tall as towers."])[0]
    assert not find_connectives(annotation)
    assert [use.name for use in find_connective_candidates(annotation)] == ["while", "as", "as"]


REFERENCE = ["He was tired, but he went on.", "When the rain stopped, they left.", "The sun rose."]


def counted(outputs: list[str], annotator: Annotator, reference: list[str] = REFERENCE) -> MetricCounts:
    found = DipConnectives(annotator).count(corpus_of(outputs, reference), "mine")
    assert isinstance(found, MetricCounts)
    return found


def scored(outputs: list[str], annotator: Annotator) -> Score:
    score = counted(outputs, annotator).score()
    assert isinstance(score, Score)
    return score


def test_the_reference_itself_has_them_all(english: Annotator) -> None:
    score = scored(REFERENCE, english)
    assert (score.value, score.parts["any"], score.parts["lost"]) == (100, 100, 0)


def test_another_connective_is_any_but_not_the_same(english: Annotator) -> None:
    score = scored(["He was tired, yet he went on.", *REFERENCE[1:]], english)
    assert (score.value, score.parts["any"]) == (50, 100)  # by hand: 1 of 2 the same, both matched
    assert score.parts["acc of comparison"] == 0
    assert score.parts["acc of temporal"] == 100
    assert score.parts["acc of expansion"] is None


def test_a_lost_connective_is_counted_named_and_marked(english: Annotator) -> None:
    outputs = ["He was tired. He went on.", *REFERENCE[1:]]
    score = scored(outputs, english)
    assert (score.value, score.parts["any"], score.parts["lost"]) == (50, 50, 50)
    metric, corpus = DipConnectives(english), corpus_of(outputs, REFERENCE)
    tally = metric.tally(corpus, "mine")
    assert (tally["but"].lost, tally["when"].same) == (1, 1)
    (mark,) = metric.marks(corpus, "mine")
    assert (mark.kind, mark.side, REFERENCE[0][mark.start : mark.end]) == ("lost", "reference", "but")


def test_a_connective_of_the_output_matches_only_one(english: Annotator) -> None:
    reference = ["When he came, she was gone, but the door was open."]
    score = counted(["When he came, the door was open."], english, reference).score()
    assert isinstance(score, Score)
    assert (score.value, score.parts["any"]) == (50, 50)


def test_a_reference_without_connectives_is_not_measured(english: Annotator) -> None:
    assert isinstance(counted(["The sun rose."], english, ["The sun rose."]).score(), Unmeasured)


@pytest.mark.parametrize(
    ("reference", "output", "compatible"),
    [("but", "yet", True), ("however", "if", False), ("because", "if", False), ("since", "because", True),
     ("while", "but", True), ("when", "because", False), ("then", "afterwards", True), ("although", "though", True)],
)  # fmt: skip
def test_any_credits_only_a_connective_of_a_compatible_sense(reference: str, output: str, compatible: bool) -> None:
    (match,) = match_connectives([ConnectiveUse(reference, 0, 0, 1)], [ConnectiveUse(output, 0, 0, 1)])
    assert (match.output_use is not None) == compatible
