"""Rater sheets: balanced, blind and reproducible, with repeats far from their originals."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from eval.human.design import TrialDesign, make_trial
from eval.human.sheet import public_sheet, rater_sheet
from eval.human.trial import SheetItem, Trial
from eval.human.vote import SHUFFLED_SYSTEM
from tests.eval.human.trial_factory import a_corpus, a_trial

SYSTEMS = ("harbinger-7b", "lighthouse", "do-nothing")
CORPORA = {count: a_corpus(8, length=12, systems=SYSTEMS[:count]) for count in (2, 3)}

designs = st.builds(
    TrialDesign,
    items=st.integers(1, 30),
    condition=st.sampled_from(["paragraph", "document"]),
    paragraphs=st.integers(1, 3),
    all_pairs=st.booleans(),
    bilingual=st.booleans(),
    repeats=st.sampled_from([0.0, 0.1, 0.5]),
    spam=st.sampled_from([0.0, 0.1, 0.5]),
)


@st.composite
def trials(draw: st.DrawFn) -> Trial:
    systems = SYSTEMS[: draw(st.integers(2, 3))]
    corpus = CORPORA[len(systems)]
    names = draw(st.lists(st.text("abcdeé .", min_size=1).filter(str.strip), unique=True, max_size=5))
    return make_trial(corpus, seed=draw(st.integers(0, 99)), design=draw(designs), raters=names)


def units(sheet: tuple[SheetItem, ...], trial: Trial) -> list[list[SheetItem]]:
    """Group the items that are shown together."""
    if trial.condition == "paragraph":
        return [[one] for one in sheet]

    def key(one: SheetItem) -> tuple[object, ...]:
        return one.passage.document, one.item.systems, one.item.kind

    return [list(run) for _, run in groupby(sheet, key=key)]


def imbalance(sides: list[bool]) -> int:
    return abs(2 * sum(sides) - len(sides))


@settings(max_examples=30, deadline=None)
@given(trials(), st.sampled_from(["zoe", "yan"]))
def test_sides_are_balanced_for_a_rater_overall_and_in_each_pair(trial: Trial, late: str) -> None:
    for rater in (*trial.raters[:2], late):
        runs = units(rater_sheet(trial, rater), trial)
        own = [run[0] for run in runs if run[0].item.kind == "pair"]
        assert imbalance([one.swapped for one in own]) <= 1
        for pair in {one.item.systems for one in own}:
            assert imbalance([one.swapped for one in own if one.item.systems == pair]) <= 1
        assert imbalance([run[0].swapped for run in runs if run[0].item.kind == "spam"]) <= 1


@settings(max_examples=25, deadline=None)
@given(trials())
def test_paired_raters_have_mirrored_sides(trial: Trial) -> None:
    for one, other in zip(trial.raters[::2], trial.raters[1::2], strict=False):
        first = {sheet.item.id: sheet.first for sheet in rater_sheet(trial, one)}
        second = {sheet.item.id: sheet.second for sheet in rater_sheet(trial, other)}
        assert first == second


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_a_sheet_has_every_item_once_and_is_reproducible(trial: Trial, rater: str) -> None:
    sheet = rater_sheet(trial, rater)
    assert Counter(one.item.id for one in sheet) == Counter(item.id for item in trial.items)
    assert rater_sheet(trial, rater) == sheet


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_a_repeat_is_swapped_and_follows_half_of_the_rest(trial: Trial, rater: str) -> None:
    runs = units(rater_sheet(trial, rater), trial)
    places = {one.item.id: place for place, run in enumerate(runs) for one in run}
    sheet = {one.item.id: one for run in runs for one in run}
    rest = sum(run[0].item.kind != "repeat" for run in runs)
    # With few documents of unequal length, most may be repeated, which leaves too little room.
    room = rest // 2 if rest >= 2 * (len(runs) - rest) else 0
    for one in sheet.values():
        if one.item.repeats:
            original = sheet[one.item.repeats]
            assert (one.first, one.second) == (original.second, original.first)
            between = runs[places[original.item.id] + 1 : places[one.item.id]]
            assert sum(run[0].item.kind != "repeat" for run in between) >= room


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_passages_of_a_document_are_consecutive_with_the_same_sides(trial: Trial, rater: str) -> None:
    if trial.condition == "paragraph":
        return
    runs = units(rater_sheet(trial, rater), trial)
    own = [run for run in runs if run[0].item.kind == "pair"]
    assert len(own) == len({(run[0].passage.document, run[0].item.systems) for run in own})
    for run in own:
        places = [int(one.passage.id.rpartition(":")[2].partition("-")[0]) for one in run]
        assert places == sorted(places)
        assert len({one.swapped for one in run}) == 1


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_a_public_sheet_reveals_neither_systems_nor_kinds(trial: Trial, rater: str) -> None:
    sheet = public_sheet(trial, rater)
    text = json.dumps(sheet)
    assert not any(name in text for name in (*SYSTEMS, SHUFFLED_SYSTEM, "repeat", "spam", "swapped"))
    assert all(not item["sources"] for item in sheet["items"]) or trial.bilingual
    assert {frozenset(item) for item in sheet["items"]} == {
        frozenset({"id", "group", "book", "language", "sources", "a", "b"})
    }
    if trial.condition == "paragraph":
        assert len({item["group"] for item in sheet["items"]}) == len(sheet["items"])


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_spam_runs_are_as_long_as_others(trial: Trial, rater: str) -> None:
    groups = Counter(item["group"] for item in public_sheet(trial, rater)["items"])
    kinds = {item.id: item.kind for item in trial.items}
    sheet = [(groups[item["group"]], kinds[item["id"]]) for item in public_sheet(trial, rater)["items"]]
    ordinary = {length for length, kind in sheet if kind == "pair"}
    assert {length for length, kind in sheet if kind == "spam"} <= ordinary


def test_document_spam_comes_in_whole_runs() -> None:
    design = TrialDesign(items=16, condition="document", paragraphs=1, passages=4, repeats=0, spam=0.1)
    trial = a_trial(design=design)
    spam = [item for item in trial.items if item.kind == "spam"]
    assert len(spam) == 4  # the design requires two, and a run has four
    assert len({item.passage.partition(":")[0] for item in spam}) == 1
    places = [int(item.passage.partition(":")[2]) for item in spam]
    assert places == list(range(places[0], places[0] + 4))
    shown_otherwise = {item.passage for item in trial.items if item.kind == "pair"}
    assert not shown_otherwise & {item.passage for item in spam}


def test_the_order_of_ids_does_not_reveal_the_kinds() -> None:
    trial = a_trial(design=TrialDesign(items=40, repeats=0.5, spam=0.5))
    ids = sorted((item.id, item.kind) for item in trial.items)
    # Sorted by id the kinds are mixed; grouped by kind there would be only two changes.
    kinds = [kind for _, kind in ids]
    assert sum(one != other for one, other in pairwise(kinds)) > 10


def test_the_order_depends_on_rater_and_seed() -> None:
    trial = a_trial(design=TrialDesign(items=30))
    orders = {tuple(one.item.id for one in rater_sheet(trial, name)) for name in ("anna", "ben", "cara")}
    assert len(orders) == 3
    assert [item.texts for item in a_trial(seed=2).items] != [item.texts for item in a_trial().items]


def test_a_rater_without_a_name_is_rejected() -> None:
    with pytest.raises(InputError, match="A rater needs a name"):
        rater_sheet(a_trial(), " ")
