"""Pronouns that the source drops: repaired if only one person can be meant, otherwise left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.ledger.entity import Entity, EntityKind, EntityStatus, Gender, Ledger, LedgerParagraph, SourceForm, Variant
from ape.ledger.gender import add_genders
from ape.ledger.pronouns import swap_pronoun
from ape.ledger.repair import repair_paragraph


def _person(form: str, target: str, gender: Gender) -> Entity:
    return Entity(target, EntityKind.PERSON, (SourceForm(form),), target, variants=(Variant(target, 9),), gender=gender)


LEDGER = Ledger(
    "zh", "en", (_person("林盛", "Lin Sheng", Gender.MALE), _person("陈美玲", "Chen Meiling", Gender.FEMALE))
)


def _repaired(source: str, mt: str) -> str:
    return repair_paragraph(LedgerParagraph("1", source, mt), LEDGER).text


def test_a_dropped_pronoun_follows_the_gender_of_the_only_person() -> None:
    assert _repaired("林盛抬起手。", "Lin Sheng raised her hand.") == "Lin Sheng raised his hand."
    mt = "Chen Meiling saw the pain in his son's eyes."
    assert _repaired("陈美玲看见儿子眼中的伤痛。", mt) == "Chen Meiling saw the pain in her son's eyes."


@pytest.mark.parametrize(
    ("source", "mt"),
    [
        ("林盛看着她的手。", "Lin Sheng looked at her hand."),
        ("林盛和陈美玲抬起手。", "Lin Sheng and Chen Meiling raised her hand."),
        ("林盛说：“抬手。”", "Lin Sheng said: “She raised her hand.”"),
        ("抬起手。", "Lin Sheng raised her hand."),
        ("林盛对女孩抬起手。", "Lin Sheng told the girl to raise her hand."),
        ("林盛老太抬起手。", "Lin Sheng raised her hand."),
    ],
    ids=["the source has it", "two genders", "quoted", "not named", "somebody else", "a title of the other gender"],
)
def test_a_pronoun_that_may_mean_somebody_else_is_kept(source: str, mt: str) -> None:
    assert _repaired(source, mt) == mt


@pytest.mark.parametrize("gender", [Gender.NEUTER, Gender.UNKNOWN])
def test_a_ghost_an_animal_or_a_narrator_keeps_its_pronouns(gender: Gender) -> None:
    ledger = Ledger("zh", "en", (_person("小白", "Xiaobai", gender),))
    mt = "Xiaobai raised her paw."
    assert repair_paragraph(LedgerParagraph("1", "小白抬起手。", mt), ledger).text == mt


def test_a_gender_that_a_person_locked_stands_against_the_evidence() -> None:
    locked = replace(_person("林盛", "Lin Sheng", Gender.FEMALE), status=EntityStatus.LOCKED)
    paragraphs = [LedgerParagraph(str(n), "林盛先生抬起手。他走了。", "Mr. Lin Sheng left.") for n in range(4)]
    (found,) = add_genders(Ledger("zh", "en", (locked,)), paragraphs).entities
    assert found.gender is Gender.FEMALE
    assert {one.gender for one in found.evidence} == {Gender.MALE}  # recorded, not followed


def test_the_subject_of_the_sentence_is_meant_whoever_was_named_before() -> None:
    before = [LedgerParagraph("0", "陈美玲看着他。", "Chen Meiling looked at him.")]
    paragraph = LedgerParagraph("1", "林盛抬起手。", "Lin Sheng raised her hand.")
    assert repair_paragraph(paragraph, LEDGER, previous=before).text == "Lin Sheng raised his hand."
    later = LedgerParagraph("1", "林盛走了，抬起手。", "When Lin Sheng had left, she raised her hand.")
    repair = repair_paragraph(later, LEDGER, previous=before)
    assert repair.text == later.mt
    assert "Chen Meiling" in repair.findings[0].message


@pytest.mark.parametrize(
    ("word", "rest", "swapped"),
    [
        ("his", " hand", "her"),
        ("his", ".", "hers"),
        ("her", " hand", "his"),
        ("her", ".", "him"),
        ("her", " again", "him"),
        ("Her", " own", "His"),
        ("HE", " left", "SHE"),
        ("herself", ".", "himself"),
    ],
)
def test_a_pronoun_keeps_its_role_and_its_capitals(word: str, rest: str, swapped: str) -> None:
    assert swap_pronoun(word, rest) == swapped
