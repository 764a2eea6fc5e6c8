"""Drafts that stop in mid-sentence."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Il entra et ferma la porte.", "He entered and closed the door.", "He came in and"),
        ("fr-en", "Elle prit la lettre et la lut.", "She took the letter and read it.", "She took the letter"),
        ("de-en", "Er wartete auf den Zug.", "He waited for the train.", "He was waiting for the"),
        ("en-ru", "He opened the window and looked out.", "Он открыл окно и выглянул.", "Он открыл окно и"),
        ("en-zh", "He opened the window and looked out.", "他打开窗户，向外看去。", "他打开窗户，"),
        ("ja-en", "彼は窓を開けて外を見た。", "He opened the window and looked out.", "He opened the window,"),
        ("ar-en", "فتح النافذة ونظر إلى الخارج.", "He opened the window and looked outside.", "He opened the"),
        ("fr-en", "Le vieux château", "The old castle on the hill", "The old castle on"),
    ],
)
def test_a_draft_that_stops_in_mid_sentence_is_truncated(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("truncated", mt, draft, source, languages) == "reject"


def test_a_draft_cut_off_by_the_server_is_truncated_however_it_ends(severity_of: SeverityOf) -> None:
    assert severity_of("truncated", "He left.", "He went away.", finish_reason="length") == "reject"


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
def test_a_draft_that_ends_as_the_passage_does_is_whole(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("truncated", mt, draft, source) in ("", "warn")


def test_a_full_stop_lost_from_a_whole_sentence_is_only_told(severity_of: SeverityOf) -> None:
    assert severity_of("truncated", "He went away.", "He then went away", "Il partit.") == "warn"
