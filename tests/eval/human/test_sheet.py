"""A rater's sheet: balanced, hidden, the same each time, with repeats far from what they repeat."""

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


def units(shown: tuple[SheetItem, ...], trial: Trial) -> list[list[SheetItem]]:
    """Items that are shown together."""
    if trial.condition == "paragraph":
        return [[one] for one in shown]

    def key(one: SheetItem) -> tuple[object, ...]:
        return one.passage.document, one.item.systems, one.item.kind

    return [list(run) for _, run in groupby(shown, key=key)]


def unbalance(sides: list[bool]) -> int:
    return abs(2 * sum(sides) - len(sides))


@settings(max_examples=30, deadline=None)
@given(trials(), st.sampled_from(["zoe", "yan"]))
def test_each_text_is_a_as_often_as_b_for_a_rater_overall_and_in_each_pair(trial: Trial, late: str) -> None:
    for rater in (*trial.raters[:2], late):
        runs = units(rater_sheet(trial, rater), trial)
        own = [run[0] for run in runs if run[0].item.kind == "pair"]
        assert unbalance([one.swapped for one in own]) <= 1
        for pair in {one.item.systems for one in own}:
            assert unbalance([one.swapped for one in own if one.item.systems == pair]) <= 1
        assert unbalance([run[0].swapped for run in runs if run[0].item.kind == "spam"]) <= 1


@settings(max_examples=25, deadline=None)
@given(trials())
def test_of_two_raters_from_the_start_one_sees_as_a_what_the_other_sees_as_b(trial: Trial) -> None:
    for one, other in zip(trial.raters[::2], trial.raters[1::2], strict=False):
        first = {shown.item.id: shown.first for shown in rater_sheet(trial, one)}
        second = {shown.item.id: shown.second for shown in rater_sheet(trial, other)}
        assert first == second


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_a_sheet_has_every_item_once_and_is_the_same_each_time(trial: Trial, rater: str) -> None:
    shown = rater_sheet(trial, rater)
    assert Counter(one.item.id for one in shown) == Counter(item.id for item in trial.items)
    assert rater_sheet(trial, rater) == shown


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_a_repeat_comes_swapped_and_after_half_of_the_rest(trial: Trial, rater: str) -> None:
    runs = units(rater_sheet(trial, rater), trial)
    places = {one.item.id: place for place, run in enumerate(runs) for one in run}
    shown = {one.item.id: one for run in runs for one in run}
    rest = sum(run[0].item.kind != "repeat" for run in runs)
    # Of a few documents of unequal length most may have to be repeated; then there is no room for that.
    room = rest // 2 if rest >= 2 * (len(runs) - rest) else 0
    for one in shown.values():
        if one.item.repeats:
            original = shown[one.item.repeats]
            assert (one.first, one.second) == (original.second, original.first)
            between = runs[places[original.item.id] + 1 : places[one.item.id]]
            assert sum(run[0].item.kind != "repeat" for run in between) >= room


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_passages_of_a_document_follow_each_other_in_order_with_the_same_system_as_a(
    trial: Trial, rater: str
) -> None:
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
def test_what_a_rater_is_given_names_no_system_and_tells_no_kind(trial: Trial, rater: str) -> None:
    told = public_sheet(trial, rater)
    text = json.dumps(told)
    assert not any(name in text for name in (*SYSTEMS, SHUFFLED_SYSTEM, "repeat", "spam", "swapped"))
    assert all(not item["sources"] for item in told["items"]) or trial.bilingual
    assert {frozenset(item) for item in told["items"]} == {
        frozenset({"id", "group", "book", "language", "sources", "a", "b"})
    }
    if trial.condition == "paragraph":
        assert len({item["group"] for item in told["items"]}) == len(told["items"])


@settings(max_examples=25, deadline=None)
@given(trials(), st.text("xyz", min_size=1))
def test_spam_is_in_runs_as_long_as_others(trial: Trial, rater: str) -> None:
    groups = Counter(item["group"] for item in public_sheet(trial, rater)["items"])
    kinds = {item.id: item.kind for item in trial.items}
    shown = [(groups[item["group"]], kinds[item["id"]]) for item in public_sheet(trial, rater)["items"]]
    ordinary = {length for length, kind in shown if kind == "pair"}
    assert {length for length, kind in shown if kind == "spam"} <= ordinary


def test_of_documents_there_is_as_much_spam_as_asked_for_in_whole_runs() -> None:
    design = TrialDesign(items=16, condition="document", paragraphs=1, passages=4, repeats=0, spam=0.1)
    trial = a_trial(design=design)
    spam = [item for item in trial.items if item.kind == "spam"]
    assert len(spam) == 4  # two are asked for, and a run has four
    assert len({item.passage.partition(":")[0] for item in spam}) == 1
    places = [int(item.passage.partition(":")[2]) for item in spam]
    assert places == list(range(places[0], places[0] + 4))
    shown_otherwise = {item.passage for item in trial.items if item.kind == "pair"}
    assert not shown_otherwise & {item.passage for item in spam}


def test_ids_come_in_no_order_that_tells_the_kinds_apart() -> None:
    trial = a_trial(design=TrialDesign(items=40, repeats=0.5, spam=0.5))
    ids = sorted((item.id, item.kind) for item in trial.items)
    # In the order of ids the kinds are mixed: were it by kind, there would be two changes only.
    kinds = [kind for _, kind in ids]
    assert sum(one != other for one, other in pairwise(kinds)) > 10


def test_other_raters_and_other_seeds_have_another_order() -> None:
    trial = a_trial(design=TrialDesign(items=30))
    orders = {tuple(one.item.id for one in rater_sheet(trial, name)) for name in ("anna", "ben", "cara")}
    assert len(orders) == 3
    assert [item.texts for item in a_trial(seed=2).items] != [item.texts for item in a_trial().items]


def test_a_rater_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="A rater needs a name"):
        rater_sheet(a_trial(), " ")
