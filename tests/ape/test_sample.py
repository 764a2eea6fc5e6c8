from __future__ import annotations

import re
from dataclasses import fields

import pytest

from ape.errors import InputError
from ape.sample import SAMPLES, Sample, SampleParagraph, load_sample
from ape.text.languages import language_scripts
from ape.text.tokens import words


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    return load_sample(request.param)


def numbers(text: str) -> list[str]:
    joined = re.sub(r"(?<=\d)[,\u202f](?=\d{3})", "", text)  # 1,200 and 1 200 are one number
    return sorted(re.findall(r"\d+(?![\d月])", joined))  # 9月 is September: a name, in English


def test_a_chapter_has_fourteen_paragraphs_with_unique_ids(sample: Sample) -> None:
    assert [paragraph.id for paragraph in sample.paragraphs] == [f"p{n:02}" for n in range(1, 15)]


def test_every_paragraph_is_complete(sample: Sample) -> None:
    for paragraph in sample.paragraphs:
        for field in fields(SampleParagraph):
            text = getattr(paragraph, field.name)
            assert text
            assert text == text.strip()


def test_paragraphs_are_of_reading_length_and_one_is_very_short(sample: Sample) -> None:
    lengths = sorted(len(words(paragraph.source)) for paragraph in sample.paragraphs)
    assert lengths[0] < 10
    assert lengths[1] >= 30
    assert lengths[-1] <= 130


def test_the_source_is_in_the_script_of_its_language_and_the_target_is_not(sample: Sample) -> None:
    for paragraph in sample.paragraphs:
        has_han = re.search(r"[\u4e00-\u9fff]", paragraph.source) is not None
        assert has_han == ("Han" in language_scripts(sample.source_language))
        assert not re.search(r"[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef«»]", paragraph.mt + paragraph.good)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("zh-en", "Yanqiu", ["Yan Qiu", "Yan Autumn"]),
        ("zh-en", "Xiaoman", ["Grain Buds", "Little Man"]),
        ("zh-en", "Old Ge", ["Lao Ge", "the old brother"]),
        ("fr-en", "Mathilde", ["Matilda", "Mathilda"]),
        ("fr-en", "Maître Pons", ["Master Pons", "Mr. Pons"]),
    ],
)
def test_a_name_wavers_in_the_mt_and_holds_in_the_repair(name: str, right: str, wrong: list[str]) -> None:
    sample = load_sample(name)
    mt = "\n".join(paragraph.mt for paragraph in sample.paragraphs)
    good = "\n".join(paragraph.good for paragraph in sample.paragraphs)
    for spelling in [right, *wrong]:
        assert re.search(rf"\b{re.escape(spelling)}\b", mt)
    for spelling in wrong:
        assert spelling not in good
    assert right in good


def test_the_repair_follows_the_glossary_wherever_the_source_has_the_name(sample: Sample) -> None:
    for term, wording in sample.glossary:
        places = [paragraph for paragraph in sample.paragraphs if term in paragraph.source]
        assert places
        for paragraph in places:
            assert wording in paragraph.good, paragraph.id


def test_numbers_are_the_same_in_source_mt_and_repair(sample: Sample) -> None:
    for paragraph in sample.paragraphs:
        assert numbers(paragraph.source) == numbers(paragraph.good), paragraph.id
        assert numbers(paragraph.mt) == numbers(paragraph.good), paragraph.id
    assert sum(len(numbers(paragraph.source)) for paragraph in sample.paragraphs) >= 8


def test_mark_up_is_kept_and_quotation_marks_balance(sample: Sample) -> None:
    for paragraph in sample.paragraphs:
        tags = re.findall(r"</?\w+>", paragraph.source)
        for english in (paragraph.mt, paragraph.good):
            assert re.findall(r"</?\w+>", english) == tags
            assert english.count("“") == english.count("”")
    assert sum("<i>" in paragraph.source for paragraph in sample.paragraphs) == 1


def test_two_paragraphs_need_no_edit(sample: Sample) -> None:
    assert sum(paragraph.good == paragraph.mt for paragraph in sample.paragraphs) == 2


def test_segments_carry_languages_and_glossary_but_not_the_answer(sample: Sample) -> None:
    segments = list(sample.segments())
    assert [segment.mt for segment in segments] == [paragraph.mt for paragraph in sample.paragraphs]
    assert {(s.source_language, s.target_language) for s in segments} == {tuple(sample.name.split("-"))}
    assert {segment.glossary for segment in segments} == {sample.glossary}


def test_an_unknown_sample_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="fr-en, zh-en"):
        load_sample("en-tlh")
