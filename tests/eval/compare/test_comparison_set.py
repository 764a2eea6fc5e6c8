"""Comparison set: choice of the MT, paragraph ids and digest."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from eval.compare import DO_NOTHING, build_comparison_set
from eval.corpus.corpus import Corpus, Document
from tests.eval.compare.comparison_factory import HUMAN, MT, SOURCES, data


def corpus(*systems: str) -> Corpus:
    return Corpus((Document("one", {name: (f"by {name}",) for name in systems}),))


@pytest.mark.parametrize(
    ("systems", "mt", "expected"),
    [(("p1", "mt"), "", "mt"), (("gt", "p1"), "", "gt"), (("google",), "", "google"), (("p1", "base"), "base", "base")],
)
def test_the_mt_is_the_named_system_or_one_with_a_usual_name(systems: tuple[str, ...], mt: str, expected: str) -> None:
    found = build_comparison_set(corpus(*systems), mt)
    assert found.mt == expected
    assert found.corpus.systems == (DO_NOTHING,)
    assert found.mt_texts == (f"by {expected}",)
    assert set(found.others) == set(systems) - {expected}


@pytest.mark.parametrize(("mt", "message"), [("", "Choose one of: p1, p2"), ("deepl", "no system 'deepl'")])
def test_an_ambiguous_or_unknown_mt_is_rejected(mt: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_comparison_set(corpus("p1", "p2"), mt)


def test_an_added_system_is_never_the_mt_unless_named() -> None:
    with pytest.raises(InputError, match=r"which system is the MT\. Choose one of: google, deepl"):
        build_comparison_set(corpus("google", "deepl", "gt"), added=("gt",))
    assert build_comparison_set(corpus("google", "mt"), added=("mt",)).mt == "google"
    assert build_comparison_set(corpus("google", "mt"), "mt", added=("mt",)).mt == "mt"
    with pytest.raises(InputError, match="The set has no MT"):
        build_comparison_set(corpus("mt"), added=("mt",))


def test_paragraph_ids_are_document_and_number() -> None:
    assert data().ids == ("north:1", "north:2", "south:1", "south:2")


def test_the_digest_depends_on_source_mt_and_references() -> None:
    same = {data().digest, data().digest}
    others = {
        data(mt=("The lamp died.", *MT[1:])).digest,
        data(sources=("La lampe.", *SOURCES[1:])).digest,
        data(references=("It went dark.", *HUMAN[1:])).digest,
        data(references=None).digest,
    }
    assert len(same) == 1
    assert len(same | others) == 5
