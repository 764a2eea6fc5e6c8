"""Trial design: sampling, exclusions and rejected designs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from ape.errors import InputError
from ape.text.tokens import words
from eval.corpus.corpus import Corpus, Document
from eval.human.design import TrialDesign, make_trial
from eval.human.trial import Trial
from eval.human.vote import SHUFFLED_SYSTEM
from tests.eval.human.trial_factory import a_corpus, a_document

THREE = ("mt", "tuned", "other")


def kinds(trial: Trial) -> Counter[str]:
    return Counter(item.kind for item in trial.items)


def test_the_trial_is_determined_by_the_seed() -> None:
    first, again, other = (make_trial(a_corpus(), seed=seed, design=TrialDesign(items=10)) for seed in (1, 1, 2))
    assert first == again
    assert first.id != other.id
    assert {item.passage for item in first.items} != {item.passage for item in other.items}


def test_repeats_and_spam_are_added_to_the_items() -> None:
    trial = make_trial(a_corpus(), design=TrialDesign(items=20, repeats=0.2, spam=0.1))
    assert kinds(trial) == {"pair": 20, "repeat": 4, "spam": 2}
    originals = {item.id: item for item in trial.items}
    for item in trial.items:
        if item.kind == "repeat":
            assert originals[item.repeats].texts == item.texts
        if item.kind == "spam":
            assert item.systems[1] == SHUFFLED_SYSTEM
            assert sorted(" ".join(item.texts[0]).split()) == sorted(" ".join(item.texts[1]).split())


def test_spam_uses_unused_passages() -> None:
    trial = make_trial(a_corpus(), design=TrialDesign(items=30, spam=0.5))
    shown = {item.passage for item in trial.items if item.kind == "pair"}
    assert not shown & {item.passage for item in trial.items if item.kind == "spam"}


def test_spam_reuses_passages_when_none_are_unused() -> None:
    trial = make_trial(a_corpus(1, length=10), design=TrialDesign(items=10))
    assert kinds(trial)["spam"] == 1


def test_pairs_of_systems_are_balanced_and_passages_are_unique() -> None:
    trial = make_trial(a_corpus(systems=THREE), design=TrialDesign(items=30))
    own = [item for item in trial.items if item.kind == "pair"]
    assert sorted(Counter(item.systems for item in own).values()) == [10, 10, 10]
    assert len({item.passage for item in own}) == 30


def test_all_pairs_shows_every_pair_in_each_passage() -> None:
    trial = make_trial(a_corpus(systems=THREE), design=TrialDesign(items=30, all_pairs=True))
    own = [item for item in trial.items if item.kind == "pair"]
    assert set(Counter(item.passage for item in own).values()) == {3}


def test_against_pairs_every_system_with_one() -> None:
    trial = make_trial(a_corpus(systems=THREE), design=TrialDesign(items=10, against="tuned"))
    assert {item.systems for item in trial.items if item.kind == "pair"} == {("tuned", "mt"), ("tuned", "other")}


def test_the_reference_can_be_a_system() -> None:
    corpus = a_corpus()
    trial = make_trial(corpus, systems=["mt", "reference"], design=TrialDesign(items=5))
    human = {text for document in corpus.documents for text in document.references[0]}
    assert all(item.texts[1][0] in human for item in trial.items if item.kind == "pair")


def test_books_are_sampled_equally_as_far_as_they_have_passages() -> None:
    documents = [
        a_document("long", length=40, book="Long"),
        a_document("short", length=3, book="Short"),
        a_document("middle", length=20, book="Middle"),
    ]
    trial = make_trial(Corpus(tuple(documents), "fr", "en"), design=TrialDesign(items=23, by="book"))
    books = {passage.id: passage.book for passage in trial.passages}
    counts = Counter(books[item.passage] for item in trial.items if item.kind == "pair")
    assert counts == {"Long": 10, "Middle": 10, "Short": 3}


def test_languages_are_sampled_equally() -> None:
    corpora = [a_corpus(), replace(a_corpus(), source_language="ja")]
    trial = make_trial(corpora, design=TrialDesign(items=20, by="language"))
    languages = {passage.id: passage.language for passage in trial.passages}
    assert Counter(languages[item.passage] for item in trial.items if item.kind == "pair") == {"fr": 10, "ja": 10}


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_passage_lengths_are_within_the_range(unit: str) -> None:
    sources = tuple("la " * count for count in range(1, 31))
    outputs = {name: tuple(f"{name} {place}" for place in range(30)) for name in ("mt", "tuned")}
    corpus = Corpus((Document("d", outputs, (), sources),), "fr", "en")
    design = TrialDesign(shortest=10, longest=20, unit="words" if unit == "words" else "characters", spam=0)
    trial = make_trial(corpus, design=design)
    size = (lambda text: len(words(text))) if unit == "words" else len
    assert all(10 <= size(passage.sources[0]) <= 20 for passage in trial.passages)
    assert dict(trial.design)["left_out_length"] == 30 - len({item.passage for item in trial.items})


def test_documents_have_consecutive_passages_of_five_paragraphs() -> None:
    trial = make_trial(a_corpus(6, length=33), design=TrialDesign(items=12, condition="document"))
    own = [item for item in trial.items if item.kind == "pair"]
    assert all(len(text) == 5 for item in own for text in item.texts)
    places: dict[str, list[int]] = {}
    for item in own:
        document, _, span = item.passage.partition(":")
        places.setdefault(document, []).append(int(span.partition("-")[0]))
    assert [len(starts) for starts in places.values()] == [4, 4, 4]
    for starts in places.values():
        assert starts == list(range(starts[0], starts[0] + 20, 5))


def test_a_document_is_repeated_as_a_whole() -> None:
    trial = make_trial(a_corpus(6, length=33), design=TrialDesign(items=12, condition="document", repeats=0.1))
    again = [item for item in trial.items if item.kind == "repeat"]
    assert len(again) == 4
    assert len({item.passage.partition(":")[0] for item in again}) == 1


def test_a_monolingual_trial_has_no_source() -> None:
    trial = make_trial(a_corpus(), design=TrialDesign(items=5, bilingual=False))
    assert not any(passage.sources for passage in trial.passages)


def nearly_identical(corpus: Corpus, differing: int) -> Corpus:
    """Two systems that differ only in the first `differing` paragraphs."""
    (document,) = corpus.documents
    tuned = tuple(
        text + " Indeed." if place < differing else f" {text}\n" for place, text in enumerate(document.outputs["mt"])
    )
    return replace(corpus, documents=(replace(document, outputs={"mt": document.outputs["mt"], "tuned": tuned}),))


def test_identical_texts_are_excluded_and_counted() -> None:
    trial = make_trial(nearly_identical(a_corpus(1, length=30), 12), design=TrialDesign())
    assert kinds(trial)["pair"] == 12
    assert dict(trial.design)["left_out_identical"] == 18


def test_identical_systems_are_rejected() -> None:
    with pytest.raises(InputError, match=r"nothing to compare: .* 30 with the same text in both systems"):
        make_trial(nearly_identical(a_corpus(1, length=30), 0))


def test_too_few_items_are_rejected_with_their_number() -> None:
    with pytest.raises(InputError, match="The set has only 12 of 20 items") as raised:
        make_trial(nearly_identical(a_corpus(1, length=30), 12), design=TrialDesign(items=20))
    assert "18 with the same text in both systems" in str(raised.value)


def test_missing_paragraphs_are_excluded_and_counted() -> None:
    document = a_document("d", length=10)
    tuned = ("", *document.outputs["tuned"][1:])
    corpus = Corpus((replace(document, outputs={**document.outputs, "tuned": tuned}),), "fr", "en")
    trial = make_trial(corpus)
    assert dict(trial.design)["left_out_missing"] == 1
    assert "d:1" not in {passage.id for passage in trial.passages}


@pytest.mark.parametrize(
    ("systems", "design", "message"),
    [
        (["mt", "best"], TrialDesign(), "no system 'best' in the set. It has: mt, tuned, reference"),
        (["mt"], TrialDesign(), "At least two systems are needed, not only mt"),
        (["mt", "mt"], TrialDesign(), "named twice"),
        ([], TrialDesign(against="best"), "compare against, 'best', is not among"),
        ([], TrialDesign(spam=0.7), "share of spam lies between 0 and 0.5"),
        ([], TrialDesign(repeats=-1), "share of repeats lies between"),
        ([], TrialDesign(items=0), "number of items must be at least 1"),
        ([], TrialDesign(shortest=9, longest=3), "The largest length .3 words. is below the smallest"),
        ([], TrialDesign(shortest=900), "no suitable passage. Left out: 48 outside the range of lengths"),
        ([], TrialDesign(by="book"), "does not name the book of every document"),
        ([], TrialDesign(items=99, condition="document"), "allow more passages of a document"),
    ],
)
def test_an_impossible_design_is_rejected(systems: list[str], design: TrialDesign, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_trial(a_corpus(), systems=systems, design=design)


def test_a_set_without_a_source_needs_a_monolingual_trial() -> None:
    bare = replace(a_corpus(1), documents=(replace(a_document("d"), sources=()),))
    with pytest.raises(InputError, match=r"no source to show .* monolingual"):
        make_trial(bare)
    assert make_trial(bare, design=TrialDesign(bilingual=False)).items


def test_a_trial_name_that_reveals_a_system_is_rejected() -> None:
    with pytest.raises(InputError, match="reveals the system 'tuned'"):
        make_trial(a_corpus(), name="The old one against Tuned")


@pytest.mark.parametrize(("raters", "message"), [(["a", "a"], "same name"), (["a", " "], "need names")])
def test_rater_names_must_be_unique_and_not_blank(raters: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_trial(a_corpus(), raters=raters)


def test_several_target_languages_are_rejected() -> None:
    with pytest.raises(InputError, match="several target languages"):
        make_trial([a_corpus(), replace(a_corpus(), target_language="de")])


def test_the_name_of_the_shuffled_system_is_reserved() -> None:
    with pytest.raises(InputError, match="is reserved for attention items"):
        make_trial(a_corpus(systems=("mt", SHUFFLED_SYSTEM)))
