"""Estimates of pairs, skipped paragraphs, tokens, time and cost, without a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.books.pairing.book_pairing import ParagraphPair
from ape.jobs.counts import ModelRate
from ape.jobs.estimate import ENGINE_SPEEDS, FREE_PRICE, BookEstimate, EngineSpeed, TokenPrice, estimate_book
from ape.jobs.job import JobRecipe
from ape.jobs.stretches import split_into_stretches
from ape.text.token_estimate import estimate_tokens
from prompts import CHAT, SEP

RECIPE = JobRecipe("model", "", CHAT.fingerprint, "fr", "en", context=0, max_attempts=1)
SPEED = EngineSpeed(reads=1_000, writes=100, concurrency=10, slack=1.0)


def pair(
    place: int, *, chapter: int = 0, mt: str = "He put the lamp down.", skip: str = "", how: str = "structure"
) -> ParagraphPair:
    return ParagraphPair(
        f"p{place}", chapter, f"Chapter {chapter}", place, mt, "Il posa la lampe.", ("s",), how, 1.0, skip
    )


def plan_of(
    *pairs: ParagraphPair, recipe: JobRecipe = RECIPE, speed: EngineSpeed = SPEED, price: TokenPrice | None = None
) -> BookEstimate:
    return estimate_book(pairs, recipe, speed=speed, price=price)


def test_chapters_and_totals_are_counted() -> None:
    plan = plan_of(pair(0), pair(1, skip="no words"), pair(2, chapter=1, how="alignment"))
    assert [(c.title, c.paragraphs, c.pairs, c.skipped, c.words) for c in plan.chapters] == [
        ("Chapter 0", 2, 1, 1, 5),
        ("Chapter 1", 1, 1, 0, 5),
    ]
    assert (plan.paragraphs, plan.pairs, plan.words) == (3, 2, 10)
    assert plan.pairs_by == {"structure": 1, "alignment": 1}


def test_what_is_skipped_is_told_by_reason_with_examples() -> None:
    doubtful = [pair(n, skip=f"the pair is doubtful (confidence 0.{n})") for n in range(10, 17)]
    plan = plan_of(pair(0, skip="no words"), *doubtful)
    assert [(skip.reason, skip.count) for skip in plan.skipped] == [("the pair is doubtful", 7), ("no words", 1)]
    assert [name for name, _ in plan.skipped[0].examples] == ["p10", "p11", "p12", "p13", "p14"]


def test_skipped_paragraphs_cost_nothing() -> None:
    plan = plan_of(pair(0, skip="no words"), price=TokenPrice(1, 1))
    assert plan.tokens_in.high == plan.tokens_out.high == plan.seconds.high == 0
    assert plan.cost is not None
    assert plan.cost.high == 0


def test_the_instructions_of_the_prompt_count_in_every_request() -> None:
    one, two = plan_of(pair(0)), plan_of(pair(0), pair(1))
    assert one.tokens_in.low > 200  # the chat prompt alone has some 1,200 characters
    assert two.tokens_in.low == pytest.approx(2 * one.tokens_in.low)


def test_context_counts_within_a_chapter_only() -> None:
    with_context = replace(RECIPE, context=2)
    apart = plan_of(pair(0), pair(1, chapter=1), recipe=with_context)
    together = plan_of(pair(0), pair(1), recipe=with_context)
    more = together.tokens_in.low - apart.tokens_in.low
    assert more == pytest.approx(
        estimate_tokens("Il posa la lampe.", language="fr").low
        + estimate_tokens("He put the lamp down.", language="en").low
    )


def test_a_tuned_model_is_shown_no_context() -> None:
    tuned = replace(RECIPE, prompt=SEP.fingerprint, context=2)
    assert (
        plan_of(pair(0), pair(1), recipe=tuned).tokens_in
        == plan_of(pair(0), pair(1, chapter=1), recipe=tuned).tokens_in
    )
    assert plan_of(pair(0), recipe=tuned).tokens_in.low < plan_of(pair(0)).tokens_in.low


def test_attempts_that_may_be_needed_raise_the_high_end_alone() -> None:
    once, twice = plan_of(pair(0)), plan_of(pair(0), recipe=replace(RECIPE, max_attempts=2))
    assert twice.tokens_out.low == once.tokens_out.low
    assert twice.tokens_out.high == 2 * once.tokens_out.high


def test_glossary_entries_count_where_they_occur() -> None:
    with_lamp = replace(RECIPE, glossary=(("lampe", "lantern"), ("phare", "lighthouse")))
    more = plan_of(pair(0), recipe=with_lamp).tokens_in.low - plan_of(pair(0)).tokens_in.low
    assert more == pytest.approx(estimate_tokens("lampe = lantern\n").low)


def test_time_is_tokens_over_speed_and_requests_at_once() -> None:
    plan = plan_of(pair(0))
    by_hand = (plan.tokens_in.low / 1_000 + plan.tokens_out.low / 100) / 10
    assert plan.seconds.low == pytest.approx(by_hand)


def test_a_guess_is_wider_than_a_measurement() -> None:
    rate = ModelRate(passages=200, seconds=2.0, prompt_tokens=400, completion_tokens=100)
    measured = EngineSpeed.measured(rate, concurrency=4)
    assert measured.origin == "measured on the last 200 passages"
    assert measured.slack < ENGINE_SPEEDS["embedded"].slack
    assert 400 / measured.reads + 100 / measured.writes == pytest.approx(2.0)  # as long as it took before


def test_cost_is_by_price_and_unknown_without_one() -> None:
    plan = plan_of(pair(0), price=TokenPrice(reads=2.0, writes=8.0))
    assert plan.cost is not None
    assert plan.cost.high == pytest.approx((2 * plan.tokens_in.high + 8 * plan.tokens_out.high) / 1e6)
    assert plan_of(pair(0)).cost is None
    free = plan_of(pair(0), price=FREE_PRICE).cost
    assert free is not None
    assert free.high == 0


def test_a_prediction_may_be_paid_in_full() -> None:
    price = TokenPrice(1.0, 2.0)
    plain, predicted = (
        estimate_book([pair(0)], RECIPE, speed=SPEED, price=price, prediction=bool(prediction)) for prediction in (0, 1)
    )
    assert plain.cost
    assert predicted.cost
    assert predicted.cost.low == plain.cost.low
    assert predicted.cost.high == pytest.approx(plain.cost.high + plain.tokens_out.high * 2.0 / 1e6)


def test_a_plan_is_json() -> None:
    found = json.loads(json.dumps(plan_of(pair(0), pair(1, skip="no words"), price=FREE_PRICE).to_json()))
    assert found["chapters"][0]["title"] == "Chapter 0"
    assert found["skipped"] == [
        {"reason": "no words", "count": 1, "examples": [{"id": "p1", "text": "He put the lamp down."}]}
    ]
    assert isinstance(found["tokens_in"]["low"], int)


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        # Counted with SmolLM2's vocabulary, the high end of the range.
        ("She put the lamp on the table and closed the window.", "en", 12),
        ("Она поставила лампу на стол и закрыла окно.", "ru", 31),
        ("她把灯放在桌上，关上了窗户。", "zh", 24),
    ],
)
def test_real_counts_are_near_the_high_end(text: str, language: str, tokens: int) -> None:
    guess = estimate_tokens(text, language=language)
    assert guess.low < tokens <= guess.high * 1.3


# --- stretches ---------------------------------------------------------------------------------------------------


def numbers(*lengths: int, longest: int = 20) -> list[list[int]]:
    """The numbers of the stretches, chapter by chapter."""
    pairs = [pair(n, chapter=chapter) for chapter, length in enumerate(lengths) for n in range(length)]
    cut = list(split_into_stretches(pairs, longest=longest))
    assert [found for found, _ in cut] == pairs
    return [[number for found, number in cut if found.chapter == chapter] for chapter in range(len(lengths))]


def test_a_short_chapter_is_one_stretch() -> None:
    assert numbers(3, 20) == [[0] * 3, [1] * 20]


def test_a_long_chapter_is_cut_into_equal_parts() -> None:
    assert numbers(45) == [[0] * 15 + [1] * 15 + [2] * 15]
    assert numbers(21) == [[0] * 11 + [1] * 10]


def test_without_context_every_paragraph_is_on_its_own() -> None:
    assert numbers(3, 2, longest=1) == [[0, 1, 2], [3, 4]]


@given(lengths=st.lists(st.integers(1, 90), max_size=5), longest=st.integers(1, 30))
def test_stretches_are_short_in_order_and_never_across_chapters(lengths: list[int], longest: int) -> None:
    found = [number for chapter in numbers(*lengths, longest=longest) for number in chapter]
    assert found == sorted(found)
    assert set(found) == set(range(len(set(found))))
    assert all(found.count(number) <= longest for number in set(found))
    chapters = numbers(*lengths, longest=longest)
    assert sum(len(set(chapter)) for chapter in chapters) == len(set(found))


def test_a_book_without_chapters_is_cut_without_being_held() -> None:
    read = 0

    def endless() -> Iterator[ParagraphPair]:
        nonlocal read
        while True:
            yield pair(read)
            read += 1

    stretches = split_into_stretches(endless())
    for _ in range(500):
        next(stretches)
    assert read <= 1_000
