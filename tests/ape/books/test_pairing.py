"""Every MT paragraph is in one pair, with its own source or with the reason why it has none."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.book import Paragraph
from ape.books.formats import open_book
from ape.books.pairing.book_pairing import BookLanguages, ParagraphPair, check_languages, pair_books
from ape.books.pairing.number_conflicts import numbers_conflict
from ape.books.pairing.pair_scores import PairModel
from ape.books.pairing.source_division import divide_source
from ape.errors import InputError
from benchmarks.studies.pairing import MemoryBook, disturb, make_memory_book
from tests.ape.books.parallel_texts import tale

FRENCH = [
    "Le vieux gardien du phare comptait les navires qui passaient au large, et il en notait le nom dans un cahier.",
    "Sa fille, elle, préférait regarder les oiseaux. Elle connaissait chacun de leurs cris et savait les imiter.",
    "Un soir d’octobre, alors que la mer était grosse, ils virent une barque sans rames dériver vers les rochers.",
    "« Il y a quelqu’un dedans ! » cria la petite, et déjà elle descendait l’escalier en courant.",
]
ENGLISH = [
    "The old keeper of the lighthouse counted the ships that passed offshore, and he noted their names in a notebook.",
    "His daughter, she, preferred to watch the birds. She knew each of their cries and knew how to imitate them.",
    "One evening of October, while the sea was big, they saw a boat without oars drifting towards the rocks.",
    "“There is somebody inside!” cried the little one, and already she was going down the stairs while running.",
]


def pairs(source: Sequence[str], mt: Sequence[str]) -> list[ParagraphPair]:
    return list(pair_books(make_memory_book("source", source), make_memory_book("mt", mt)).pairs())


def bilingual(*texts: tuple[str, str]) -> MemoryBook:
    paragraphs = [Paragraph(str(place), 0, "", mt, source) for place, (source, mt) in enumerate(texts)]
    return MemoryBook("both.tsv", paragraphs, bilingual=True)


def test_each_mt_paragraph_gets_the_source_it_was_made_from() -> None:
    found = pairs(FRENCH, ENGLISH)
    assert [(pair.mt, pair.source) for pair in found] == list(zip(ENGLISH, FRENCH, strict=True))
    assert [pair.id for pair in found] == [f"mt/0#{place}" for place in range(4)]
    assert [pair.source_ids for pair in found] == [(f"source/0#{place}",) for place in range(4)]
    assert {(pair.how, pair.skip) for pair in found} == {("structure", "")}
    assert min(pair.confidence for pair in found) > 0.9


def test_sources_that_the_mt_merged_are_joined_as_one_paragraph() -> None:
    source, mt = tale(30)
    found = pairs(source, [*mt[:10], f"{mt[10]} {mt[11]}", *mt[12:]])
    assert found[10].source == f"{source[10]} {source[11]}"
    assert found[10].source_ids == ("source/0#10", "source/0#11")
    assert found[10].how == "alignment"


def test_a_source_that_the_mt_cut_in_two_is_divided_at_a_sentence_end() -> None:
    source, mt = tale(30)
    found = pairs([*source[:10], f"{source[10]} {source[11]}", *source[12:]], mt)
    assert (found[10].source, found[11].source) == (source[10], source[11])
    assert found[10].source_ids == found[11].source_ids == ("source/0#10",)


def test_what_the_mt_left_out_is_listed() -> None:
    source, mt = tale(30)
    pairing = pair_books(make_memory_book("source", source), make_memory_book("mt", [*mt[:10], *mt[11:]]))
    list(pairing.pairs())
    assert pairing.unpaired_source.count == 1
    assert pairing.unpaired_source.first == [("source/0#10", source[10][:80])]


def test_what_the_mt_added_is_left_as_it_is() -> None:
    source, mt = tale(30)
    added = "Welyfo ri sepi wy fily ve, lesy pywi rive: fyvi selefy Thorwald 4711 pi!"
    found = pairs(source, [*mt[:10], added, *mt[10:]])
    assert (found[10].source, found[10].confidence, found[10].skip) == ("", 0.0, "no source found for it")
    assert [pair.source for pair in found if pair.source] == source


def test_many_paragraphs_left_out_are_counted_and_some_of_them_shown() -> None:
    source, mt = tale(200)
    pairing = pair_books(make_memory_book("source", source), make_memory_book("mt", mt[:100]))
    list(pairing.pairs())
    assert pairing.unpaired_source.count == 100
    assert len(pairing.unpaired_source.first) == 50
    list(pairing.pairs())
    assert pairing.unpaired_source.count == 100


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), rate=st.sampled_from([0.0, 0.1, 0.2]), blanks=st.integers(0, 3))
def test_all_mt_paragraphs_come_once_and_in_order(seed: int, rate: float, blanks: int) -> None:
    chance = random.Random(seed)
    source, mt = ([line.text for line in disturb(side, chance=chance, rate=rate)] for side in tale(15, seed=seed))
    for side in (source, mt):
        for _ in range(blanks):
            side.insert(chance.randint(0, len(side)), chance.choice(["", "  ", "⟦1/⟧"]))
    found = pairs(source, mt)
    assert [pair.mt for pair in found] == mt
    assert [pair.position for pair in found] == list(range(len(mt)))
    assert [pair.id for pair in found] == [f"mt/0#{place}" for place in range(len(mt))]
    used = [pair.source_ids for pair in found if pair.source_ids]
    runs = [ids for place, ids in enumerate(used) if place == 0 or used[place - 1] != ids]
    names = [name for ids in runs for name in ids]
    assert len(names) == len(set(names))


# --- why a paragraph is not edited -------------------------------------------------------------------------------


def test_a_blank_mt_paragraph_is_skipped() -> None:
    found = pairs(FRENCH, [ENGLISH[0], "", *ENGLISH[1:]])
    assert found[1].skip == "the MT is empty"
    assert [pair.source for pair in found if pair.source] == FRENCH


def test_a_paragraph_without_words_is_skipped() -> None:
    found = pairs([*FRENCH[:2], "* * *", *FRENCH[2:]], [*ENGLISH[:2], "* * *", *ENGLISH[2:]])
    assert found[2].skip == "no words"


def test_a_paragraph_that_was_not_translated_is_skipped() -> None:
    found = pairs(FRENCH, [*ENGLISH[:2], FRENCH[2], ENGLISH[3]])
    assert found[2].skip == "not translated: the MT is the source"


def test_what_the_file_says_of_a_paragraph_goes_first() -> None:
    book = make_memory_book("mt", ENGLISH)
    locked = [replace(book.listed[0], skip="it is locked"), *book.listed[1:]]
    found = list(pair_books(make_memory_book("source", FRENCH), replace(book, listed=locked)).pairs())
    assert found[0].skip == "it is locked"


def test_a_doubtful_pair_says_how_doubtful_it_is() -> None:
    chance = random.Random(3)
    source, mt = ([line.text for line in disturb(side, chance=chance, rate=0.5)] for side in tale(80))
    doubtful = [pair for pair in pairs(source, mt) if pair.source and pair.confidence < 0.5]
    assert doubtful
    for pair in doubtful:
        assert pair.skip == f"the pair is doubtful (confidence {pair.confidence:.2f})"


def test_numbers_that_have_nothing_in_common_make_a_pair_doubtful() -> None:
    source = [*FRENCH[:3], "Il y avait 42 marches, et elle les compta toutes."]
    mt = [*ENGLISH[:3], "There were 17 steps, and she counted all of them."]
    *others, last = pairs(source, mt)
    assert (last.how, last.skip) == ("structure", "the pair is doubtful (confidence 0.20)")
    assert not any(pair.skip for pair in others)
    assert not pairs(source, [*mt[:3], mt[3].replace("17", "42")])[3].skip


def test_numbers_of_a_bilingual_file_are_the_editors_business() -> None:
    book = bilingual(*zip(FRENCH, ENGLISH, strict=True), ("Il en restait 42.", "There were 17 of them left."))
    assert not any(pair.skip for pair in pair_books(None, book).pairs())


@pytest.mark.parametrize(
    ("source", "mt", "clash"),
    [
        ("Page 40 : la mer.", "Page 20: the sea.", True),
        ("Page 40 : la mer.", "Page 40: the sea.", False),
        ("Page 40 : la mer.", "The sea.", False),
        ("Ils étaient 3.", "There were 5 of them.", False),  # a single digit says too little
        ("De 3 à 7.", "From 5 to 9.", True),
        ("En 1942, à 15 ans.", "In 1942, at the age of 51.", False),  # the editor's business
        ("他花了30万。", "He spent 300,000.", False),
        ("他花了30万，一共12天。", "He spent 0.3 million in 9 days.", False),
        ("Il avait 76 ans le 12.", "He was seventy-six on the 13th.", False),
        ("⟦12⟧Rien⟦/12⟧ en 1815.", "⟦34⟧Nothing⟦/34⟧ in 1815.", False),
        ("⟦12⟧Rien⟦/12⟧.", "⟦34⟧Nothing⟦/34⟧.", False),
        ("À 17 h 30, 21 hommes.", "At 5.30 p.m., 21 men.", False),
        ("٤٢ خطوة", "42 steps", False),
    ],
)
def test_numbers_clash_where_none_is_on_the_other_side(source: str, mt: str, clash: bool) -> None:
    language = "zh" if "他" in source else "fr"
    assert numbers_conflict(source, mt, source_language=language, target_language="en") is clash


# --- chapters that changed places --------------------------------------------------------------------------------


def test_chapters_that_changed_places_get_no_wrong_source() -> None:
    source, mt = tale(60)
    chapters = [(source[start : start + 20], mt[start : start + 20]) for start in (0, 20, 40)]
    ours = make_memory_book("source", *(chapter[0] for chapter in chapters))
    theirs = make_memory_book("mt", chapters[1][1], chapters[0][1], chapters[2][1])
    right = dict(zip(mt, source, strict=True))
    edited = [pair for pair in pair_books(ours, theirs).pairs() if not pair.skip]
    assert [pair.mt for pair in edited if pair.source != right[pair.mt]] == []
    assert len(edited) >= 38  # one of the two that were exchanged, and the third


# --- marks -------------------------------------------------------------------------------------------------------


def test_marks_of_the_source_stay_where_the_mt_has_the_same() -> None:
    found = pairs([f"⟦1⟧{FRENCH[0]}⟦/1⟧", f"⟦1⟧{FRENCH[1]}⟦/1⟧", *FRENCH[2:]], [f"⟦1⟧{ENGLISH[0]}⟦/1⟧", *ENGLISH[1:]])
    assert found[0].source == f"⟦1⟧{FRENCH[0]}⟦/1⟧"
    assert found[1].source == FRENCH[1]


# --- dividing ----------------------------------------------------------------------------------------------------


def test_a_text_is_divided_by_what_its_parts_say() -> None:
    parts = divide_source(" ".join(FRENCH[:3]), ENGLISH[:3], PairModel())
    assert [text for text, _ in parts] == FRENCH[:3]
    assert all(sure > 0.5 for _, sure in parts)


def test_a_single_sentence_is_divided_at_a_clause() -> None:
    source = "Il ferma la porte à double tour, descendit les marches de pierre; puis il disparut dans la nuit."
    parts = divide_source(
        source, ["He locked the door twice, went down the stone steps.", "Then he vanished in the night."], PairModel()
    )
    assert [text for text, _ in parts] == [source[:65], source[66:]]


def test_what_has_no_place_to_cut_is_not_divided() -> None:
    assert divide_source("Oui", ["Yes", "indeed"], PairModel()) == []


def test_a_very_long_text_is_divided_too() -> None:
    source, mt = tale(400)
    parts = divide_source(" ".join(source), [" ".join(mt[:200]), " ".join(mt[200:])], PairModel())
    assert len(parts) == 2
    assert " ".join(text for text, _ in parts) == " ".join(source)


# --- bilingual files ---------------------------------------------------------------------------------------------


def test_a_bilingual_file_brings_its_pairs_with_it() -> None:
    book = bilingual(*zip(FRENCH, ENGLISH, strict=True), ("", "Alone."))
    found = list(pair_books(None, book).pairs())
    assert [pair.source for pair in found] == [*FRENCH, ""]
    assert {pair.how for pair in found} == {"bilingual"}
    assert [pair.skip for pair in found] == ["", "", "", "", "no source found for it"]


# --- bad input ---------------------------------------------------------------------------------------------------


Sides = Sequence[tuple[str, str]]


def as_jsonl(sides: Sides) -> str:
    return "".join(json.dumps({"source": source, "mt": mt}) + "\n" for source, mt in sides)


def as_tsv(sides: Sides) -> str:
    return "source\tmt\n" + "".join(f"{source}\t{mt}\n" for source, mt in sides)


def as_tmx(sides: Sides) -> str:
    variant = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'.format
    units = (f"{variant('fr', source)}{variant('en', mt) if mt else ''}" for source, mt in sides)
    body = "".join(f"<tu>{unit}</tu>" for unit in units)
    return f'<tmx version="1.4"><header srclang="fr"/><body>{body}</body></tmx>'


def as_xliff(sides: Sides) -> str:
    units = (
        f'<trans-unit id="{number}"><source>{source}</source>{f"<target>{mt}</target>" if mt else ""}</trans-unit>'
        for number, (source, mt) in enumerate(sides)
    )
    file = f'<file source-language="fr" target-language="en"><body>{"".join(units)}</body></file>'
    return f'<xliff version="1.2">{file}</xliff>'


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [("a.jsonl", as_jsonl, "line3"), ("a.tsv", as_tsv, "line4"), ("a.tmx", as_tmx, "tu3"), ("a.xlf", as_xliff, "2")],
)
def test_a_unit_without_a_translation_is_source_without_mt(
    tmp_path: Path, name: str, written: Callable[[Sides], str], expected: str
) -> None:
    sides = [*zip(FRENCH, ENGLISH, strict=True), ("* * *", "")]
    sides[2] = (FRENCH[2], "")
    (tmp_path / name).write_text(written(sides), encoding="utf-8")
    pairing = pair_books(None, open_book(tmp_path / name))
    assert len(list(pairing.pairs())) == 5
    assert pairing.unpaired_source.first == [(expected, FRENCH[2][:80])]


def test_a_bilingual_file_needs_no_source() -> None:
    with pytest.raises(InputError, match=r"is bilingual .* Leave out"):
        pair_books(make_memory_book("source", FRENCH), bilingual(*zip(FRENCH, ENGLISH, strict=True)))


def test_a_book_without_its_source_is_refused() -> None:
    with pytest.raises(InputError, match="has no source"):
        pair_books(None, make_memory_book("mt", ENGLISH))


def test_the_same_file_twice_is_refused() -> None:
    with pytest.raises(InputError, match="both as source and as MT"):
        pair_books(make_memory_book("book", FRENCH), make_memory_book("book", FRENCH))


def test_a_copy_of_the_source_is_no_mt() -> None:
    with pytest.raises(InputError, match="The MT is the source: 4 of 4 paragraphs"):
        pair_books(make_memory_book("source", FRENCH), make_memory_book("mt", FRENCH))


def test_a_bilingual_file_of_nothing_but_source_is_refused() -> None:
    with pytest.raises(InputError, match="4 of 4 translations equal the source"):
        pair_books(None, bilingual(*zip(FRENCH, FRENCH, strict=True)))


@pytest.mark.parametrize("texts", [[], ["", " "], ["⟦1/⟧"]])
def test_an_empty_mt_is_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="mt has no paragraphs with words"):
        pair_books(make_memory_book("source", FRENCH), make_memory_book("mt", texts))


def test_two_different_books_are_refused() -> None:
    source, _ = tale(80, seed=1)
    _, mt = tale(80, seed=2)
    with pytest.raises(InputError, match=r"Only \d+% of mt could be paired with source: these may be different books"):
        pair_books(make_memory_book("source", source), make_memory_book("mt", mt))


# --- languages ---------------------------------------------------------------------------------------------------


def test_languages_are_heard_in_the_text() -> None:
    assert check_languages(make_memory_book("source", FRENCH), make_memory_book("mt", ENGLISH)) == BookLanguages(
        "fr", "en"
    )


def test_the_text_goes_before_the_tag_of_the_file() -> None:
    mt = make_memory_book("mt", ENGLISH, language="fr")
    assert check_languages(make_memory_book("source", FRENCH, language="fr"), mt) == BookLanguages("fr", "en")


def test_what_is_stated_is_used_and_what_seems_odd_is_said() -> None:
    found = check_languages(
        make_memory_book("s", FRENCH), make_memory_book("mt", ENGLISH), source_language="oc", target_language="en"
    )
    assert (found.source, found.target) == ("oc", "en")
    assert found.notes[0].startswith("s should be in oc but looks like French.")


@pytest.mark.parametrize("stated", [("fr", "en"), ("fr", None), (None, "en"), ("French", "English")])
def test_swapped_files_are_noticed(stated: tuple[str | None, str | None]) -> None:
    with pytest.raises(InputError, match="The files look swapped: the source source is in English"):
        check_languages(
            make_memory_book("source", ENGLISH),
            make_memory_book("mt", FRENCH),
            source_language=stated[0],
            target_language=stated[1],
        )


def test_two_texts_in_one_language_are_no_pair() -> None:
    with pytest.raises(InputError, match="both in French, and mt should be in English"):
        check_languages(
            make_memory_book("s", FRENCH),
            make_memory_book("mt", FRENCH[::-1]),
            source_language="fr",
            target_language="en",
        )
    with pytest.raises(InputError, match="Source and MT are both in French"):
        check_languages(make_memory_book("s", FRENCH), make_memory_book("mt", FRENCH[::-1]))


def test_a_text_too_short_to_tell_is_taken_at_its_word_or_asked_about() -> None:
    short = make_memory_book("s", ["Non."]), make_memory_book("mt", ["No."])
    assert check_languages(*short, source_language="fr", target_language="en") == BookLanguages("fr", "en")
    with pytest.raises(InputError, match=r"The language of s can't be detected.* source_language"):
        check_languages(*short, target_language="en")


def test_a_file_without_text_is_named() -> None:
    for stated in (None, "en"):
        with pytest.raises(InputError, match=r"^mt has no text"):
            check_languages(make_memory_book("s", FRENCH), make_memory_book("mt", ["", " "]), target_language=stated)
    with pytest.raises(InputError, match=r"^s has no text"):
        check_languages(make_memory_book("s", []), make_memory_book("mt", ENGLISH))


def test_a_bilingual_file_has_both_languages() -> None:
    assert check_languages(None, bilingual(*zip(FRENCH, ENGLISH, strict=True))) == BookLanguages("fr", "en")


def test_a_word_that_the_mt_has_as_two_paragraphs_moves_no_other() -> None:
    source, mt = tale(30)
    found = pairs([*source[:10], "Bodu", *source[11:]], [*mt[:10], "Fily", "ve", *mt[11:]])
    assert [pair.source for pair in (*found[:10], *found[12:])] == [*source[:10], *source[11:]]
