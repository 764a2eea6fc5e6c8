"""Fitting the edit filter: it learns which edits help, and passes none where none does."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from ape.edits.filter import EditFilter
from ape.edits.filter_features import collect_edit_evidence
from ape.errors import InputError
from ape.passage.segment import Draft, Segment, TokenLogprobs
from finetune.data.example import Example
from finetune.training.edit_filter import FOLDS, DraftedExample, _edits, _folds, fit_edit_filter, word_edit_distance

WORDS = "stone river lantern winter garden letter window harbour candle bridge".split()


def drafted(number: int, random: Random, *, good: float, books: int = 1) -> DraftedExample:
    """An MT with a wrong word, and a draft that corrects it with confidence or spoils another one without."""
    words = random.sample(WORDS, 6)
    human = " ".join(words)
    mt = " ".join(["Xen", *words[1:]])
    corrects = random.random() < good
    made = [*words] if corrects else ["Xen", *words[1:-1], "Zud"]
    logprobs = [
        TokenLogprobs((" " if at else "") + word, (-0.05 if corrects else -2.5) if word not in mt.split() else -0.01)
        for at, word in enumerate(made)
    ]
    pair = "et" if number % 2 else "ro"
    return DraftedExample(
        Example(f"{number}", f"b{number // 2 % books}", "Kivi .", mt, human, pair, "en"),
        Draft(" ".join(made), logprobs=tuple(logprobs)),
    )


def drafts(count: int, *, good: float, seed: int = 3, books: int = 1) -> list[DraftedExample]:
    random = Random(seed)
    return [drafted(number, random, good=good, books=books) for number in range(count)]


def folds(found: list[DraftedExample], seed: int = 1) -> list[tuple[set[str], set[str], int]]:
    """For each fold the books and passages in it, and the number of edits outside it."""
    every = _folds([edit for one in found for edit in _edits(one)], seed)
    return [
        ({edit.drafted.example.book for edit in held}, {edit.drafted.example.id for edit in held}, len(rest))
        for rest, held in every
    ]


def test_sure_edits_that_help_are_let_through_and_doubtful_ones_that_harm_are_not() -> None:
    fitted = fit_edit_filter(drafts(120, good=0.5))
    unseen = drafts(40, good=0.5, seed=8)
    after = [fitted.edit_filter.apply(one.example.segment, one.draft).text for one in unseen]
    helped = [one for one in unseen if one.draft.text == one.example.human]
    assert all(text in (one.example.human, one.example.mt) for text, one in zip(after, unseen, strict=True))
    assert sum(text == one.example.human for text, one in zip(after, unseen, strict=True)) == len(helped)
    assert set(fitted.words_gained) == {"et-en", "ro-en"}
    assert min(fitted.words_gained.values()) > 0


def test_where_no_edit_helps_none_is_let_through() -> None:
    fitted = fit_edit_filter(drafts(120, good=0.0))
    assert fitted.edit_filter.threshold == 1.0
    assert (fitted.edits_kept, set(fitted.words_gained.values())) == (0, {0})


def test_a_book_is_in_one_fold_whole() -> None:
    found = folds(drafts(120, good=0.5, books=7))
    assert len(found) == FOLDS
    assert sorted(book for books, _, _ in found for book in books) == [f"b{number}" for number in range(7)]
    assert sum(len(passages) for _, passages, _ in found) == 120


def test_two_books_make_two_folds() -> None:
    found = [books for books, _, _ in folds(drafts(120, good=0.5, books=2))]
    assert sorted(found, key=sorted) == [{"b0"}, {"b1"}]


def test_the_passages_of_a_pair_that_has_one_book_are_dealt_out() -> None:
    found = folds(drafts(120, good=0.5))
    assert [len(passages) for _, passages, _ in found] == [24] * FOLDS
    assert [books for books, _, _ in found] == [{"b0"}] * FOLDS
    assert not set.intersection(*(passages for _, passages, _ in found))


def test_a_file_of_each_pair_is_not_a_book_of_its_own() -> None:
    """With files as folds, the filter of each pair would be learned from the others only."""
    one = [replace(one, example=replace(one.example, book=one.example.pair)) for one in drafts(120, good=0.5)]
    assert [books for books, _, _ in folds(one)] == [{"et-en", "ro-en"}] * FOLDS


def test_the_reported_gain_is_not_what_the_threshold_was_chosen_by() -> None:
    """Edits that help by chance: the best of many thresholds gains on its own folds only."""
    random = Random(5)
    found = []
    for one in drafts(300, good=1.0):
        helps = random.random() < 0.5
        human = one.example.human if helps else one.example.mt
        logprobs = tuple(replace(chance, logprob=-random.random()) for chance in one.draft.logprobs)
        found.append(DraftedExample(replace(one.example, human=human), replace(one.draft, logprobs=logprobs)))
    reported = [sum(fit_edit_filter(found, seed=seed).words_gained.values()) for seed in range(4)]
    assert min(reported) < 0


def test_all_edits_in_one_passage_are_held_out_from_nothing_and_none_is_let_through() -> None:
    words = [f"{word}{number}" for number in range(12) for word in WORDS]
    mt = " ".join(word if at % 2 else "Xen" for at, word in enumerate(words))
    logprobs = tuple(TokenLogprobs((" " if at else "") + word, -0.05) for at, word in enumerate(words))
    human = " ".join(words)
    alone = DraftedExample(Example("1", "b", "Kivi .", mt, human, "et", "en"), Draft(human, logprobs=logprobs))
    fitted = fit_edit_filter([alone])
    assert (fitted.edit_filter.threshold, fitted.edits_kept, fitted.words_gained) == (1.0, 0, {"et-en": 0.0})


def test_the_same_drafts_make_the_same_filter() -> None:
    assert fit_edit_filter(drafts(80, good=0.5)).edit_filter == fit_edit_filter(drafts(80, good=0.5)).edit_filter


def test_too_few_edits_are_refused() -> None:
    with pytest.raises(InputError, match="The drafts have 10 edits"):
        fit_edit_filter(drafts(10, good=0.5))


def test_distance_counts_words_and_half_for_a_capital() -> None:
    assert word_edit_distance("the red cat sat", "the cat sat down") == 2
    assert word_edit_distance("the cat sat in rome", "the cat sat in Rome") == 0.5


def test_an_edit_that_loses_meaning_is_never_let_through() -> None:
    fitted = fit_edit_filter(drafts(120, good=0.5))
    one = drafts(1, good=1.0)[0]
    shorter = " ".join(one.example.mt.split()[:-1])
    logprobs = tuple(TokenLogprobs((" " if at else "") + word, 0.0) for at, word in enumerate(shorter.split()))
    sifted = fitted.edit_filter.model_copy(update={"threshold": 0.01}).apply(
        one.example.segment, Draft(shorter, logprobs=logprobs)
    )
    assert sifted.text == one.example.mt


def looping(number: int) -> DraftedExample:
    """An MT that repeats a phrase, and a draft that has it once."""
    human = "He bows to the king and goes"
    mt = "He bows to the king to the king to the king to the king and goes"
    return DraftedExample(Example(f"l{number}", "looping", "Ta läks .", mt, human, "et", "en"), Draft(human))


def test_loops_are_cut_whatever_the_filter_learns_and_teach_it_nothing() -> None:
    plain = drafts(200, good=0.5)
    alone, with_loops = (fit_edit_filter(plain), fit_edit_filter([*plain, *(looping(number) for number in range(3))]))
    assert not alone.edit_filter.cuts_loops
    assert with_loops.edit_filter == alone.edit_filter.model_copy(
        update={"cuts_loops": True}
    )  # because it gains where there are loops
    assert with_loops.loops_gained == {"et-en": 3 * 9}
    assert with_loops.edits_kept == alone.edits_kept + 3
    assert (
        with_loops.words_gained["et-en"] == alone.words_gained["et-en"] + 3 * 9
    )  # by hand: three rounds of three words in each


def test_a_fold_with_nothing_but_loops_outside_of_it_is_no_error() -> None:
    # One book has all the other edits, another has loops alone: holding out the first leaves nothing to learn from.
    plain = [replace(one, example=replace(one.example, source_language="et")) for one in drafts(120, good=0.5)]
    found = fit_edit_filter([*plain, *(looping(number) for number in range(3))])
    assert found.words_gained["et-en"] >= 3 * 9


def test_with_a_prior_few_edits_change_little_and_harmful_kinds_are_refused() -> None:
    prior = EditFilter(features={"lead": (0.0, 1.0, 2.0)}, bias=1.0, threshold=0.5)
    found = fit_edit_filter(drafts(60, good=0.5), joins_neighbours=True, prior=prior).edit_filter
    kinds = {edit.group[0].edit.kind: edit.gain for one in drafts(60, good=0.5) for edit in _edits(one)}
    assert set(found.refused_kinds) == {kind for kind, gain in kinds.items() if gain < 0}
    assert found.threshold == prior.threshold
    _mean, scale, weight = found.features["lead"]
    assert weight / scale == pytest.approx(2.0, rel=0.5)  # drawn towards the prior's


def test_an_edit_of_a_refused_kind_is_undone_however_sure_the_model_was() -> None:
    (evidence,) = collect_edit_evidence(
        Segment("Kivi .", "Old stone", "et", "en"),
        "Old stones",
        (TokenLogprobs("Old", -0.1), TokenLogprobs(" stones", -0.1)),
    )
    free = EditFilter(features={}, bias=5.0, threshold=0.5)
    assert free.accepts(evidence)
    assert not free.model_copy(update={"refused_kinds": (evidence.edit.kind,)}).accepts(evidence)
