"""Invented clauses are rejected; clauses that the MT omitted are not."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

BOARD = "在机芯背后的木板上，有人用小刀刻了一行字，字很小。"
BOARD_MT = "On the wooden board behind the movement, someone carves a line of words with a small knife."


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        (
            "zh-en",
            BOARD,
            BOARD_MT,
            "The wooden board behind the movement, is a reflection of the past. The person carves a line of words with"
            " a small knife.",
        ),
        (
            "fr-en",
            "Il referma le livre et souffla la lampe.",
            "He reclosed the book and blew the lamp.",
            "He reclosed the book, thinking of all the summers he had wasted, and blew the lamp.",
        ),
        (
            "en-zh",
            "He shut the book, put out the lamp and slept.",
            "他合上书，吹灭了灯，上床睡觉了。",
            "他合上书，心里想着那些被自己白白浪费掉的夏天，吹灭了灯，上床睡觉了。",
        ),
    ],
)
def test_an_invented_clause_is_rejected(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("addition", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        # what the MT left out
        (
            "Il referma le livre, pensant à tous les étés perdus, et souffla la lampe.",
            "He reclosed the book and blew the lamp.",
            "He closed the book, thinking of all the summers he had lost, and blew out the lamp.",
        ),
        # words moved
        (
            "Sans bruit, pendant que les autres dormaient, il ouvrit la porte.",
            "Without noise he opened the door while the others slept.",
            "Without a noise, while the others slept, he opened the door.",
        ),
        # grammar spelled out
        ("Fatigué, il voulait partir.", "Tired, he wanted to leave.", "As he was tired by then, he wanted to leave."),
        # a new wording throughout
        (
            "Il pleuvait des cordes ce soir-là.",
            "It rained ropes that evening there.",
            "The rain was coming down in sheets on the evening I speak of.",
        ),
    ],
)
def test_restored_clauses_moved_words_and_expanded_grammar_pass(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("addition", mt, draft, source) == ""


def test_a_sentence_made_of_words_of_the_passage_is_an_addition(severity_of: SeverityOf) -> None:
    mt = "The notary was waiting for her with an umbrella too small for two. Everyone is late here except me."
    added = mt[:-1] + ". You are the notary who is waiting here for her with an umbrella."
    source = "Le notaire l’attendait avec un parapluie trop petit pour deux. Tout le monde est en retard ici, sauf moi."
    assert severity_of("addition", mt, added, source=source) == "reject"
