"""Numbers that a draft changes, loses or invents."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Il y avait 17 soldats.", "There were 17 soldiers.", "There were 19 soldiers."),
        ("fr-en", "En 1848, il partit.", "In 1848 he left.", "He left that year."),
        ("fr-en", "Il paya 2 500 francs.", "He paid 2,500 francs.", "He paid 25,300 francs."),
        ("zh-en", "三百二十人死了。", "320 people died.", "350 people died."),
        ("ar-en", "كان هناك ٤٥ رجلا.", "There were 45 men.", "There were 54 men."),
        ("ru-en", "Ему было 30 лет.", "He was 30 years old.", "He was 38 years old."),
        ("ja-en", "彼は25歳だった。", "He was 25 years old.", "He was 52 years old."),
        ("fr-en", "Il avait vingt ans.", "He was twenty.", "He was 21."),
        ("fr-en", "Vingt-quatre ans passèrent.", "Twenty-four years passed.", "Years passed."),
        ("zh-en", "三十七年过去了。", "Thirty-seven years passed.", "Many years went by."),
    ],
)
def test_numbers_changed_lost_or_invented_are_refused(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("numbers", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Il avait 5 enfants.", "He had 5 children.", "He had five children."),
        ("fr-en", "Il avait vingt-cinq ans.", "He had the age of twenty-five.", "He was 25 years old."),
        ("fr-en", "Il paya 10 000 francs.", "He paid 10,000 francs.", "He paid ten thousand francs."),
        ("fr-en", "Il paya 10 000 francs.", "He paid 10 000 francs.", "He paid 10,000 francs."),
        ("fr-en", "Le 12.05.1998.", "The 12.05.1998.", "12 May 1998."),
        ("fr-en", "Dans les années 1990.", "In the years 1990.", "In the '90s."),
        ("ru-en", "В XIX веке.", "In the XIX century.", "In the 19th century."),
        ("zh-en", "他有三个孩子。", "He has three children.", "He has 3 children."),
        ("zh-en", "三万人。", "30,000 people.", "Thirty thousand people."),
        ("de-en", "1,5 Millionen Menschen.", "1.5 million people.", "1,500,000 people."),
        ("ar-en", "كان هناك ٤٥ رجلا.", "There were 45 men.", "There were forty-five men."),
        ("fr-en", "À 17 heures.", "At 17 hours.", "At 17:00."),
        ("fr-en", "Chapitre 4", "Chapter 4", "IV"),
        ("fr-en", "Personne.", "There were 44 nobody.", "Nobody."),
        ("fr-en", "Il avait vingt-quatre ans.", "He had twenty-four years.", "He was four-and-twenty."),
        ("fr-en", "Il avait vingt-quatre ans.", "He had twenty-four years.", "He was 24."),
        ("fr-en", "Il avait 8 enfants.", "He had 8 children.", "He had eight children."),
        ("fr-en", "Il avait 80 ans.", "He had 80 years.", "He was eighty."),
        ("fr-en", "Dix mille hommes.", "Ten thousand men.", "10,000 men."),
        ("fr-en", "Six hommes partirent.", "Six men left.", "The men left."),
        ("zh-en", "你学了八九分。", "You learned eighty-nine points.", "You learned nearly all of it."),
    ],
)
def test_numbers_written_another_way_pass(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("numbers", mt, draft, source, languages) == ""


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Je l'ai dit cent fois.", "I have said it a hundred times.", "I have said it again and again."),
        ("Dans quinze jours.", "In fifteen days.", "In a fortnight."),
    ],
)
def test_round_numbers_and_other_units_are_only_warnings(
    severity_of: SeverityOf, source: str, mt: str, draft: str
) -> None:
    assert severity_of("numbers", mt, draft, source) == "warn"
