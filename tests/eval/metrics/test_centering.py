"""KP: hand-computed values, its definition, reorderings, and coreference by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token
from eval.linguistics.coreference.resolver import Mention, RuleCoreferenceResolver
from eval.metrics.centering import (
    Centre,
    KpCoherence,
    SyntacticRole,
    build_utterances,
    centering_scores,
    compare_reorderings,
    forward_centres,
    role_of,
)
from eval.statistics.counts import MetricCounts, Score, Unmeasured

TALE = [
    [Centre("Anna", "subject"), Centre("dog", "object")],
    [Centre("Anna", "subject", pronoun=True), Centre("bone", "object")],
    [Centre("dog", "subject"), Centre("Anna", "object", pronoun=True)],
    [],
    [Centre("rain", "subject")],
]


def test_kp_by_hand() -> None:
    # CF: Anna dog / Anna bone / Anna dog (a pronoun object, 5, before a subject, 3) / rain. CB: none, Anna, Anna, none.
    found = centering_scores(TALE)
    assert found is not None
    assert (found.nocb, found.salience, found.coherence) == pytest.approx((-1 / 3, 2 / 3, 1 / 3))
    assert found.kp == pytest.approx(2 / 9)


def test_an_entity_ranks_by_its_best_mention_and_ties_by_order() -> None:
    assert forward_centres([Centre("a"), Centre("b"), Centre("a", "subject"), Centre("c", "object")]) == ("a", "c", "b")
    assert forward_centres([Centre("b"), Centre("a")]) == ("b", "a")


def test_a_text_of_one_utterance_has_no_kp() -> None:
    assert centering_scores([[Centre("a")], []]) is None
    assert compare_reorderings([[Centre("a")], []]) is None


def test_a_short_text_is_compared_with_all_its_orders() -> None:
    against = compare_reorderings(TALE)
    assert against is not None
    assert against.lower + against.equal + against.higher == 23  # 4! - 1
    assert against.higher == 0
    assert against.share == (against.lower + against.equal / 2) / 23


def test_a_text_with_one_topic_after_the_other_beats_its_reorderings() -> None:
    scenes = [[Centre(f"{hero}", "subject"), Centre(f"{hero}{number}")] for hero in "abcd" for number in range(5)]
    against = compare_reorderings(scenes)
    assert against is not None
    assert (against.lower, against.higher) == (99, 0)
    assert compare_reorderings(scenes, seed=1) == against
    assert compare_reorderings([[Centre("a")]] * 6, seed=2) is not None


_CENTRES = st.builds(Centre, st.sampled_from("abcd"), st.sampled_from(["subject", "object", "other"]), st.booleans())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(_CENTRES, max_size=4), max_size=8))
def test_kp_equals_its_definition(text: list[list[Centre]]) -> None:
    found = centering_scores(text)
    forward = [forward_centres(one) for one in text if one]
    if len(forward) < 2:
        assert found is None
        return
    backward = [None, *(next((e for e in forward[n - 1] if e in forward[n]), None) for n in range(1, len(forward)))]
    links = range(1, len(forward))
    nocb = -sum(backward[n] is None for n in links)
    salience = sum(backward[n] == forward[n][0] for n in links)
    coherence = sum(backward[n] is not None and backward[n] == backward[n - 1] for n in links)
    assert found is not None
    assert found.kp == pytest.approx((nocb + salience + coherence) / 3 / len(links))


# --- coreference -------------------------------------------------------------------------------------------------


def _annotation(text: str, tags: str, **names: str) -> Annotation:
    tokens, start = [], 0
    for word, tag in zip(text.split(), tags.split(), strict=True):
        start = text.index(word, start)
        tokens.append(Token(word, start, tag, word.lower()))
        start += len(word)
    entities = tuple(
        NamedEntity(name, text.index(name), text.index(name) + len(name), label) for name, label in names.items()
    )
    return Annotation(tuple(tokens), entities)


def _resolved(*segments: Annotation) -> list[list[str]]:
    return [[one.entity.split(":")[1] for one in mentions] for mentions in RuleCoreferenceResolver().resolve(segments)]


def test_he_and_she_refer_to_the_last_possible_name() -> None:
    first = _annotation("Mira met Sam .", "NNP VBD NNP .", Mira="PERSON", Sam="PERSON")
    second = _annotation("He saw her .", "PRP VBD PRP .")
    third = _annotation("She smiled at him .", "PRP VBD IN PRP .")
    assert _resolved(first, second, third) == [["Mira", "Sam"], ["Sam", "Mira"], ["Mira", "Sam"]]


def test_part_of_a_name_is_the_same_person() -> None:
    text = "Mira Holt"
    whole = replace(_annotation("Mira Holt ran .", "NNP NNP VBD ."), entities=(NamedEntity(text, 0, 9, "PERSON"),))
    part = _annotation("Holt fell .", "NNP VBD .", Holt="PERSON")
    place = _annotation("Holt burned .", "NNP VBD .", Holt="GPE")
    assert _resolved(whole, part, place) == [["Mira Holt"], ["Mira Holt"], ["Holt"]]


def test_it_refers_to_a_recently_named_thing_or_to_nothing() -> None:
    town = _annotation("Orlen burned .", "NNP VBD .", Orlen="GPE")
    it = _annotation("It rained .", "PRP VBD .")
    no_mention = _annotation("Nothing .", "NN .")
    assert _resolved(town, it) == [["Orlen"], ["Orlen"]]
    assert _resolved(town, no_mention, no_mention, it) == [["Orlen"], [], [], []]
    they = _annotation("They ran .", "PRP VBD .")
    assert _resolved(they, they) == [["they"], ["they"]]


@pytest.mark.parametrize(
    ("text", "tags", "word", "role"),
    [
        ("Mira saw Sam", "NNP VBD NNP", "Mira", "subject"),
        ("Mira quickly saw Sam", "NNP RB VBD NNP", "Mira", "subject"),
        ("Mira saw Sam", "NNP VBD NNP", "Sam", "object"),
        ("Mira ran to Sam", "NNP VBD IN NNP", "Sam", "other"),
        ("her cart fell", "PRP$ NN VBD", "her", "other"),
        ("Mira made him run", "NNP VBD PRP VB", "him", "object"),
        ("so did she", "RB VBD PRP", "she", "subject"),
    ],
)
def test_a_mentions_role_follows_from_the_tags(text: str, tags: str, word: str, role: SyntacticRole) -> None:
    start = text.index(word)
    mention = Mention("x", start, start + len(word), word.islower())
    assert role_of(_annotation(text, tags), mention) == role


def test_a_segment_of_two_sentences_is_two_utterances() -> None:
    annotation = replace(_annotation("Mira ran . He fell .", "NNP VBD . PRP VBD ."), sentences=(0, 3))
    mentions = [Mention("m", 0, 4, pronoun=False), Mention("h", 11, 13, pronoun=True)]
    assert build_utterances([annotation], [mentions]) == [
        [Centre("m", "subject")],
        [Centre("h", "subject", pronoun=True)],
    ]


# --- the metric --------------------------------------------------------------------------------------------------

COHERENT = (
    "Margaret opened the door .",
    "She looked at the garden .",
    "She saw Edward there .",
    "He waved at her .",
    "He brought a letter .",
    "He gave it to her .",
)
NAMES = frozenset("Margaret Harriet Susan Edward Robert".split())


@dataclass(frozen=True)
class TableAnnotator:
    """Splits at spaces; knows a few names, and takes words in -ed and a few others for verbs."""

    name: str = "table"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [
            _annotation(
                text, " ".join(map(self._tag, text.split())), **dict.fromkeys(NAMES & set(text.split()), "PERSON")
            )
            for text in texts
        ]

    def _tag(self, word: str) -> str:
        return "VBD" if word.endswith("ed") or word in ("saw", "brought", "gave") else "NN"


def _value(*documents: Sequence[str]) -> Score:
    given = tuple(Document(f"d{number}", {"s": tuple(texts)}) for number, texts in enumerate(documents))
    counted = KpCoherence(annotator=TableAnnotator()).count(Corpus(given, "zh", "en"), "s")
    assert isinstance(counted, MetricCounts)
    assert counted.unit == "document"
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_a_new_name_in_each_sentence_is_less_coherent() -> None:
    broken = (COHERENT[0], "Harriet looked at it .", "Susan saw Edward .", "Robert waved .", *COHERENT[4:])
    assert _value(COHERENT).value > _value(broken).value
    assert "resolver:rules-1|annotator:" in _value(COHERENT).signature


def test_kp_does_not_depend_on_the_order_or_the_number_of_copies_of_documents() -> None:
    other = COHERENT[::-1]
    once = _value(COHERENT, other)
    assert _value(other, COHERENT) == once
    assert _value(COHERENT, other, COHERENT, other).value == pytest.approx(once.value)


def test_a_language_without_annotator_has_no_kp() -> None:
    corpus = Corpus((Document("d", {"s": COHERENT}),), "zh", "xx")
    assert isinstance(KpCoherence().count(corpus, "s"), Unmeasured)
