"""Edits are classified as a translator would classify them."""

from __future__ import annotations

import pytest

from ape.edits.diff import find_edits
from ape.passage.edit import EditKind


def kinds(mt: str, post_edit: str, language: str = "en") -> list[tuple[str, str, str]]:
    return [(edit.kind, edit.before, edit.after) for edit in find_edits(mt, post_edit, language=language)]


ENGLISH = [
    ("pronoun", "He opened her letter.", "He opened his letter."),
    ("pronoun", "The king saw her.", "The king saw him."),
    ("pronoun", "I saw the old man.", "I saw him."),
    ("pronoun", "Joe laughed.", "He laughed."),
    ("pronoun", "He raised the hand.", "He raised his hand."),
    ("pronoun", "Came home late.", "He came home late."),
    ("pronoun", "He's late.", "She's late."),
    ("pronoun", "He hurt itself.", "He hurt himself."),
    ("pronoun", "the man which came", "the man who came"),
    ("name", "Then Joe laughed.", "Then Qiao laughed."),
    ("name", "Joe laughed.", "Qiao laughed."),
    ("name", "We took Joe's hat.", "We took Qiao’s hat."),
    ("name", "He lived in the city.", "He lived in London."),
    ("name", "We met Old Li there.", "We met Lao Li there."),
    ("name", "She met Catharina.", "She met Katharina."),
    ("name", "At last came the guard.", "At last came Anna the guard."),
    ("connective", "But he stayed.", "However he stayed."),
    ("connective", "He stayed because it rained.", "He stayed since it rained."),
    ("connective", "She sang, he slept.", "She sang, and he slept."),
    ("connective", "In fact he slept.", "After all he slept."),
    ("connective", "He slept so she left.", "He slept when she left."),
    ("verb form", "They go home.", "They went home."),
    ("verb form", "The night is dark.", "The night was dark."),
    ("verb form", "They had gone home.", "They went home."),
    ("verb form", "She will sing.", "She would sing."),
    ("verb form", "She walked away.", "She was walking away."),
    ("verb form", "She studies law.", "She studied law."),
    ("verb form", "He walk home.", "He walks home."),
    ("verb form", "The dog know me.", "The dog knows me."),
    ("verb form", "He stopping there.", "He stopped there."),
    ("verb form", "He running.", "He was running."),
    ("verb form", "I don't know.", "I do not know."),
    ("verb form", "It lies there.", "It lay there."),
    ("number", "We saw three ships.", "We saw four ships."),
    ("number", "We saw 3 ships.", "We saw 13 ships."),
    ("number", "It cost 1.5 pounds.", "It cost 15 pounds."),
    ("number", "We saw 3 ships.", "We saw three ships."),
    ("number", "We met one of them.", "We met two of them."),
    ("number", "They met in the first year.", "They met in the second year."),
    ("number", "In the year he died.", "In the year 1812 he died."),
    ("punctuation", "However he came.", "However, he came."),
    ("punctuation", "He came!", "He came."),
    ("punctuation", "He  came.", "He came."),
    ("punctuation", "He came.\nShe left.", "He came. She left."),
    ("punctuation", '"No", he said.', '"No," he said.'),
    ("punctuation", "a well known man", "a well-known man"),
    ("punctuation", "We can not go.", "We cannot go."),
    ("punctuation", "He didn't go.", "He didn’t go."),
    ("punctuation", "He <i>ran.", "He ran."),
    ("punctuation", "a cafe\u0301", "a caf\u00e9"),
    ("casing", "the Old man", "the old man"),
    ("casing", "he came.", "He came."),
    ("casing", "The nato came.", "The NATO came."),
    ("word choice", "a big house", "a large house"),
    ("word choice", "two house", "two houses"),
    ("word choice", "He gave up at once.", "He surrendered at once."),
    ("word choice", "He is one.", "He is a."),
    ("word choice", "A beautiful day came.", "A glorious day came."),
    ("word choice", "Suddenly it rained.", "Abruptly it rained."),
    ("insertion", "a good man", "a very good man"),
    ("insertion", "He came.", "He came home in the evening."),
    ("deletion", "He came back.", "He came."),
    ("deletion", "He really came.", "He came."),
    ("reordering", "He ran quickly home.", "He quickly ran home."),
    ("reordering", "“No,” he said.", "“No,” said he."),
]


@pytest.mark.parametrize(("kind", "mt", "post_edit"), ENGLISH)
def test_an_english_edit_is_classified_by_what_changed(kind: str, mt: str, post_edit: str) -> None:
    assert {found for found, _, _ in kinds(mt, post_edit)} - {"casing"} == {kind} - {"casing"}
    assert kind in {found for found, _, _ in kinds(mt, post_edit)}


@pytest.mark.parametrize(
    ("language", "kind", "mt", "post_edit"),
    [
        ("fr", "pronoun", "Il est là.", "Elle est là."),
        ("fr", "pronoun", "Je crois qu'il vient.", "Je crois qu’elle vient."),
        ("fr", "connective", "Mais il vient.", "Cependant il vient."),
        ("fr", "verb form", "Il est là.", "Il était là."),
        ("fr", "verb form", "Il a mangé la pomme.", "Il mangeait la pomme."),
        ("fr", "name", "On voit Pierre.", "On voit Piotr."),
        ("fr", "word choice", "la maison", "le maison"),
        ("de", "pronoun", "Er ging heim.", "Sie ging heim."),
        ("de", "connective", "Es regnet, aber wir gehen.", "Es regnet, doch wir gehen."),
        ("de", "verb form", "Es ist kalt.", "Es war kalt."),
        ("de", "word choice", "Da steht das Haus.", "Da steht das Gebäude."),
        ("de", "number", "Wir sahen drei Schiffe.", "Wir sahen vier Schiffe."),
        ("es", "pronoun", "Ella vino.", "Él vino."),
        ("es", "connective", "Pero vino.", "Sin embargo vino."),
        ("it", "pronoun", "Lui dorme.", "Lei dorme."),
        ("pt", "verb form", "Ele é velho.", "Ele era velho."),
        ("ru", "pronoun", "Он пришёл.", "Она пришёл."),
        ("ru", "connective", "Но он пришёл.", "Однако он пришёл."),
        ("ru", "name", "Там жил Иван.", "Там жил Пётр."),
        ("zh", "pronoun", "他走了。", "她走了。"),
        ("zh", "pronoun", "他们走了。", "她们走了。"),
        ("zh", "connective", "但是他没有来。", "然而他没有来。"),
        ("zh", "number", "我有三本书。", "我有四本书。"),
        ("zh", "number", "我有3本书。", "我有三本书。"),
        ("zh", "punctuation", "他走了.", "他走了。"),
        ("zh", "insertion", "他去北京。", "他去了北京。"),
        ("zh", "word choice", "他很高兴。", "他很难过。"),
        ("zh", "reordering", "昨天我在家。", "我昨天在家。"),
        ("ja", "pronoun", "彼は来た。", "彼女は来た。"),
        ("ja", "connective", "しかし彼は来ない。", "だが彼は来ない。"),
        ("ja", "name", "昨日ジョーが来た。", "昨日チャオが来た。"),
        ("ar", "word choice", "هذا بيت كبير", "هذا منزل كبير"),
        ("ar", "punctuation", "جاء الولد,", "جاء الولد،"),
        ("he", "number", "ראיתי 3 ספרים", "ראיתי 4 ספרים"),
        ("hi", "word choice", "राम की किताब", "राम का किताब"),
        ("sv", "casing", "hon kom", "Hon kom"),
    ],
)
def test_an_edit_in_another_language_is_classified_by_what_changed(
    language: str, kind: str, mt: str, post_edit: str
) -> None:
    assert [found for found, _, _ in kinds(mt, post_edit, language)] == [kind]


@pytest.mark.parametrize(
    ("first", "second", "mt", "post_edit"),
    [
        ("reordering", "pronoun", "So said he.", "So he said."),
        ("casing", "number", "Three men came.", "three men came."),
        ("casing", "pronoun", "He came.", "he came."),
        ("number", "punctuation", "It cost 1,5.", "It cost 15."),
        ("number", "name", "We met Joe there.", "We met two there."),
        ("punctuation", "verb form", "We can not.", "We cannot."),
        ("punctuation", "pronoun", "it's tail", "its tail"),
        ("pronoun", "name", "Then Joe came.", "Then he came."),
        ("pronoun", "insertion", "Then came.", "Then she came."),
        ("name", "insertion", "Then spoke Joe.", "Then spoke Joe Miller."),
        ("name", "word choice", "He saw the river.", "He saw the Thames."),
        ("connective", "deletion", "And he came.", "he came."),
        ("verb form", "insertion", "He gone.", "He has gone."),
        ("verb form", "word choice", "They think so.", "They thought so."),
    ],
)
def test_the_earlier_kind_prevails(first: str, second: str, mt: str, post_edit: str) -> None:
    found = [kind for kind, _, _ in kinds(mt, post_edit)]
    assert first in found
    assert second not in found


def test_each_of_several_edits_has_its_own_kind() -> None:
    assert kinds("She put down her bag, but Joe go away.", "He put down his sack; however, Qiao went away.") == [
        (EditKind.PRONOUN, "She", "He"),
        (EditKind.PRONOUN, "her", "his"),
        (EditKind.WORD_CHOICE, "bag", "sack"),
        (EditKind.PUNCTUATION, ",", ";"),
        (EditKind.CONNECTIVE, "but", "however"),
        (EditKind.PUNCTUATION, "", ","),
        (EditKind.NAME, "Joe", "Qiao"),
        (EditKind.VERB, "go", "went"),
    ]


def test_words_that_move_are_a_reordering_on_both_sides() -> None:
    assert kinds("In the evening we all went home.", "We all went home in the evening.") == [
        (EditKind.REORDERING, "In the evening ", ""),
        (EditKind.CASING, "we", "We"),
        (EditKind.REORDERING, "", " in the evening"),
    ]


def test_a_word_deleted_here_and_inserted_far_away_is_not_a_reordering() -> None:
    between = "They sat there for hours and talked about the war and the price of grain and the new bridge. " * 2
    found = kinds(f"The tired men came. {between}They went.", f"The men came. {between}They went tired.")
    assert [kind for kind, _, _ in found] == [EditKind.DELETION, EditKind.INSERTION]


def test_an_article_deleted_here_and_inserted_nearby_is_not_a_reordering() -> None:
    found = kinds("He took the bread and wine.", "He took bread and the wine.")
    assert EditKind.REORDERING not in {kind for kind, _, _ in found}


def test_a_capital_at_the_start_of_a_sentence_does_not_make_a_name() -> None:
    assert [kind for kind, _, _ in kinds("The sketches were lost.", "Drawings were lost.")] == [EditKind.WORD_CHOICE]


def test_a_word_at_the_start_of_a_sentence_is_a_name_if_it_has_a_capital_elsewhere() -> None:
    found = kinds("The boy ran. We saw Joe fall.", "Joe ran. We saw Joe fall.")
    assert [kind for kind, _, _ in found] == [EditKind.NAME]


def test_a_word_in_lower_case_elsewhere_is_not_a_name() -> None:
    found = kinds("Bread is dear. He sells bread.", "Butter is dear. He sells bread.")
    assert [kind for kind, _, _ in found] == [EditKind.WORD_CHOICE]


def test_a_plural_is_not_a_verb_form() -> None:
    assert [kind for kind, _, _ in kinds("He took long walk.", "He took long walks.")] == [EditKind.WORD_CHOICE]
