"""What speaks for an edit: the model's own chances where its draft leaves the MT, and what goes and comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.gate import FEATURES, weigh_edits
from ape.gate.evidence import FLOOR
from ape.segment import Chance, Segment

SEGMENT = Segment("Kass magas 1660 .", "The cat slept in 16660 now .", "et", "en")
DRAFT = "The cat slept in 1660 ."
CHANCES = (
    *(Chance(token, -0.1) for token in ("The", " cat", " slept", " in", " ", "1", "6", "6")),
    Chance("0", -0.5, (("0", -0.5), ("6", -1.2), ("7", -0.7))),
    Chance(" .", -0.9, ((" now", -1.0), (" never", -0.95))),
)


def features(at: int) -> dict[str, float]:
    return dict(zip(FEATURES, weigh_edits(SEGMENT, DRAFT, CHANCES)[at].values, strict=True))


def test_the_rival_is_the_token_with_which_the_mt_goes_on() -> None:
    # By hand: after "1", "6", "6" the MT goes on with "6", which had -1.2; "7" was likelier and is not the MT.
    assert (features(0)["lead"], features(0)["rival"]) == (-0.5, -1.2)


def test_a_deletion_is_weighed_where_the_draft_skips_the_word() -> None:
    found = features(1)
    assert (found["deletion"], found["lead"], found["rival"]) == (1.0, -0.9, -1.0)


def test_a_number_that_stands_in_the_source_speaks_for_itself() -> None:
    assert features(0)["from_source"] == 1.0
    assert features(1)["from_source"] == 0.0


def test_a_rival_that_the_server_does_not_tell_of_is_as_unlikely_as_can_be() -> None:
    untold = tuple(Chance(one.text, one.logprob) for one in CHANCES)
    found = dict(zip(FEATURES, weigh_edits(SEGMENT, DRAFT, untold)[0].values, strict=True))
    assert found["rival"] == FLOOR


def test_a_word_cut_off_at_the_end_is_an_edit_too() -> None:
    segment = Segment("Ja .", "Yes indeed", "et", "en")
    (found,) = weigh_edits(segment, "Yes", (Chance("Yes", -0.2),))
    assert dict(zip(FEATURES, found.values, strict=True))["last"] == 1.0


def test_tokens_of_another_text_say_nothing() -> None:
    assert all(one.values == () for one in weigh_edits(SEGMENT, DRAFT, (Chance("Nonsense", -0.1),)))
    assert all(one.values == () for one in weigh_edits(SEGMENT, DRAFT, ()))


def test_a_character_in_two_tokens_is_put_together() -> None:
    half, other = (bytes([byte]).decode(errors="surrogateescape") for byte in "ș".encode())
    segment = Segment("Ploiești", "Ploiesti", "ro", "en")
    tokens = (
        Chance("Ploie", -0.1),
        Chance(half, -0.3, (("s", -1.5),)),
        Chance(other, -0.01),
        Chance("ti", -0.1),
    )
    (found,) = weigh_edits(segment, "Ploiești", tokens)
    values = dict(zip(FEATURES, found.values, strict=True))
    assert values["lead"] == pytest.approx(-0.31)  # by hand: both bytes
    assert values["rival"] == -1.5


WORDS = st.lists(st.sampled_from("the a cat sat on mat , . Rome 12 été 猫".split()), min_size=1, max_size=8)


@given(WORDS, WORDS, st.integers(1, 4))
def test_every_edit_of_any_draft_has_all_features_and_finite_ones(
    mt: list[str], made: list[str], width: int
) -> None:
    text = " ".join(made)
    tokens = [Chance(text[at : at + width], -0.5) for at in range(0, len(text), width)]
    found = weigh_edits(Segment("x y", " ".join(mt), "et", "en"), text, tokens)
    for one in found:
        assert len(one.values) == len(FEATURES)
        assert all(-100 < value < 100 for value in one.values)
