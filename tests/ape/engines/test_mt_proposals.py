"""Proposals from the MT: where they begin, where they return, and when they are worth their time."""

from __future__ import annotations

from ape.engines.mt_proposals import Agreement, BatchTimes, MtProposals

MT = list(range(100, 180))


def cheap_batches() -> BatchTimes:
    """As on a machine that computes much faster than it reads memory."""
    times = BatchTimes()
    for _ in range(100):
        for tokens in (1, 4, 8, 16, 32, 64):
            times.measured(tokens, 0.040 + 0.001 * tokens)
    return times


def follow(mt: list[int]) -> MtProposals:
    return MtProposals(mt, Agreement(), cheap_batches())


def add(proposals: MtProposals, *tokens: int) -> None:
    for token in tokens:
        proposals.add(token)


def test_the_mt_is_proposed_from_its_beginning_and_on() -> None:
    proposals = follow(MT)
    first = list(proposals.propose(1, 200))
    assert first == MT[: len(first)]
    assert (1 + len(first)) % 16 == 0  # a batch of such a size takes the least time a token
    add(proposals, *first)
    assert proposals.propose(1, 200)[0] == MT[len(first)]


def test_nothing_is_proposed_while_the_draft_differs() -> None:
    proposals = follow(MT)
    add(proposals, MT[0], 7, 8)
    assert list(proposals.propose(1, 200)) == []


def test_after_a_replaced_word_the_mt_is_proposed_from_behind_it() -> None:
    proposals = follow(MT)
    add(proposals, MT[0], 7, MT[2])
    assert proposals.propose(1, 200)[0] == MT[3]


def test_after_an_inserted_and_after_a_dropped_word_too() -> None:
    inserted, dropped = follow(MT), follow(MT)
    add(inserted, MT[0], 7, MT[1])
    assert inserted.propose(1, 200)[0] == MT[2]
    add(dropped, MT[0], MT[2])
    assert dropped.propose(1, 200)[0] == MT[3]


def test_a_frequent_token_further_on_is_no_return_and_two_tokens_are() -> None:
    proposals = follow(MT)
    add(proposals, MT[0], MT[12])
    assert list(proposals.propose(1, 200)) == []
    add(proposals, MT[13])
    assert proposals.propose(1, 200)[0] == MT[14]


def test_words_before_the_departure_are_no_return() -> None:
    proposals = follow([1, 2, 3, *MT])
    add(proposals, 1, 2, 3, MT[0], 9, 1, 2, 3)
    assert list(proposals.propose(1, 200)) == []


def test_a_draft_longer_than_its_mt_has_no_proposals() -> None:
    proposals = follow(MT[:3])
    add(proposals, *MT[:3], 9, 9, 9)
    assert list(proposals.propose(1, 200)) == []
    assert list(follow([]).propose(1, 200)) == []


def test_where_drafts_seldom_follow_the_mt_nothing_is_proposed_until_they_do() -> None:
    agreement, times = Agreement(), BatchTimes()
    for number in range(300):
        agreement.add(agreed=number % 3 > 0)
    proposals = MtProposals(MT, agreement, times)
    assert list(proposals.propose(1, 200)) == []
    for number in range(9000):
        agreement.add(agreed=number % 100 > 0)
    assert MtProposals(MT, agreement, times).propose(1, 200)


def test_a_machine_on_which_batches_cost_little_proposes_even_then() -> None:
    agreement = Agreement()
    for number in range(300):
        agreement.add(agreed=number % 8 > 0)
    assert list(MtProposals(MT, agreement, BatchTimes()).propose(1, 200)) == []
    assert MtProposals(MT, agreement, cheap_batches()).propose(1, 200)


def test_the_limit_holds() -> None:
    assert len(follow(MT).propose(1, 5)) <= 5
    assert list(follow(MT).propose(1, 0)) == []
