"""Repairs of names: what is replaced, what is kept, and what becomes a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.ledger.build import build_ledger
from ape.ledger.entity import Entity, EntityKind, EntityStatus, Ledger, LedgerParagraph, SourceForm, Variant
from ape.ledger.repair import LedgerRepair, repair_paragraph

RHODE = Entity(
    "e1",
    EntityKind.PERSON,
    (SourceForm("罗德"),),
    "Rhode",
    variants=(Variant("Rhode", 30), Variant("Rhodes", 4), Variant("Erode", 2), Variant("Lord", 1, firm=False)),
)


def _person(form: str, target: str, *wrong: str) -> Entity:
    variants = tuple(Variant(text, 1) for text in (target, *wrong))
    return Entity(form, EntityKind.PERSON, (SourceForm(form),), target, variants=variants)


def _repair(source: str, mt: str, *entities: Entity) -> LedgerRepair:
    return repair_paragraph(LedgerParagraph("1", source, mt), Ledger("zh", "en", entities or (RHODE,)))


@pytest.mark.parametrize(
    ("mt", "repaired"),
    [
        ("Then Rhodes left.", "Then Rhode left."),
        ("It was Rhodes's sword.", "It was Rhode's sword."),
        ("It was Rhodes’ sword.", "It was Rhode’s sword."),
        ("“RHODES!” she cried.", "“RHODE!” she cried."),
        ("He saw an Erode there.", "He saw a Rhode there."),
        ("Then ⟦1⟧Rhodes⟦/1⟧ left.", "Then ⟦1⟧Rhode⟦/1⟧ left."),
        ("Then Mr. Rhodes left.", "Then Mr. Rhode left."),
    ],
)
def test_a_wrong_wording_is_replaced_and_its_grammar_and_marks_kept(mt: str, repaired: str) -> None:
    assert _repair("罗德走了。", mt).text == repaired


@pytest.mark.parametrize(
    ("source", "mt"),
    [
        ("他走了。", "Then Rhodes left."),
        ("罗德走了。", "The Rhodesian left."),
        ("罗德走了。", "Cecil Rhodes left."),
        ("罗德走了。", "Then Lord left."),
        ("罗德走了。", "Rhode and Rhodes left."),
    ],
    ids=["not named in the source", "inside a word", "part of a longer name", "a weak link", "already rendered"],
)
def test_without_a_certain_link_nothing_is_replaced(source: str, mt: str) -> None:
    repair = _repair(source, mt)
    assert (repair.text, repair.edits) == (mt, ())


def test_a_second_wording_in_a_sentence_of_its_own_stands_for_a_pronoun() -> None:
    pytest.importorskip("jieba", reason="tells whether the source names other people")
    mt = "Rhode felt a pain. Then Rhodes saw his arm."
    assert _repair("罗德感到一阵痛，看见自己的手臂。", mt).text == "Rhode felt a pain. Then Rhode saw his arm."
    mt = mt.replace("Rhodes", "Erode")
    assert _repair("罗德感到一阵痛，看见自己的手臂。", mt).edits
    assert not _repair("罗德感到一阵痛，看见了李小龙的手臂。", mt).edits


def test_a_name_that_goes_on_in_the_source_may_go_on_in_the_translation() -> None:
    assert _repair("“我叫罗德·艾兰特。”", "“I am Rhodes Airant.”").text == "“I am Rhode Airant.”"
    assert not _repair("“我叫罗德。”", "“I am Rhodes Airant.”").edits


def test_a_slip_of_a_name_stands_for_a_pronoun_though_others_are_named() -> None:
    pytest.importorskip("jieba", reason="tells whether the source names other people")
    anya = _person("程安雅", "Cheng Anya", "Chenng Anya", "Annie")
    source = "程安雅沉默，黑鹰给她找了衣服，她裹着自己。"
    mt = "{} kept silent and took the clothes of Black Hawk. Cheng Anya wrapped herself."
    assert _repair(source, mt.format("Chenng Anya"), anya).text == mt.format("Cheng Anya")
    assert not _repair(source, mt.format("Annie"), anya).edits
    assert not _repair(source.replace("黑鹰", "陈安雅"), mt.format("Chenng Anya"), anya).edits


def test_the_family_name_of_somebody_else_is_repaired_if_the_next_word_reads_the_source() -> None:
    palace = _person("东宫", "Donggong", "Dong Gong")
    assert _repair("至于东宫莲止", "As for Dong Gong Lianzhi", palace).text == "As for Donggong Lianzhi"
    assert not _repair("至于东宫的人", "As for Dong Gong Lianzhi", palace).edits


@pytest.mark.parametrize("wording", ["White Weiwei", "White Wei Wei"])
def test_a_wording_fuller_than_a_short_form_stands_for_the_whole_name(wording: str) -> None:
    weiwei = replace(_person("白薇薇", "Bai Weiwei", wording, "Weiwe"), short_forms=("Weiwei",))
    assert _repair("白薇薇死了。", f"Then {wording} died.", weiwei).text == "Then Bai Weiwei died."
    assert _repair("白薇薇死了。", "Then Weiwe died.", weiwei).text == "Then Weiwei died."


def test_the_rest_of_a_name_written_small_is_replaced_with_it() -> None:
    shao = _person("叶三少", "Ye Sanshao", "Ye San")
    assert _repair("叶三少走了。", "Then Ye San shao left.", shao).text == "Then Ye Sanshao left."
    assert _repair("叶三少走了。", "Then Ye San shyly left.", shao).text == "Then Ye Sanshao shyly left."


def test_a_full_name_is_the_mention_of_the_source_whatever_stands_beside_it() -> None:
    mt = "The girl told Rhode that his name was Rhodes {}."
    right = "The girl told Rhode that his name was Rhode Airant."
    assert _repair("“我叫罗德.艾兰特。”", mt.format("Airant")).text == right
    assert not _repair("“我叫罗德.艾兰特。”", mt.format("Miller")).edits


def test_a_stray_capital_after_a_name_is_no_part_of_it() -> None:
    assert _repair("罗德的头上", "On Rhodes In the helmet").text == "On Rhode In the helmet"


@pytest.mark.parametrize("mt", ["Then Rhodes saw Rhodes’ horse and RHODES.", "An Erode, ⟦1⟧Rhodes⟦/1⟧.", "Rhode left."])
def test_a_second_repair_changes_nothing(mt: str) -> None:
    once = _repair("罗德罗德罗德", mt).text
    assert _repair("罗德罗德罗德", once).text == once


def test_text_outside_the_edits_is_untouched_and_spans_are_exact() -> None:
    mt = "  Then\u00a0Rhodes , as “Rhodes” …\n"
    repair = _repair("罗德、罗德", mt)
    rebuilt, place = "", 0
    for edit in repair.edits:
        assert mt[slice(*edit.mt_span)] == edit.before
        assert repair.text[slice(*edit.span)] == edit.after
        rebuilt += mt[place : edit.mt_span[0]] + edit.after
        place = edit.mt_span[1]
    assert rebuilt + mt[place:] == repair.text
    assert len(repair.edits) == 2


def test_a_reason_names_the_form_and_the_votes() -> None:
    assert _repair("罗德走了。", "Then Rhodes left.").edits[0].reason == "Rhodes → Rhode: 罗德 (in 30 of 37 places)"


def test_two_characters_of_one_name_are_left_alone() -> None:
    first = Entity("a", EntityKind.PERSON, (SourceForm("小满"),), "Xiaoman", variants=(Variant("Xiao Man", 1),))
    second = Entity("b", EntityKind.PERSON, (SourceForm("小满"),), "Little Man", variants=(Variant("Xiao Man", 1),))
    assert _repair("小满来了。", "Then Xiao Man came.", first, second).edits == ()


def test_wordings_that_two_entries_exchange_are_changed_once() -> None:
    one, other = _person("方召", "Fang Zhao", "Fang Zao"), _person("方早", "Fang Zao", "Fang Zhao")
    repaired = _repair("方召走了。", "Then Fang Zao left.", one, other).text
    assert repaired == "Then Fang Zhao left."
    assert _repair("方召走了。", repaired, one, other).text == repaired
    mt = "Fang Zhao saw Fang Zao."
    assert _repair("方召看见方早。", mt, one, other).text == mt


def test_a_part_of_the_right_wording_is_no_wrong_one() -> None:
    whole = _person("罗德", "Rhode Airant", "Rhode", "Rhodes")
    assert not _repair("罗德走了。", "Then Rhode left.", whole).edits
    once = _repair("罗德走了，罗德！", "Then Rhodes left, Rhodes!", whole).text
    assert once == "Then Rhode Airant left, Rhode Airant!"
    assert not _repair("罗德走了，罗德！", once, whole).edits


def test_an_ignored_entry_repairs_nothing() -> None:
    assert not _repair("罗德走了。", "Then Rhodes left.", replace(RHODE, status=EntityStatus.IGNORED)).edits


def test_a_word_that_a_person_gives_as_a_variant_is_replaced_where_the_source_has_the_name() -> None:
    hair = replace(_person("黑毛", "Heimao", "black hair"), status=EntityStatus.CONFIRMED)
    mt = "Look, black hair is coming."
    assert _repair("看，黑毛来了。", mt, hair).text == "Look, Heimao is coming."
    assert not _repair("看，他来了。", mt, hair).edits
    assert not _repair("看，黑毛来了。", mt, replace(hair, status=EntityStatus.PROPOSED)).edits


def test_names_of_a_language_without_rules_are_repaired_from_a_list() -> None:
    gunnar = replace(_person("Gunnar", "Gunnar", "Gunther"), status=EntityStatus.CONFIRMED)
    paragraph = LedgerParagraph("1", "Þá fór Gunnar.", "Then Gunther left.")
    ledger = build_ledger([paragraph], source_language="is", target_language="en", known=Ledger("is", "en", (gunnar,)))
    assert "nothing was done" in ledger.notes[0]
    assert repair_paragraph(paragraph, ledger).text == "Then Gunnar left."


def test_a_wording_of_two_names_of_the_paragraph_is_a_finding() -> None:
    first = Entity("a", EntityKind.PERSON, (SourceForm("林盛"),), "Lin Sheng", variants=(Variant("Linsen", 1),))
    second = Entity("b", EntityKind.PERSON, (SourceForm("林森"),), "Lin Sen", variants=(Variant("Linsen", 1),))
    repair = _repair("林盛和林森", "There Linsen came.", first, second)
    assert (repair.edits, len(repair.findings)) == ((), 1)


@pytest.mark.parametrize("word", ["Will", "Grace", "Hope"])
def test_a_name_that_begins_a_sentence_as_an_ordinary_word_is_a_finding(word: str) -> None:
    name = Entity("a", EntityKind.PERSON, (SourceForm("威尔"),), "Wiel", variants=(Variant(word, 2),))
    repair = _repair("威尔来了。", f"{word} you come?", name)
    assert (repair.edits, len(repair.findings)) == ((), 1)


def test_a_book_in_another_language_is_left_alone() -> None:
    ledger = Ledger("zh", "de", (RHODE,))
    assert repair_paragraph(LedgerParagraph("1", "罗德", "Dann ging Rhodes."), ledger).text == "Dann ging Rhodes."


@pytest.mark.parametrize(
    ("mt", "repaired"),
    [
        ("An old lady in the East Palace spoke.", "An old lady in Donggong spoke."),
        ("The East Palace family left.", "The Donggong family left."),
    ],
)
def test_a_transliterated_name_has_no_article_of_its_own(mt: str, repaired: str) -> None:
    entity = Entity(
        "1",
        EntityKind.PERSON,
        (SourceForm("东宫"),),
        "Donggong",
        variants=(Variant("Donggong", 9), Variant("East Palace", 3)),
    )
    paragraph = LedgerParagraph("1", "东宫", mt)
    assert repair_paragraph(paragraph, Ledger("zh", "en", (entity,))).text == repaired


def test_a_name_that_ended_the_sentence_before_is_no_part_of_this_one() -> None:
    repair = _repair("罗德离开了葡萄牙。", "They left Portugal. Rhodes was tired.")
    assert repair.text == "They left Portugal. Rhode was tired."
