"""Guards on the shape of a draft: empty, truncated, too short or long, split into lines, changed too much."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask

LONG = (
    "The old house stood at the end of the lane, and nobody had lived in it since the war. "
    "In the evening the windows caught the light, so that it seemed as if somebody were at home."
)


@pytest.mark.parametrize("draft", ["", "   ", "…", "***", "“”"])
def test_a_draft_without_words_is_empty(ask: Ask, draft: str) -> None:
    assert ask("empty", "He left.", draft) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"), [("***", "* * *"), ("He left.", "Gone."), ("走了。", "他走了。"), ("—", "–"), ("", "")]
)
def test_a_draft_that_says_something_or_has_nothing_to_say_is_not_empty(
    ask: Ask, mt: str, draft: str
) -> None:
    assert ask("empty", mt, draft) == ""


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Il entra et ferma la porte.", "He entered and closed the door.", "He came in and"),
        (
            "fr-en",
            "Elle prit la lettre et la lut.",
            "She took the letter and read it.",
            "She took the letter",
        ),
        ("de-en", "Er wartete auf den Zug.", "He waited for the train.", "He was waiting for the"),
        ("en-ru", "He opened the window and looked out.", "Он открыл окно и выглянул.", "Он открыл окно и"),
        ("en-zh", "He opened the window and looked out.", "他打开窗户，向外看去。", "他打开窗户，"),
        (
            "ja-en",
            "彼は窓を開けて外を見た。",
            "He opened the window and looked out.",
            "He opened the window,",
        ),
        (
            "ar-en",
            "فتح النافذة ونظر إلى الخارج.",
            "He opened the window and looked outside.",
            "He opened the",
        ),
        ("fr-en", "Le vieux château", "The old castle on the hill", "The old castle on"),
    ],
)
def test_a_draft_that_stops_in_mid_sentence_is_truncated(
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("truncated", mt, draft, source, languages) == "reject"


def test_a_draft_cut_off_by_the_server_is_truncated_however_it_ends(ask: Ask) -> None:
    assert ask("truncated", "He left.", "He went away.", finish_reason="length") == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Il partit.", "He left.", "He went away."),
        ("« Viens ! »", "“Come!”", "“Come on!”"),
        ("Il partit .", "He left .", "He went away ."),
        ("Il partit…", "He left…", "He went away…"),
        ("Chapitre premier", "Chapter first", "Chapter One"),
        ("Il partit", "He left.", "He went away"),
        ("Il dit ceci :", "He said this:", "He said the following:—"),
        ("Comment Candide fut chassé.", "How Candide was chased away.", "How Candide Was Driven Out"),
    ],
)
def test_a_draft_that_ends_as_the_passage_does_is_whole(ask: Ask, source: str, mt: str, draft: str) -> None:
    assert ask("truncated", mt, draft, source) in ("", "warn")


def test_a_full_stop_lost_from_a_whole_sentence_is_only_told(ask: Ask) -> None:
    assert ask("truncated", "He went away.", "He then went away", "Il partit.") == "warn"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", LONG, LONG, "The old house stood at the end of the lane."),
        ("fr-en", LONG, LONG, LONG + " " + LONG),
        ("zh-en", "他打开窗户，向外看去，什么也没有看见，只有雨。" * 2, LONG, "He looked out."),
        (
            "en-zh",
            LONG,
            "老房子在巷子的尽头，战后就没有人住过。傍晚时分，窗户映着光，好像有人在家。",
            "老房子没有人住。",
        ),
        (
            "ru-en",
            "Старый дом стоял в конце переулка, и никто не жил в нём с войны. " * 2,
            LONG,
            "An old house.",
        ),
    ],
)
def test_a_draft_far_too_short_or_long_is_refused(
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("length", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Oui.", "Yes.", "Yes, of course."),
        ("fr-en", LONG, LONG, LONG.replace("and nobody had lived in it", "empty")),
        ("fr-en", LONG, "The old house stood there.", LONG),  # the MT left out most of it
        (
            "zh-en",
            "他走了，再也没有回来过。",
            "He left and never came back.",
            "He went away, never to return again.",
        ),
        (
            "en-ja",
            "He left and never came back.",
            "彼は去り、二度と戻らなかった。",
            "彼は立ち去って、もう二度と戻ってはこなかった。",
        ),
    ],
)
def test_a_draft_of_a_fitting_length_passes(
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("length", mt, draft, source, languages) == ""


@pytest.mark.parametrize(
    ("mt", "draft", "weight"),
    [
        ("One paragraph.", "One\n\nparagraph\n\nin three.", "reject"),
        ("One.\n\nTwo.", "One. Two.", "warn"),
        ("One. Two.", "One.\nTwo.", "warn"),
        ("One.\n\nTwo.", "First.\n\nSecond.", ""),
        ("One. Two.", "One, two.", ""),
    ],
)
def test_paragraphs_lost_or_invented_are_told(ask: Ask, mt: str, draft: str, weight: str) -> None:
    assert ask("paragraphs", mt, draft, source=mt) == weight


def test_paragraphs_put_back_as_in_the_source_are_right(ask: Ask) -> None:
    assert ask("paragraphs", "One. Two. Three.", "One.\nTwo.\nThree.", "Un.\nDeux.\nTrois.") == ""


def test_a_new_translation_is_over_the_cap_and_a_repair_is_not(ask: Ask) -> None:
    anew = (
        "Decades ago, somewhere past that muddy crossing, someone built what everyone called a manor; soldiers came, "
        "its owners fled, none returned. Now sunset sets fire to every pane, fooling strangers who think families "
        "still dine inside."
    )
    assert ask("edit_rate", LONG * 3, anew * 3, LONG * 3) == "reject"
    assert ask("edit_rate", LONG, LONG.replace("nobody had lived in it", "it had been empty"), LONG) == ""


def test_a_few_words_may_change_altogether(ask: Ask) -> None:
    assert ask("edit_rate", "It rains cats.", "It is pouring.", "Il pleut des cordes.") == ""


def test_an_mt_that_left_out_most_of_its_source_may_be_written_anew(ask: Ask) -> None:
    assert ask("edit_rate", "House was there in the lane of old.", LONG, LONG) in ("", "warn")
