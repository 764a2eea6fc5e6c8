"""Names of a ledger are found by whole words, the longest first, in a time that does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.ledger.form_finder import FormFinder
from tests.linear import assert_linear


@pytest.mark.parametrize(
    ("forms", "text", "found"),
    [
        ({"Anna", "Anna Arkadyevna"}, "Anna Arkadyevna und Anna", [(0, "Anna Arkadyevna"), (20, "Anna")]),
        ({"Anna", "Annab"}, "Annales", []),
        ({"Anna", "Anna A"}, "Anna Ab", [(0, "Anna")]),
        ({"b", "a", "ab"}, "a b ab", [(0, "a"), (2, "b"), (4, "ab")]),
        (set[str](), "a", []),
    ],
)
def test_the_longest_form_of_whole_words_is_found(forms: set[str], text: str, found: list[tuple[int, str]]) -> None:
    assert list(FormFinder(forms, "de").find(text)) == found


@given(forms=st.sets(st.text("ab ", min_size=1, max_size=5), max_size=12), text=st.text("ab .", max_size=30))
def test_what_is_found_is_what_trying_all_forms_finds(forms: set[str], text: str) -> None:
    def stands(start: int, form: str) -> bool:
        end = start + len(form)
        return text.startswith(form, start) and not (text[start - 1 : start].isalpha() or text[end : end + 1].isalpha())

    expected, place = list[tuple[int, str]](), 0
    while place < len(text):
        here = [form for form in forms if stands(place, form)]
        if here:
            expected.append((place, max(here, key=len)))
        place += len(max(here, key=len)) if here else 1
    assert list(FormFinder(forms, "de").find(text)) == expected


@pytest.mark.parametrize("name", [lambda number: f"e{number}", lambda number: "e" * (number % 1000 + 1)])
def test_more_names_with_the_same_beginning_take_no_more_time(name: Callable[[int], str]) -> None:
    text = "elle et e12 est venue " * 200

    def work(size: int) -> None:
        finder = FormFinder((name(number) for number in range(size)), "fr")
        for _ in range(3):
            list(finder.find(text))

    assert_linear(work, 1_000)
