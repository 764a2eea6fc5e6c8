"""The set: which text is the MT, what its paragraphs are called, and when two sets are the same."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from eval.compare import DO_NOTHING, build_comparison_set
from eval.corpus.corpus import Corpus, Document
from tests.eval.compare.comparison_factory import HUMAN, MT, SOURCES, data


def corpus(*systems: str) -> Corpus:
    return Corpus((Document("one", {name: (f"by {name}",) for name in systems}),))


@pytest.mark.parametrize(
    ("systems", "wanted", "taken"),
    [
        (("p1", "mt"), "", "mt"),
        (("gt", "p1"), "", "gt"),
        (("google",), "", "google"),
        (("p1", "base"), "base", "base"),
    ],
)
def test_the_mt_is_the_one_named_or_the_obvious(systems: tuple[str, ...], wanted: str, taken: str) -> None:
    found = build_comparison_set(corpus(*systems), wanted)
    assert found.mt == taken
    assert found.corpus.systems == (DO_NOTHING,)
    assert found.mt_texts == (f"by {taken}",)
    assert set(found.others) == set(systems) - {taken}


@pytest.mark.parametrize(("wanted", "told"), [("", "Name it"), ("deepl", "no system called 'deepl'")])
def test_which_is_the_mt_is_asked_and_not_guessed(wanted: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        build_comparison_set(corpus("p1", "p2"), wanted)


def test_a_candidate_is_not_taken_for_the_mt_whatever_its_name() -> None:
    with pytest.raises(
        InputError, match="Which of these is the MT that the others start from: google, deepl"
    ):
        build_comparison_set(corpus("google", "deepl", "gt"), added=("gt",))
    assert build_comparison_set(corpus("google", "mt"), added=("mt",)).mt == "google"
    assert build_comparison_set(corpus("google", "mt"), "mt", added=("mt",)).mt == "mt"
    with pytest.raises(InputError, match="no system to be the MT"):
        build_comparison_set(corpus("mt"), added=("mt",))


def test_paragraphs_are_named_by_document_and_place() -> None:
    assert data().ids == ("north:1", "north:2", "south:1", "south:2")


def test_another_source_mt_or_reference_is_another_set() -> None:
    same = {data().digest, data().digest}
    others = {
        data(mt=("The lamp died.", *MT[1:])).digest,
        data(sources=("La lampe.", *SOURCES[1:])).digest,
        data(references=("It went dark.", *HUMAN[1:])).digest,
        data(references=None).digest,
    }
    assert len(same) == 1
    assert len(same | others) == 5
