from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.errors import InputError
from finetune.data.alignment import align_book
from finetune.data.alignment.book_alignment import UNALIGNED, assign_sentences
from tests.finetune.data.alignment.fake_encoder import Bag

SOURCE = [
    "Le moulin était vieux et le meunier aussi. Personne ne montait plus la colline.",
    "Un soir, une fille frappa à la porte.",
    "Elle portait une lampe. Le chien ne bougea pas.",
]
MT = [
    "The mill was old and the miller too. Nobody went up the hill any more.",
    "One evening, a girl knocked at the door.",
    "She carried a lamp. The dog did not move.",
]
HUMAN = [
    "The mill was old, and so was the miller. Nobody climbed up the hill any more. "
    "One evening a girl knocked at his door.",
    "She carried a lamp in her hand.",
    "The dog did not move.",
]


def texts(human: list[str], mt: list[str] = MT, source: list[str] = SOURCE) -> list[str]:
    aligned = align_book(source, mt, {"Voss": human}, encoder=Bag())
    assert [(one.index, one.source, one.mt) for one in aligned] == [
        (index, *pair) for index, pair in enumerate(zip(source, mt, strict=True))
    ]
    return [one.human["Voss"] for one in aligned]


def test_a_translation_is_cut_where_the_source_is() -> None:
    first, second, third = texts(HUMAN)
    assert first.endswith("any more.")
    assert second == "One evening a girl knocked at his door."
    assert third == "She carried a lamp in her hand. The dog did not move."


def test_an_mt_aligned_with_itself_is_itself() -> None:
    assert texts(MT) == MT


def test_a_preface_belongs_to_no_paragraph() -> None:
    assert texts(["Preface by Wilhelmina Voss, translator from French.", *HUMAN]) == texts(HUMAN)


def test_a_sentence_that_joins_two_paragraphs_goes_to_one_of_them() -> None:
    joined = "Nobody went up the hill any more, until one evening a girl knocked at the door."
    aligned = texts([HUMAN[0].split(". ")[0] + ".", joined, *HUMAN[1:]])
    assert sum(joined in text for text in aligned) == 1


def test_each_translation_is_aligned_on_its_own_and_progress_is_told() -> None:
    progress: list[tuple[str, int, int]] = []
    steps = ["encoding the MT", "encoding Voss", "aligning Voss", "encoding MT", "aligning MT"]
    aligned = align_book(
        SOURCE, MT, {"Voss": HUMAN, "MT": MT}, encoder=Bag(), progress=lambda *news: progress.append(news)
    )
    assert [one.human["MT"] for one in aligned] == MT
    assert progress == [(step, done, 5) for step in steps for done in (0, 5)]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=8),
    st.lists(st.text(alphabet="abcdef ", min_size=1, max_size=12), min_size=1, max_size=12),
)
def test_every_sentence_between_the_ends_is_placed_once_and_in_order(counts: list[int], human: list[str]) -> None:
    paragraphs = [index for index, count in enumerate(counts) for _ in range(count)] or [0]
    mt = [f"{human[place % len(human)]} {place}" for place in range(len(paragraphs))]
    bag = Bag()
    places = assign_sentences(paragraphs, bag.encode(mt), bag.encode(human))
    inside = [place for place in places if place != UNALIGNED]
    assert len(places) == len(human)
    assert inside == sorted(inside)
    first = places.index(inside[0])
    assert places[first : first + len(inside)] == inside


@pytest.mark.parametrize(
    ("source", "mt", "humans", "sentence"),
    [
        (SOURCE[:2], MT, {"Voss": HUMAN}, "The source has 2 paragraphs and its MT has 3."),
        (SOURCE, MT, {}, "There is no human translation to align."),
        (SOURCE, MT, {"Voss": []}, "There is no text in Voss."),
        (SOURCE, MT, {"Voss": ["", " \n"]}, "There is no text in Voss."),
        ([], [], {"Voss": HUMAN}, "There is no text in the source."),
        (SOURCE, MT, {"Voss": SOURCE}, "Voss is in French, and the MT is in English."),
        (MT, MT, {"Voss": HUMAN}, "The source is in English, as the MT is."),
        (MT, SOURCE, {"Voss": HUMAN}, "The MT is in French, and the sentence encoder bag knows English only."),
    ],
)
def test_what_does_not_go_together_is_refused(
    source: list[str], mt: list[str], humans: dict[str, list[str]], sentence: str
) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        align_book(source, mt, humans, encoder=Bag())
