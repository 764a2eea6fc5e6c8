"""Entities and the five phenomena: hand-computed values, and the changes that move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token
from eval.linguistics.bwb.error_lines import parse_errors, read_errors
from eval.linguistics.bwb.markup import parse_markup, read_markup
from eval.linguistics.bwb.names import parse_names, read_names
from eval.linguistics.wordings import find_wording_spans, outermost_spans
from eval.metrics.bwb_phenomena import BwbPhenomena
from eval.metrics.entities import EntityMatch
from eval.statistics.counts import MetricCounts, Score, Unmeasured

_TAGS = {"took": "VBD", "takes": "VBZ", "sold": "VBD", "sells": "VBZ"}
_NAMES = {"Mira": "PERSON", "Mara": "PERSON", "Sam": "PERSON", "Orlen": "GPE", "Ostrava": "GPE"}


@dataclass(frozen=True)
class TableAnnotator:
    """Splits at spaces; tags and names come from two tables."""

    name: str = "table"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [self._annotate(text) for text in texts]

    def _annotate(self, text: str) -> Annotation:
        tokens, start = [], 0
        for word in text.replace(".", " .").split():
            start = text.index(word, start)
            tokens.append(Token(word, start, _TAGS.get(word, "NN"), word.lower()))
        entities = (NamedEntity(one.text, one.start, one.end, _NAMES[one.text]) for one in tokens if one.text in _NAMES)
        return Annotation(tuple(tokens), tuple(entities))


REFERENCE = ("Mira took the cart to Orlen.", "She sold it to Sam.")
MARKED = parse_markup(
    [
        "<PER, T, 1>{Mira} took <VEH, N, 2>{the cart} to <GPE, T, 3>{Orlen}.",
        "<P, 1>{She} sold <P, 2>{it} to <PER, T, 4>{Sam}.",
    ]
)


def _corpus(*outputs: Sequence[str], reference: Sequence[str] = REFERENCE, copies: int = 1) -> Corpus:
    systems = {f"s{number}": tuple(output) for number, output in enumerate(outputs)}
    return Corpus(tuple(Document(f"d{copy}", systems, (tuple(reference),)) for copy in range(copies)), "zh", "en")


def _entities(*output: str) -> Score:
    return _score(EntityMatch({"d0": MARKED}, TableAnnotator()), *output)


def _score(metric: EntityMatch | BwbPhenomena, *output: str) -> Score:
    counted = metric.count(_corpus(output), "s0")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_entities_of_the_reference_itself_are_all_found() -> None:
    score = _entities(*REFERENCE)
    assert score.value == 1
    assert {value for value in score.parts.values() if value is not None} == {1}


def test_entities_by_hand() -> None:
    score = _entities("Mara took the cart to Orlen.", "She sold it to Sam, Sam of Ostrava.")
    # Found: the cart, Orlen, Sam, of 4. Added: Mara, a second Sam, Ostrava.
    assert score.parts["all recall"] == pytest.approx(3 / 4)
    assert score.parts["all precision"] == pytest.approx(3 / 6)
    assert score.value == pytest.approx(2 * 3 / (4 + 6))
    assert score.parts["PER F1"] == pytest.approx(2 * 1 / (2 + 3))
    assert score.parts["not PER precision"] == pytest.approx(2 / 3)
    assert score.parts["terminology"] == pytest.approx(2 / 3)
    assert score.parts["common phrases"] == 1
    assert score.parts["LOC F1"] is None


def test_a_changed_name_costs_persons_and_nothing_else() -> None:
    score = _entities("Mara took the cart to Orlen.", REFERENCE[1])
    assert score.parts["PER recall"] == 0.5
    assert score.parts["not PER F1"] == 1
    assert _entities("Mira takes the cart to Orlen.", REFERENCE[1]).value == 1


def test_without_annotation_the_annotator_finds_the_references_entities() -> None:
    score = _score(EntityMatch(annotator=TableAnnotator()), "Mira took the waggon to Ostrava.", REFERENCE[1])
    assert score.parts["PER F1"] == 1
    assert score.parts["GPE recall"] == 0
    assert score.parts["terminology"] is None
    assert "reference:annotator|annotator:table" in score.signature


def test_lost_entities_are_marked_in_the_reference() -> None:
    corpus = _corpus(("Mara took the cart to Orlen.", "She sold it."))
    marks = list(EntityMatch({"d0": MARKED}, TableAnnotator()).marks(corpus, "s0"))
    assert [(mark.segment, REFERENCE[mark.segment][mark.start : mark.end]) for mark in marks] == [
        (0, "Mira"),
        (1, "Sam"),
    ]


def test_an_annotation_must_match_its_document() -> None:
    with pytest.raises(InputError, match="'d0' has 2 segments, and its annotation 1 lines"):
        EntityMatch({"d0": parse_markup(["one"])}, TableAnnotator()).count(_corpus(REFERENCE), "s0")
    with pytest.raises(InputError, match="'d0' has no annotation"):
        EntityMatch({"x": MARKED}, TableAnnotator()).count(_corpus(REFERENCE), "s0")


def test_without_references_or_in_other_languages_nothing_is_measured() -> None:
    corpus = _corpus(REFERENCE)
    without_references = replace(corpus, documents=tuple(replace(one, references=()) for one in corpus.documents))
    for metric in (EntityMatch(annotator=TableAnnotator()), BwbPhenomena(annotator=TableAnnotator())):
        assert isinstance(metric.count(without_references, "s0"), Unmeasured)
        assert isinstance(
            replace(metric, annotator=None).count(replace(corpus, target_language="xx"), "s0"), Unmeasured
        )


@pytest.mark.parametrize("metric", [EntityMatch(annotator=TableAnnotator()), BwbPhenomena(annotator=TableAnnotator())])
def test_a_segment_without_a_reference_is_not_counted(metric: EntityMatch | BwbPhenomena) -> None:
    whole = Document("d0", {"s0": REFERENCE}, (REFERENCE,))
    partly = Document("d1", {"s0": REFERENCE}, ((None, REFERENCE[1]),))
    nowhere = Document("d2", {"s0": REFERENCE}, ((None, None),))
    corpus = Corpus((whole, partly, nowhere), "zh", "en")
    counted = metric.count(corpus, "s0")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    assert score.value == 1
    assert list(counted.documents) == [0, 0, 1]
    assert isinstance(metric.count(replace(corpus, documents=(nowhere,)), "s0"), Unmeasured)


ERRORS = parse_errors(["Mira got a cart.\t1,took, got <pos/6,8>", "Sold it.\t3,She, Sold <pos/1,4>"])[0]
NAMES = parse_names(["PERSON: (Mira: 1; )\tNONPERSON: (Orlen: 1; )", "PERSON: (Sam: 1; )\tNONPERSON: ()"])[0]
PHENOMENA = BwbPhenomena({"d0": ERRORS}, {"d0": NAMES}, TableAnnotator())


def test_the_reference_itself_has_all_phenomena() -> None:
    score = _score(PHENOMENA, *REFERENCE)
    assert score.value == 1
    assert set(score.parts.values()) == {1}


@pytest.mark.parametrize(
    ("output", "lowered"),
    [
        (("Mira brought the cart to Orlen.", REFERENCE[1]), {"ambiguity", "tense"}),
        (("Mara took the cart to Orlen.", REFERENCE[1]), {"entity"}),
        ((REFERENCE[0], "She sells it to Sam."), {"tense"}),
        ((REFERENCE[0], "He sold it to Sam."), {"pronoun", "ellipsis"}),
    ],
)
def test_a_change_lowers_exactly_its_phenomenon(output: tuple[str, str], lowered: set[str]) -> None:
    parts = _score(PHENOMENA, *output).parts
    assert {name.split()[0] for name, value in parts.items() if value is not None and value < 1} == lowered


def test_an_exact_match_needs_the_same_pronoun() -> None:
    parts = _score(PHENOMENA, REFERENCE[0], "Her it was who sold to Sam.").parts
    assert parts["pronoun F1"] == 1
    assert parts["pronoun exact"] == 0.5  # "it", and not "she"


@pytest.mark.parametrize("metric", [EntityMatch(annotator=TableAnnotator()), BwbPhenomena(annotator=TableAnnotator())])
def test_doubling_or_reversing_the_corpus_changes_nothing(metric: EntityMatch | BwbPhenomena) -> None:
    output = ("Mara took the cart to Orlen.", "He sold it to Sam.")
    values = []
    for corpus in (
        _corpus(output),
        twice := _corpus(output, copies=2),
        replace(twice, documents=twice.documents[::-1]),
    ):
        counted = metric.count(corpus, "s0")
        assert isinstance(counted, MetricCounts)
        score = counted.score()
        assert isinstance(score, Score)
        values.append(score.value)
    assert values == [values[0]] * 3
    assert values[0] < 1


def test_error_lines_must_match_the_document() -> None:
    with pytest.raises(InputError, match="2 segments and 1 error lines"):
        BwbPhenomena({"d0": ERRORS[:1]}, annotator=TableAnnotator()).count(_corpus(REFERENCE), "s0")


def test_a_wording_is_found_as_whole_words() -> None:
    assert find_wording_spans("the cart", "The cart, the  cart, the carts") == [(0, 8), (10, 19)]
    assert find_wording_spans("Sam", "sam Samuel Sam’s SAM") == [(0, 3), (11, 14)]
    assert find_wording_spans("微博", "看微博头条") == [(1, 3)]
    assert find_wording_spans(" ", "a b") == []
    assert outermost_spans([(0, 5), (0, 2), (3, 5), (6, 7)]) == [(0, 5), (6, 7)]


# --- the example chapter -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chapter(shared_data: Path) -> Corpus:
    folder = shared_data / "bwb_example"
    texts = [
        tuple((folder / name).read_text(encoding="utf-8").splitlines()) for name in ("ref.txt", "sys.txt", "sys2.txt")
    ]
    reference, *systems = texts
    return _corpus(reference, *(system[: len(reference)] for system in systems), reference=reference)


def test_the_examples_document_level_output_is_better_in_every_phenomenon(chapter: Corpus, shared_data: Path) -> None:
    folder = shared_data / "bwb_example"
    metric = BwbPhenomena({"d0": read_errors(folder / "an.txt")[0]}, {"d0": read_names(folder / "ner.txt")[0]})
    scores = []
    for system in chapter.systems:
        counted = metric.count(chapter, system)
        assert isinstance(counted, MetricCounts)
        scores.append(counted.score())
    itself, first, second = scores
    assert isinstance(itself, Score)
    assert isinstance(first, Score)
    assert isinstance(second, Score)
    assert set(itself.parts.values()) == {1}
    for name, value in first.parts.items():
        better = second.parts[name]
        assert value is not None
        assert better is not None
        assert value < better < 1 or name.startswith("ellipsis")
    # The errors were annotated in the first system, which has none of the correct wordings for ambiguities.
    assert first.parts["ambiguity F1"] == 0


def test_each_output_has_two_of_the_samples_six_terms(chapter: Corpus, shared_data: Path) -> None:
    marked = read_markup(shared_data / "bwb_book0_0" / "coref_sample.en.an.txt")
    document = chapter.documents[0]
    seven = replace(
        document,
        outputs={name: texts[:7] for name, texts in document.outputs.items()},
        references=(document.references[0][:7],),
    )
    found = []
    for system in chapter.systems:
        counted = EntityMatch({"d0": marked}).count(replace(chapter, documents=(seven,)), system)
        assert isinstance(counted, MetricCounts)
        score = counted.score()
        assert isinstance(score, Score)
        found.append(score.parts["terminology"])
    # Counted by hand: "Weibo" and "weChat"/"WeChat", of those marked T: Qiao Lian thrice, WeChat, the fan group, Weibo.
    assert found == pytest.approx([1, 2 / 6, 2 / 6])
