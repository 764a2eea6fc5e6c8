"""BlonDe: hand-computed values, invariants, and the example chapter of BWB."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.blonde import plain_blonde
from eval.corpus.corpus import Corpus, Document
from eval.metrics.blonde import AnnotatedName, Blonde, BlondePlus, BlondeWeights, DiscourseBlonde
from eval.metrics.metric import MarkingMetric, Metric
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.blonde.conftest import InlineTagAnnotator, corpus

REFERENCE = "Anna/NNP saw/VBD her/PRP but/CC he/PRP left/VBD"
OUTPUT = "Anna/NNP saw/VBD him/PRP and/CC he/PRP leaves/VBZ"
BLONDE = Blonde(annotator=InlineTagAnnotator())
DISCOURSE = DiscourseBlonde(annotator=InlineTagAnnotator())


def counted(metric: Blonde, given: Corpus) -> MetricCounts:
    found = metric.count(given, "mt")
    assert isinstance(found, MetricCounts), found
    return found


def scored(metric: Blonde, given: Corpus) -> Score:
    score = counted(metric, given).score()
    assert isinstance(score, Score), score
    return score


@pytest.mark.parametrize(("metric", "name"), [(BLONDE, "blonde"), (DISCOURSE, "dblonde"), (BlondePlus(), "blonde+")])
def test_each_variant_is_a_metric_with_marks(metric: Blonde, name: str) -> None:
    counting: Metric = metric
    marking: MarkingMetric = metric
    assert counting.name == name
    assert counting.higher_is_better
    assert marking is metric


def test_one_line_by_hand() -> None:
    score = scored(BLONDE, corpus([OUTPUT], [REFERENCE]))
    # tense: 1 VBD of 2, 1 of VBD and VBZ; pronoun: 1 masculine of 2 on both sides; name 1 of 1; "but" is lost, and the
    # output has no marker at all: its precision is left out. Words 3 of 6, pairs 1 of 5, then none of 4 and of 3:
    # smoothed to 1/(2·4) and 1/(4·3), as sacrebleu does.
    shared = [1 / 2, 1 / 2, 1, 3 / 6, 1 / 5, 1 / 8, 1 / 12]
    recall = math.prod([*shared, 1e-5]) ** (1 / 8)
    precision = math.prod(shared) ** (1 / 7)
    assert score.parts["recall"] == pytest.approx(recall)
    assert score.parts["precision"] == pytest.approx(precision)
    assert score.value == pytest.approx(2 * recall * precision / (recall + precision))
    assert {key: score.parts[key] for key in ("tense", "pronoun", "entity", "dm")} == pytest.approx(
        {"tense": 0.5, "pronoun": 0.5, "entity": 1.0, "dm": 0.0}
    )


def test_dblonde_is_over_the_four_discourse_keys() -> None:
    score = scored(DISCOURSE, corpus([OUTPUT], [REFERENCE]))
    recall, precision = (1 / 2 * 1 / 2 * 1e-5) ** (1 / 4), (1 / 2 * 1 / 2) ** (1 / 3)
    assert score.value == pytest.approx(2 * recall * precision / (recall + precision))
    assert "n-grams" not in score.parts


def test_matches_are_counted_by_line_and_summed() -> None:
    # A surplus pronoun in the second line does not match one missing in the first.
    score = scored(BLONDE, corpus(["he/PRP x/X", "y/Y"], ["x/X", "he/PRP y/Y"]))
    assert score.parts["pronoun"] == 0.0


def test_of_several_references_the_largest_count_holds() -> None:
    rows = counted(BLONDE, corpus(["he/PRP he/PRP a/A"], ["he/PRP a/A a/A"], ["he/PRP he/PRP b/B"])).rows
    masculine, words = 7, 18
    match, reference, output = rows[0].reshape(3, -1)[:, [masculine, words]]
    assert match.tolist() == [2, 3]  # he twice; he twice and a once
    assert reference.tolist() == [2, 5]  # he 2, a 2, b 1
    assert output.tolist() == [2, 3]


def test_counting_does_not_change_later_counts() -> None:
    given = corpus([OUTPUT], [REFERENCE], ["Anna/NNP slept/VBD"])
    first = counted(BLONDE, given).rows
    plus = BlondePlus(annotator=InlineTagAnnotator(), ambiguity={("d", 0): ["saw"]})
    assert plus.count(given, "mt") is not None
    np.testing.assert_array_equal(counted(BLONDE, given).rows, first)


def test_a_segment_without_any_reference_counts_nothing() -> None:
    whole = corpus([OUTPUT, "he/PRP ran/VBD"], [REFERENCE, None])
    assert scored(BLONDE, whole).value == scored(BLONDE, corpus([OUTPUT], [REFERENCE])).value
    assert not counted(BLONDE, whole).rows[1].any()


def test_a_reference_may_be_missing_in_places() -> None:
    both = corpus([OUTPUT, OUTPUT], [REFERENCE, None], [None, OUTPUT])
    assert scored(BLONDE, both).parts["tense"] == pytest.approx(3 / 4)


def test_an_empty_output_scores_nothing_and_two_empty_sides_are_not_measured() -> None:
    assert scored(BLONDE, corpus([""], [REFERENCE])).value == 0.0
    found = counted(BLONDE, corpus([""], [""])).score()
    assert isinstance(found, Unmeasured)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (corpus([OUTPUT], [REFERENCE], language="de"), "of English"),
        (corpus([OUTPUT], [REFERENCE], language="und"), "of English"),
        (corpus([OUTPUT]), "there is none"),
        (corpus([OUTPUT], [None]), "there is none"),
    ],
)
def test_an_unsupported_corpus_is_not_measured(given: Corpus, why: str) -> None:
    found = BLONDE.count(given, "mt")
    assert isinstance(found, Unmeasured)
    assert why in found.why


@pytest.mark.parametrize(
    ("part", "word", "other"),
    [
        ("pronoun", "her/PRP", "him/PRP"),
        ("entity", "Anna/NNP", "Bob/NNP"),
        ("tense", "left/VBD", "leaves/VBZ"),
        ("dm", "but/CC", "so/RB"),
    ],
)
def test_a_swap_lowers_its_own_category_and_no_other(part: str, word: str, other: str) -> None:
    score = scored(BLONDE, corpus([REFERENCE.replace(word, other)], [REFERENCE]))
    lower = {name for name in ("tense", "pronoun", "entity", "dm") if score.parts[name] != 1.0}
    assert lower == {part}
    assert score.value < 1


def test_a_marker_of_several_words_counts_within_a_line_only() -> None:
    rows = counted(BLONDE, corpus(["As/IN a/DT", "result/NN as/IN a/DT Result/NN"], ["x/X", "x/X"])).rows
    assert rows[:, 2 * 24 + 14].tolist() == [0, 1]


def test_else_is_a_marker_with_and_without_a_comma() -> None:
    rows = counted(BLONDE, corpus(["else/RB ,/,"], ["x/X"])).rows
    assert rows[0, 2 * 24 + 15] == 1


def test_pronouns_count_in_any_case() -> None:
    assert scored(BLONDE, corpus(["HIM/PRP"], ["him/PRP"])).parts["pronoun"] == 1.0


def test_n_grams_are_case_sensitive_by_default() -> None:
    given = corpus(["ANNA/NNP Left/VBD"], ["Anna/NNP left/VBD"])
    assert scored(BLONDE, given).parts["entity"] == 0.0
    lower = replace(BLONDE, lowercase=True)
    assert scored(lower, given).value == 1.0
    assert "|case:mixed|" in scored(BLONDE, given).signature
    assert "|case:lc|" in scored(lower, given).signature


def test_weights_decide_which_pronouns_and_names_count() -> None:
    given = corpus(["it/PRP Rome/GPE"], ["they/PRP Paris/GPE"])
    assert scored(BLONDE, given).parts["pronoun"] is None
    even = replace(BLONDE, weights=BlondeWeights(pronoun=(0.25,) * 4, entity=(0.5, 0.5)))
    assert scored(even, given).parts["pronoun"] == 0.0
    assert scored(even, given).parts["entity"] == 0.0
    assert "|pronoun:0.25/0.25/0.25/0.25|entity:0.5/0.5|" in scored(even, given).signature


def test_annotated_names_decide_for_the_references_and_are_found_in_the_output() -> None:
    given = corpus(["Joe/X saw/VBD Bob/NNP"], ["Joe/X saw/VBD Paris/NNP"])
    assert scored(BLONDE, given).parts["entity"] == 0.0
    annotated = replace(BLONDE, names={("d", 0): [AnnotatedName("Joe")]})
    # Joe matches, Bob is a surplus name, and Paris is not annotated as a person.
    assert scored(annotated, given).parts["entity"] == pytest.approx(2 / 3)
    assert "|names:annotated|" in scored(annotated, given).signature


def test_blonde_plus_adds_a_key_for_each_annotation() -> None:
    given = corpus([OUTPUT], [REFERENCE])
    plus = BlondePlus(annotator=InlineTagAnnotator(), ambiguity={("d", 0): ["saw"]}, ellipsis={("d", 0): ["her", "he"]})
    score = scored(plus, given)
    assert score.parts["ambiguity"] == 1.0
    # "her" is lost, "he" is kept: one of two; whole words only, so no "he" in "her".
    assert score.parts["ellipsis"] == pytest.approx(2 / 3)
    plain = scored(BLONDE, given)
    recall = plain.parts["recall"]
    assert recall is not None
    assert score.parts["recall"] == pytest.approx((recall**8 * 1 * (1 / 2)) ** (1 / 10))


def test_blonde_plus_without_annotation_is_not_measured() -> None:
    found = BlondePlus(annotator=InlineTagAnnotator()).count(corpus([OUTPUT], [REFERENCE]), "mt")
    assert isinstance(found, Unmeasured)
    assert "annotated" in found.why


def test_lost_and_added_words_are_marked() -> None:
    marks = list(BLONDE.marks(corpus([OUTPUT], [REFERENCE]), "mt"))
    texts = {"reference": REFERENCE, "output": OUTPUT}
    words = {(one.kind, texts[one.side][one.start :].partition("/")[0], one.note) for one in marks}
    assert words == {
        ("lost", "left", "tense: VBD"),
        ("added", "leaves", "tense: VBZ"),
        ("lost", "her", "pronoun: feminine"),
        ("added", "he", "pronoun: masculine"),
        ("lost", "but", "dm: comparison"),
    }


WORDS = "he/PRP She/PRP it/PRP ran/VBD runs/VBZ may/MD but/CC in/IN contrast/NN Anna/NNP Rome/GPE then/RB a/X b/X"
LINES = st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)
TEXTS = st.lists(st.tuples(LINES, LINES), min_size=1, max_size=6)


@settings(deadline=None, max_examples=60)
@given(TEXTS)
def test_array_counts_equal_those_of_a_plain_loop(pairs: list[tuple[str, str]]) -> None:
    outputs, references = zip(*pairs, strict=True)
    found = counted(BLONDE, corpus(outputs, references)).score()
    annotate = InlineTagAnnotator().annotate
    if isinstance(found, Score) and any(outputs):
        assert found.value == pytest.approx(plain_blonde(annotate(outputs), annotate(references)))


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.randoms())
def test_order_and_doubling_of_documents_change_nothing(pairs: list[tuple[str, str]], chance: random.Random) -> None:
    documents = [Document(str(place), {"mt": (one,)}, ((other,),)) for place, (one, other) in enumerate(pairs)]
    twice = documents + [replace(one, id=one.id + "'") for one in documents]
    once = counted(BLONDE, Corpus(tuple(documents), "zh", "en")).score()
    chance.shuffle(twice)
    other = counted(BLONDE, Corpus(tuple(twice), "zh", "en")).score()
    if isinstance(once, Score):
        assert isinstance(other, Score)
        # A smoothed precision is a share of one match, and so falls when the corpus grows.
        unsmoothed = {name: value for name, value in once.parts.items() if name in ("tense", "pronoun", "entity", "dm")}
        assert {name: other.parts[name] for name in unsmoothed} == pytest.approx(unsmoothed)


@settings(deadline=None, max_examples=40)
@given(st.lists(LINES.filter(bool), min_size=1, max_size=5))
def test_a_text_against_itself_is_the_maximum(lines: list[str]) -> None:
    assert scored(BLONDE, corpus(lines, lines)).value == pytest.approx(1.0)


def test_a_fold_of_many_resamples_is_the_fold_of_each() -> None:
    found = counted(BLONDE, corpus([OUTPUT, REFERENCE, "he/PRP"], [REFERENCE, OUTPUT, "x/X"]))
    sums = np.random.default_rng(0).integers(0, 3, (5, 4, 3)) @ found.rows
    many = found.fold(sums)
    assert many.shape == (5, 4)
    each = np.array([[found.fold(one) for one in row] for row in sums])
    np.testing.assert_allclose(many, each)


def test_counting_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given = corpus([OUTPUT, REFERENCE, "he/PRP"], [REFERENCE, OUTPUT, "x/X"])
    whole = counted(BLONDE, given).rows
    monkeypatch.setattr("eval.metrics.blonde.metric.CHUNK", 2)
    np.testing.assert_array_equal(counted(BLONDE, given).rows, whole)


# --- on real texts ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chapter(shared_data: Path) -> Corpus:
    """One chapter of BWB: its reference, and two systems."""
    folder = shared_data / "bwb_example"
    texts = {
        name: tuple((folder / f"{name}.txt").read_text(encoding="utf-8").splitlines())
        for name in ("sys", "sys2", "ref")
    }
    return Corpus((Document("book0", texts, (texts["ref"],)),), "zh", "en")


def test_the_chapter_of_bwb_category_by_category(chapter: Corpus) -> None:
    """The values are our own, with the annotator without a model; their order agrees with BWB's annotation."""
    scores = {}
    for system in chapter.systems:
        found = Blonde().count(chapter, system)
        assert isinstance(found, MetricCounts)
        score = found.score()
        assert isinstance(score, Score)
        scores[system] = score
    assert scores["ref"].value == 1.0
    assert set(scores["ref"].parts.values()) == {1.0}
    assert scores["sys"].value < scores["sys2"].value < 1
    for part in ("tense", "pronoun", "entity", "dm", "n-grams"):
        one, other = scores["sys"].parts[part], scores["sys2"].parts[part]
        assert one is not None
        assert other is not None
        assert 0 < one < other < 1, part


def test_blonde_plus_on_the_annotated_chapter(chapter: Corpus, shared_data: Path) -> None:
    ambiguity: dict[tuple[str, int], list[str]] = {}
    ellipsis: dict[tuple[str, int], list[str]] = {}
    lines = (shared_data / "bwb_example" / "an.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        for error in line.split("\t")[1:]:
            kind, _, spans = error.partition(",")
            into = {"1": ambiguity, "3": ellipsis}.get(kind)
            if into is not None:
                wordings = [span.split(",")[0].strip() for span in spans.split(";")]
                into.setdefault(("book0", number), []).extend(wordings)
    plus = BlondePlus(ambiguity=ambiguity, ellipsis=ellipsis)
    itself, system = plus.count(chapter, "ref"), plus.count(chapter, "sys")
    assert isinstance(itself, MetricCounts)
    assert isinstance(system, MetricCounts)
    best, score = itself.score(), system.score()
    assert isinstance(best, Score)
    assert isinstance(score, Score)
    assert best.value == 1.0
    # The annotation marks the errors of this system.
    ambiguous = score.parts["ambiguity"]
    assert ambiguous is not None
    assert ambiguous < 0.3
