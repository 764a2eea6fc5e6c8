"""Terms are words of their own, and wordings may be inflected, but no other word passes for them."""

from __future__ import annotations

import pytest

from ape.text.terms import find_terms, has_wording


@pytest.mark.parametrize(
    ("text", "terms", "found"),
    [
        ("Il vit à Paris.", {"Paris", "Pari"}, {"Paris"}),
        ("Un parisien passe.", {"Paris"}, set()),
        ("the work of York", {"work", "York"}, {"work", "York"}),
        ("The worker left.", {"work"}, set()),
        ("Anna's hat; the ANNAS", {"Anna"}, {"Anna"}),
        ("Ann-Marie and Ann", {"Ann"}, {"Ann"}),
        ("罗德里克笑了。", {"罗德", "罗德里克"}, {"罗德里克"}),
        ("罗德里克和罗德", {"罗德", "罗德里克"}, {"罗德", "罗德里克"}),
        ("罗德笑了。", {"罗德"}, {"罗德"}),
        ("アメリカへ行く", {"アメリ"}, set()),
        ("アメリは笑った", {"アメリ"}, {"アメリ"}),
        ("あんなに走る", {"あんな"}, set()),
        ("あんなは走る", {"あんな"}, {"あんな"}),
        ("iPhone用の", {"iPhone"}, {"iPhone"}),
        ("New York City", {"York", "New York"}, {"New York"}),
        # Letters that are equal in any case, but not in lower case, once ended in a KeyError.
        ("Das Haus iſt alt.", {"ist"}, {"ist"}),
        ("5 µ wide", {"μ"}, {"μ"}),
        ("İzmir ve İstanbul", {"izmir", "Istanbul"}, {"izmir", "Istanbul"}),
        ("στη ΣΑΣ, σασ", {"σας"}, {"σας"}),
        ("", {"a"}, set()),
        ("a", set(), set()),
        ("a", {" "}, set()),
    ],
)
def test_a_term_is_a_word_of_its_own(text: str, terms: set[str], found: set[str]) -> None:
    assert find_terms(text, terms) == found


@pytest.mark.parametrize(
    ("text", "wording", "language", "there"),
    [
        ("to Vestphalia", "Westphalia", "en", False),
        ("to Westphalia’s woods", "Westphalia", "en", True),
        ("Rhodes laughed", "Rhode", "en", False),
        ("RHODE laughed", "Rhode", "en", True),
        ("two spirit beasts", "spirit beast", "en", True),
        ("the Yan Rusheng\u00a0 affair", "Yan Rusheng", "en", True),
        ("Annával", "Anna", "hu", True),
        ("mit Annas Hut", "Anna", "de", True),
        ("к Наташе", "Наташа", "ru", True),
        ("Annette", "Anna", "hu", False),
        ("Johannas", "Anna", "de", False),
        ("他去了威斯特伐利亚。", "威斯特伐利亚", "zh", True),
        ("x", "", "en", False),
    ],
)
def test_a_wording_may_be_inflected_but_not_respelt(text: str, wording: str, language: str, there: bool) -> None:
    assert has_wording(text, wording, language=language) is there
