"""Edits are exact, cover whole words, and are split as a translator would split them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.edits.diff import apply_edits, edit_rate, find_edits
from ape.errors import InputError
from ape.passage.edit import Edit, EditKind

LANGUAGES = ("en", "fr", "de", "zh", "ja", "ar", "xx")
WORDS = """the The he she had gone went to town , . ! “ ” don't don’t John's 3 12,5 two and but however 他 她 他们 她们
           但是 的 北京 彼 彼女 ジョー は ذهب الولد הוא नहीं 👨‍👩‍👧 é é <b> </b> \x00 \ud800""".split()
GAPS = ["", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000"]


def pairs(mt: str, post_edit: str, language: str = "en") -> list[tuple[str, str]]:
    return [(edit.before, edit.after) for edit in find_edits(mt, post_edit, language=language)]


def is_exact(mt: str, post_edit: str, edits: tuple[Edit, ...]) -> bool:
    """Whether the edits are in order, do not overlap, quote both texts, and turn one into the other."""
    at = mt_at = 0
    for edit in edits:
        if mt[slice(*edit.mt_span)] != edit.before or post_edit[slice(*edit.span)] != edit.after:
            return False
        if edit.before == edit.after or edit.mt_span[0] < mt_at or edit.span[0] < at:
            return False
        mt_at, at = edit.mt_span[1], edit.span[1]
    return apply_edits(mt, edits) == post_edit


any_text = st.text(st.characters(exclude_categories=()), max_size=40)


@st.composite
def sentences(draw: st.DrawFn) -> list[str]:
    """Alternating words and gaps, in many scripts."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=14))
    return [piece for word in words for piece in (word, draw(st.sampled_from(GAPS)))]


@st.composite
def edited_sentences(draw: st.DrawFn) -> tuple[str, str]:
    """A text and a copy with pieces replaced, deleted, inserted, moved or capitalised."""
    before = draw(sentences())
    after = list(before)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(len(after) - 1, 0)))
        match draw(st.sampled_from(["replace", "drop", "insert", "move", "capitals"])):
            case "replace":
                after[at : at + 1] = [draw(st.sampled_from(WORDS + GAPS))]
            case "drop":
                del after[at : at + draw(st.integers(1, 4))]
            case "insert":
                after[at:at] = draw(sentences())[:5]
            case "move":
                moved = after[at : at + 3]
                del after[at : at + 3]
                place = draw(st.integers(0, len(after)))
                after[place:place] = moved
            case "capitals":
                after[at : at + 1] = [piece.upper() for piece in after[at : at + 1]]
    return "".join(before), "".join(after)


@given(any_text, any_text, st.sampled_from(LANGUAGES))
@settings(max_examples=300, deadline=None)
def test_the_edits_of_any_two_texts_turn_one_into_the_other(mt: str, post_edit: str, language: str) -> None:
    assert is_exact(mt, post_edit, find_edits(mt, post_edit, language=language))


@given(edited_sentences(), st.sampled_from(LANGUAGES))
@settings(max_examples=400, deadline=None)
def test_the_edits_of_a_text_and_its_revision_turn_one_into_the_other(texts: tuple[str, str], language: str) -> None:
    assert is_exact(*texts, find_edits(*texts, language=language))


@given(edited_sentences(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_any_of_the_edits_may_be_left_out(texts: tuple[str, str], chance: random.Random) -> None:
    mt, post_edit = texts
    chosen = [edit for edit in find_edits(mt, post_edit) if chance.random() < 0.5]
    difference = sum(len(edit.after) - len(edit.before) for edit in chosen)
    assert len(apply_edits(mt, chosen)) == len(mt) + difference


@given(any_text, st.sampled_from(LANGUAGES))
@settings(max_examples=50, deadline=None)
def test_equal_texts_have_no_edits(text: str, language: str) -> None:
    assert find_edits(text, text, language=language) == ()
    assert edit_rate(text, text) == 0.0


@given(edited_sentences())
@settings(max_examples=60, deadline=None)
def test_edits_are_the_same_every_time(texts: tuple[str, str]) -> None:
    assert find_edits(*texts) == find_edits(*texts)


@pytest.mark.parametrize(
    ("mt", "post_edit"),
    [
        ("", ""),
        ("", "A word."),
        ("A word.", ""),
        ("", " "),
        (" \n ", "\t"),
        ("a\x00b", "a\x00\x00b"),
        ("\ud83d", "\ude00"),
        ("one\r\ntwo", "one\ntwo"),
        ("e\u0301", "é"),
        ("👨‍👩‍👧 smiled", "👩‍🚀 smiled"),
        ("İstanbul ß ﬁne", "istanbul SS fine"),
        ("\x1c\x1d a", "\x85 a"),
    ],
)
def test_odd_texts_are_edited_exactly(mt: str, post_edit: str) -> None:
    for language in LANGUAGES:
        assert is_exact(mt, post_edit, find_edits(mt, post_edit, language=language))


def test_an_edit_covers_the_whole_word() -> None:
    assert pairs("The walls were reddish.", "The walls were reddened.") == [("reddish", "reddened")]


def test_an_emoji_is_never_split() -> None:
    assert pairs("She sent 👨‍👩‍👧.", "She sent 👩‍👩‍👧.") == [("👨‍👩‍👧", "👩‍👩‍👧")]


def test_adjacent_words_are_separate_edits() -> None:
    assert pairs("He took her bag away.", "He took his sack away.") == [("her", "his"), ("bag", "sack")]


def test_content_words_replaced_one_by_one_are_separate_edits() -> None:
    assert pairs("a beautiful girl came", "a pretty woman came") == [("beautiful", "pretty"), ("girl", "woman")]


def test_a_phrase_changed_into_another_is_one_edit() -> None:
    assert pairs("He did it of his own accord.", "He did it without being asked.") == [
        ("of his own accord", "without being asked")
    ]


def test_a_verb_keeps_its_auxiliary() -> None:
    assert pairs("She had gone home.", "He went home.") == [("She", "He"), ("had gone", "went")]


def test_a_chance_match_in_a_rewritten_clause_does_not_split_it() -> None:
    mt = "He gave, without any doubt, the order to burn everything."
    post_edit = "His men, as one learned later, were told that all should go up in flames."
    assert max(len(edit.before) for edit in find_edits(mt, post_edit)) > len(mt) / 2


def test_a_sentence_end_separates_two_edits() -> None:
    mt = "All the big dogs ran away quickly. Every small cat stayed there quietly."
    post_edit = "His many hounds took to flight. Not one kitten would leave that place."
    assert all("." not in before for before, _ in pairs(mt, post_edit))


@pytest.mark.parametrize(
    ("mt", "post_edit", "inserted"),
    [
        ("A cat ran. A dog ran.", "A cat ran. A cow ran. A dog ran.", "A cow ran. "),
        ("A dog ran.", "A cow ran. A dog ran.", "A cow ran. "),
        ("red, green", "red, blue, green", "blue, "),
        ("a good man", "a very good man", "very "),
        ("It was good.", "It was good indeed.", " indeed"),
        ("it was good", "it was good indeed", " indeed"),
        ("However he left.", "However, he left.", ","),
        ("good", "very good", "very "),
    ],
)
def test_an_insertion_is_placed_where_it_reads_best(mt: str, post_edit: str, inserted: str) -> None:
    assert pairs(mt, post_edit) == [("", inserted)]
    assert pairs(post_edit, mt) == [(inserted, "")]


def test_a_mark_after_a_new_word_is_a_separate_edit() -> None:
    assert pairs("He shut the door and left.", "He shut the gate, and left.") == [("door", "gate"), ("", ",")]


def test_a_capital_away_from_the_change_is_a_separate_edit() -> None:
    assert pairs("The stones were cut.", "Stones were cut.") == [("The ", ""), ("stones", "Stones")]


def test_a_swapped_pair_is_one_edit() -> None:
    assert pairs("I saw King Li there.", "I saw there King Li.") == [("King Li there", "there King Li")]


def test_a_tag_is_never_split() -> None:
    assert pairs("He <i>ran</i>.", "He <em>ran</em>.") == [("<i>", "<em>"), ("</i>", "</em>")]


@pytest.mark.parametrize(
    ("language", "mt", "post_edit", "expected"),
    [
        ("zh", "他们走了。", "她们走了。", [("他们", "她们")]),
        ("zh", "他们很高兴地笑了。", "她们愉快地笑了。", [("他们", "她们"), ("很高兴", "愉快")]),
        ("zh", "我爱你。", "他爱她。", [("我", "他"), ("你", "她")]),
        ("zh", "这座城市非常大。", "这个村庄不算大。", [("这座城市非常", "这个村庄不算")]),
        ("zh", "昨天我在家。", "我昨天在家。", [("昨天我", "我昨天")]),
        ("ja", "彼は学校へ行った。", "彼女は学校へ行った。", [("彼", "彼女")]),
        ("ja", "ジョーが来た。", "チャオが来た。", [("ジョー", "チャオ")]),
        ("ja", "大きい家を買った。", "小さな家を借りた。", [("大きい", "小さな"), ("買っ", "借り")]),
        ("ar", "ذهب الولد إلى المدرسة.", "ذهبت البنت إلى المدرسة.", [("ذهب", "ذهبت"), ("الولد", "البنت")]),
        ("he", "הוא הלך הביתה.", "היא הלכה הביתה.", [("הוא", "היא"), ("הלך", "הלכה")]),
        ("hi", "राम की किताब", "राम का किताब", [("की", "का")]),
    ],
)
def test_other_scripts_are_split_into_words(
    language: str, mt: str, post_edit: str, expected: list[tuple[str, str]]
) -> None:
    assert pairs(mt, post_edit, language) == expected


def test_the_region_of_a_language_is_ignored() -> None:
    assert find_edits("He came.", "She came.", language="en-GB") == find_edits("He came.", "She came.")


def test_kinds_are_plain_strings_in_json() -> None:
    assert [str(kind) for kind in EditKind] == [
        "name", "pronoun", "connective", "verb form", "number", "punctuation", "casing", "word choice",
        "insertion", "deletion", "reordering",
    ]  # fmt: skip


def test_an_edit_that_does_not_fit_the_text_is_refused() -> None:
    edits = find_edits("He came.", "She came.")
    with pytest.raises(InputError, match="'He' -> 'She' does not fit"):
        apply_edits("It came.", edits)


def test_edits_out_of_order_are_refused() -> None:
    edits = find_edits("He saw her bag.", "She saw his bag.")
    with pytest.raises(InputError, match="in order"):
        apply_edits("He saw her bag.", reversed(edits))


@pytest.mark.parametrize(
    ("mt", "post_edit", "rate"),
    [
        ("a b c d", "a x c d", 1 / 4),  # one of four words replaced
        ("a b, c", "a b c", 1 / 4),  # a mark counts like a word
        ("a b c d", "a  b\nc d", 0.0),  # spaces do not
        ("a b c d", "A b c d", 1 / 4),  # capitals do
        ("a b", "b a", 1.0),  # a move is out and in
        ("a", "a b c d", 3.0),  # more was added than there was
        ("a b", "", 1.0),
        ("", "a b c", 1.0),
        ("", "", 0.0),
        (" ", "\n", 0.0),
        ("他走了", "她走了", 1 / 3),
    ],
)
def test_the_edit_rate_counts_words_and_marks(mt: str, post_edit: str, rate: float) -> None:
    assert edit_rate(mt, post_edit) == pytest.approx(rate)


@given(edited_sentences())
@settings(max_examples=60, deadline=None)
def test_the_edit_rate_is_at_most_that_of_replacing_all_words(texts: tuple[str, str]) -> None:
    mt, post_edit = texts
    assert 0.0 <= edit_rate(mt, post_edit) <= max(len(mt), len(post_edit), 1)


@pytest.mark.parametrize(
    ("alphabet", "between", "language"),
    [("abcdefgh", " ", "en"), ("天地玄黄宇宙洪荒日月他她的了，。", "", "zh"), (".,", "", "en"), ("xy", " ", "en")],
)
def test_unrelated_texts_of_20000_characters_are_compared_quickly(alphabet: str, between: str, language: str) -> None:
    chance = random.Random(7)
    mt, post_edit = (between.join(chance.choices(alphabet, k=20_000 // (1 + len(between)))) for _ in range(2))
    assert is_exact(mt, post_edit, find_edits(mt, post_edit, language=language))
