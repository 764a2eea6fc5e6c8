"""Features of edits: log-probabilities where the draft departs from the MT, and the words removed and added."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.edits.filter_features import FILTER_FEATURES, LOGPROB_FLOOR, collect_edit_evidence
from ape.passage.segment import Segment, TokenLogprobs

SEGMENT = Segment("Kass magas 1660 .", "The cat slept in 16660 now .", "et", "en")
DRAFT = "The cat slept in 1660 ."
LOGPROBS = (
    *(TokenLogprobs(token, -0.1) for token in ("The", " cat", " slept", " in", " ", "1", "6", "6")),
    TokenLogprobs("0", -0.5, (("0", -0.5), ("6", -1.2), ("7", -0.7))),
    TokenLogprobs(" .", -0.9, ((" now", -1.0), (" never", -0.95))),
)


def features(at: int) -> dict[str, float]:
    return dict(zip(FILTER_FEATURES, collect_edit_evidence(SEGMENT, DRAFT, LOGPROBS)[at].values, strict=True))


def test_the_rival_is_the_token_that_continues_the_mt() -> None:
    # By hand: after "1", "6", "6" the MT continues with "6", which had -1.2; "7" was likelier but does not continue it.
    assert (features(0)["lead"], features(0)["rival"]) == (-0.5, -1.2)


def test_a_deletion_is_measured_where_the_draft_skips_the_word() -> None:
    found = features(1)
    assert (found["deletion"], found["lead"], found["rival"]) == (1.0, -0.9, -1.0)


def test_a_number_of_the_source_counts_as_restored() -> None:
    assert features(0)["from_source"] == 1.0
    assert features(1)["from_source"] == 0.0


def test_an_unreported_rival_has_the_lowest_logprob() -> None:
    without_alternatives = tuple(TokenLogprobs(item.text, item.logprob) for item in LOGPROBS)
    found = dict(
        zip(FILTER_FEATURES, collect_edit_evidence(SEGMENT, DRAFT, without_alternatives)[0].values, strict=True)
    )
    assert found["rival"] == LOGPROB_FLOOR


def test_a_word_missing_at_the_end_is_an_edit() -> None:
    segment = Segment("Ja .", "Yes indeed", "et", "en")
    (found,) = collect_edit_evidence(segment, "Yes", (TokenLogprobs("Yes", -0.2),))
    assert dict(zip(FILTER_FEATURES, found.values, strict=True))["last"] == 1.0


def test_tokens_of_another_text_give_no_features() -> None:
    assert all(item.values == () for item in collect_edit_evidence(SEGMENT, DRAFT, (TokenLogprobs("Nonsense", -0.1),)))
    assert all(item.values == () for item in collect_edit_evidence(SEGMENT, DRAFT, ()))


def test_a_character_in_two_tokens_is_joined() -> None:
    half, other = (bytes([byte]).decode(errors="surrogateescape") for byte in "ș".encode())
    segment = Segment("Ploiești", "Ploiesti", "ro", "en")
    tokens = (
        TokenLogprobs("Ploie", -0.1),
        TokenLogprobs(half, -0.3, (("s", -1.5),)),
        TokenLogprobs(other, -0.01),
        TokenLogprobs("ti", -0.1),
    )
    (found,) = collect_edit_evidence(segment, "Ploiești", tokens)
    values = dict(zip(FILTER_FEATURES, found.values, strict=True))
    assert values["lead"] == pytest.approx(-0.31)  # by hand: both bytes
    assert values["rival"] == -1.5


WORDS = st.lists(st.sampled_from("the a cat sat on mat , . Rome 12 été 猫".split()), min_size=1, max_size=8)


@given(WORDS, WORDS, st.integers(1, 4))
def test_every_edit_of_any_draft_has_all_features_and_they_are_finite(
    mt: list[str], made: list[str], width: int
) -> None:
    text = " ".join(made)
    tokens = [TokenLogprobs(text[at : at + width], -0.5) for at in range(0, len(text), width)]
    found = collect_edit_evidence(Segment("x y", " ".join(mt), "et", "en"), text, tokens)
    for item in found:
        assert len(item.values) == len(FILTER_FEATURES)
        assert all(-100 < value < 100 for value in item.values)


@pytest.mark.parametrize(
    ("mt", "draft", "feature"),
    [
        ("Anna takes his hat.", "Anna takes her hat.", "gendered"),
        ("Anna takes it.", "Anna took it.", "to_past"),
        ("Anna took it.", "Anna takes it.", "to_present"),
        ("Anna came, then left.", "Anna came; then left.", "marks"),
        ("Then Anna came.", "Then Emma came.", "renames"),
    ],
)
def test_kinds_of_edits_that_travel_between_models_are_features(mt: str, draft: str, feature: str) -> None:
    segment = Segment("Anna vint.", mt, "fr", "en")
    logprobs = tuple(TokenLogprobs(character, -0.1) for character in draft)
    (evidence,) = collect_edit_evidence(segment, draft, logprobs)
    assert dict(zip(FILTER_FEATURES, evidence.values, strict=True))[feature] == 1.0
    others = {"gendered", "to_past", "to_present", "marks", "renames"} - {feature}
    assert not any(dict(zip(FILTER_FEATURES, evidence.values, strict=True))[name] for name in others)


@pytest.mark.parametrize(
    ("mt", "draft", "feature"),
    [
        ("This is what her said.", "This is what she said.", "gendered"),
        ("Anna resolved to ask him.", "Anna resolved asked him.", "to_past"),
        ("When does the game start? Anna knew.", "When did the game start? Anna knew.", "to_past"),
        ("“The game starts now,” said Anna.", "“The game started now,” said Anna.", "to_past"),
    ],
)
def test_no_tense_is_repaired_in_speech_questions_and_infinitives_nor_a_gender_by_case(
    mt: str, draft: str, feature: str
) -> None:
    segment = Segment("Anna vint.", mt, "fr", "en")
    logprobs = tuple(TokenLogprobs(character, -0.1) for character in draft)
    (evidence,) = collect_edit_evidence(segment, draft, logprobs)
    assert dict(zip(FILTER_FEATURES, evidence.values, strict=True))[feature] == 0.0


@pytest.mark.parametrize(
    ("mt", "draft", "blocked"),
    [
        ("Now it was as if he slept.", "Now he was as if he slept.", True),
        ("Then it seemed to Anna that Emma slept.", "Then she seemed to Anna that Emma slept.", False),
        ("Then it seemed that Emma slept.", "Then she seemed that Emma slept.", True),
        ("Now it was a dry man.", "Now he was a dry man.", False),
    ],
)
def test_an_impersonal_pronoun_is_no_person(mt: str, draft: str, blocked: bool) -> None:
    logprobs = tuple(TokenLogprobs(character, -0.1) for character in draft)
    (evidence,) = collect_edit_evidence(Segment("Anna dort.", mt, "fr", "en"), draft, logprobs)
    assert evidence.blocked is blocked


def test_a_lost_quotation_mark_is_blocked() -> None:
    segment = Segment("« Viens ! »", "“Come!” he said.", "fr", "en")
    draft = "Come!” he said."
    found = collect_edit_evidence(segment, draft, tuple(TokenLogprobs(character, -0.1) for character in draft))
    assert [evidence.blocked for evidence in found] == [True]


def test_an_edit_of_markup_is_blocked() -> None:
    segment = Segment("Anna vint.", "Anna <i>came</i>.", "fr", "en")
    draft = 'Anna "came".'
    found = collect_edit_evidence(segment, draft, tuple(TokenLogprobs(character, -0.1) for character in draft))
    assert all(evidence.blocked for evidence in found)
