"""What can't be a name of a person, and where one begins and ends."""

from __future__ import annotations

import pytest

from eval.linguistics.literary.name_rules import correct_names


def _names(text: str, *names: str) -> list[str]:
    """The names after the rules, where the network found these persons and took every capital for a proper noun."""
    words = text.split()
    tags = ["NNP" if word[:1].isupper() else "NN" for word in words]
    spans = {}
    for name in names:
        inside = name.split()
        start = next(at for at in range(len(words)) if words[at : at + len(inside)] == inside)
        spans[start, start + len(inside)] = "PER"
    return [f"{' '.join(words[a:b])} {label}" for (a, b), label in correct_names(words, tags, spans).items()]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("then Captain left", "Captain"),
        ("two Indians met", "Indians"),
        ("vitamin B12 is rare", "B12"),
        ("where NEA said so", "NEA"),
        ("on the Fuwalda he slept", "Fuwalda"),
        ("He ran . Poor man !", "Poor"),
    ],
)
def test_titles_peoples_digits_acronyms_ships_and_common_words_are_no_persons(text: str, name: str) -> None:
    assert _names(text, name) == []


def test_families_and_names_in_capitals_stay() -> None:
    assert _names("and the Munsters came", "Munsters") == ["Munsters PER"]
    assert _names("said BARBARA PINKERTON to her", "BARBARA PINKERTON") == ["BARBARA PINKERTON PER"]
    assert _names("Then SH looked away", "SH") == ["SH PER"]


def test_titles_and_proper_nouns_beside_it_belong_to_a_name_and_epithets_do_not() -> None:
    assert _names("old Major Amberson slept", "Amberson") == ["Major Amberson PER"]
    assert _names("known as Black Michael there", "Michael") == ["Black Michael PER"]
    assert _names("Milt Dale slept", "Milt") == ["Milt Dale PER"]
    assert _names("Poor Jo ran", "Poor Jo") == ["Jo PER"]
    assert _names("and Frenchwoman Lucile Lefevre won", "Lucile Lefevre") == ["Lucile Lefevre PER"]
    assert _names("said Fed President Raphael Bostic", "Raphael Bostic") == ["President Raphael Bostic PER"]


def test_the_first_word_of_a_sentence_and_another_name_are_not_joined() -> None:
    assert _names("He left . Then Jo ran", "Jo") == ["Jo PER"]
    assert _names("by Harding Eleanor ran", "Harding", "Eleanor") == ["Harding PER", "Eleanor PER"]


def test_words_in_lower_case_at_the_ends_are_left_out() -> None:
    assert _names("so Anne haggard looked", "Anne haggard") == ["Anne PER"]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Gates Foundation", "ORG"),
        ("Kellynch Hall", "FAC"),
        ("Lake George", "LOC"),
        ("Mrs. Hall", "PER"),
        ("Mr Lake", "PER"),
    ],
)
def test_words_of_places_and_firms_tell_the_type(name: str, label: str) -> None:
    assert _names(f"he saw {name} there", name) == [f"{name} {label}"]


def test_other_types_stay_as_they_are() -> None:
    assert correct_names(["the", "NEA"], ["DT", "NNP"], {(1, 2): "ORG"}) == {(1, 2): "ORG"}
