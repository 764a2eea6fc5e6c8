"""Guards on what a draft says: sentences, numbers, links, tags, names, glossary terms, quotation marks."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import Ask

FIRST = "The captain counted his men twice before the ferry left the harbour."
SECOND = "Nobody noticed the small boy behind the barrels."
THIRD = "At midnight a bell rang somewhere on the far shore."
MT = f"{FIRST} {SECOND} {THIRD}"


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, f"{FIRST} {THIRD}"),
        (MT, f"The captain twice counted his men before the ferry sailed. {THIRD}"),
        (MT, f"{FIRST} {SECOND}"),
        ("船长数了两遍他的士兵。没有人注意到桶后面的小男孩。半夜里对岸响起了钟声。",
         "船长把士兵数了两遍。半夜里，对岸响起了钟声。"),
        ("Капитан дважды пересчитал людей. Никто не заметил мальчика за бочками. В полночь зазвонил колокол.",
         "Капитан два раза пересчитал людей. В полночь зазвонил колокол."),
        ("عدّ القبطان رجاله مرتين قبل الإبحار. لم يلاحظ أحد الصبي الصغير خلف البراميل. رن الجرس عند منتصف الليل.",
         "عدّ القبطان رجاله مرتين قبل الإبحار. رن الجرس عند منتصف الليل."),
    ],
)  # fmt: skip
def test_a_sentence_dropped_is_refused(ask: Ask, mt: str, draft: str) -> None:
    assert ask("sentences_dropped", mt, draft, source=mt) == "reject"


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        (MT, f"The captain counted his men twice before the ferry left, and nobody noticed the small boy behind the"
             f" barrels. {THIRD}"),
        (MT, f"The captain counted his men twice. Then the ferry left the harbour. {SECOND} {THIRD}"),
        (MT, f"{FIRST} A child was hiding unseen among some casks. {THIRD}"),
        (MT, f"{THIRD} {FIRST} {SECOND}"),
        ("One sentence only.", "Just one."),
        ("船长数了两遍他的士兵。没有人注意到桶后面的小男孩。", "船长把他的士兵数了两遍，没有人注意到桶后面的小男孩。"),
    ],
)  # fmt: skip
def test_sentences_merged_split_moved_or_rewritten_are_not_dropped(ask: Ask, mt: str, draft: str) -> None:
    assert ask("sentences_dropped", mt, draft, source=mt) == ""


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
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("numbers", mt, draft, source, languages) == "reject"


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
def test_numbers_written_another_way_pass(ask: Ask, languages: str, source: str, mt: str, draft: str) -> None:
    assert ask("numbers", mt, draft, source, languages) == ""


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Je l'ai dit cent fois.", "I have said it a hundred times.", "I have said it again and again."),
        ("Dans quinze jours.", "In fifteen days.", "In a fortnight."),
    ],
)
def test_round_numbers_and_other_measures_are_only_told(ask: Ask, source: str, mt: str, draft: str) -> None:
    assert ask("numbers", mt, draft, source) == "warn"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("Voir https://example.org/a.", "See https://example.org/a.", "See the site."),
        ("Écris à a@example.org.", "Write to a@example.org.", "Write to b@example.org."),
        ("Bonjour {0} !", "Hello {0}!", "Hello!"),
        ("Il a %s ans.", "He is %s years old.", "He is years old."),
        ("Voir ⟦1⟧ ici.", "See ⟦1⟧ here.", "See ⟦2⟧ here."),
        ("Un <i>mot</i>.", "A <i>word</i>.", "A word."),
        ("Un <i>mot</i>.", "A <i>word</i>.", "A </i>word<i>."),
        ("Un <b><i>mot</i></b>.", "A <b><i>word</i></b>.", "A <b><i>word</b></i>."),
        ("Un mot.", "A word.", "A word (https://evil.example)."),
        ("Voir [[note]].", "See [[note]].", "See."),
    ],
)
def test_links_tags_and_placeholders_lost_invented_or_crossed_are_refused(
    ask: Ask, source: str, mt: str, draft: str
) -> None:
    assert ask("placeholders", mt, draft, source) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        (
            "Voir https://example.org/a.",
            "See https://example.org/a.",
            "Look at https://example.org/a, please.",
        ),
        ("Bonjour {0}, {1} !", "Hello {0}, {1}!", "{1}, hello {0}!"),
        ("Un <i>mot</i> juste.", "A <i>word</i> just.", "Just a <i>word</i>."),
        ("Un <i>mot</i>.", "A word.", "A <i>word</i>."),
        ("100% sûr", "100% sure", "100% certain"),
        ("Un<br/>deux", "One<br/>two", "First<br/>second"),
        ("a < b et c > d", "a < b and c > d", "a < b, and c > d"),
        ("Un mot.", "A word {x}.", "A word."),
    ],
)
def test_links_tags_and_placeholders_kept_moved_or_restored_pass(
    ask: Ask, source: str, mt: str, draft: str
) -> None:
    assert ask("placeholders", mt, draft, source) in ("", "warn")


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Là, Marguerite vit Antoine.", "There Marguerite saw Antoine.", "There Marguerite saw Robert."),
        ("ru-en", "Вчера Наташа встретила Пьера.", "Yesterday Natasha met Pierre.", "Yesterday Natasha met Boris."),
        ("ru-en", "Раскольников молчал.", "Raskolnikov was silent.", "Marmeladov was silent."),
        ("de-en", "Gestern kam Herr Settembrini.", "Yesterday Mr Settembrini came.", "Yesterday Mr Naphta came."),
        ("fr-en", "Il pensait à Bordeaux.", "He thought of Bordeaux.", "He thought of Manchester."),
        ("en-fr", "Then Darcy looked at Elizabeth.", "Alors Darcy regarda Elizabeth.", "Alors Darcy regarda Caroline."),
        ("en-de", "Then Darcy looked at Bingley.", "Dann sah Darcy Bingley an.", "Dann sah Darcy Collins an."),
        ("fr-en", "Il entra sans bruit.", "He entered without noise.", "Quietly Archibald came in."),
        ("zh-en", "罗德把帽子扔在桌上。", "Rhode threw his hat on the table.", "Robert threw his hat on the table."),
        ("ja-en", "雪子は窓を開けた。", "Then Yukiko opened the window.", "Then Margaret opened the window."),
    ],
)  # fmt: skip
def test_names_changed_or_invented_are_refused(
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("names", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", "Là, Marguerite vit Antoine.", "There Marguerite saw Antoine.", "Marguerite saw Antoine there."),
        ("ru-en", "Вчера Наташа встретила Пьера.", "Yesterday Natacha met Pyer.", "Yesterday Natasha met Pierre."),
        ("ru-en", "Он жил в Хвалынске.", "He lived in Hvalinske.", "He lived in Khvalynsk."),
        ("de-en", "Er fuhr nach München.", "He drove to Munchen.", "He drove to Munich."),
        ("fr-en", "Il vint d'Allemagne.", "It came from Allemagne.", "He came from Germany."),
        ("fr-en", "Le roi Henri mourut.", "The king Henri died.", "King Henry died."),
        ("fr-en", "Il aimait Anna. Anna riait.", "He loved Anna. Anna laughed.", "He loved Anna. She laughed."),
        ("fr-en", "Le conseil municipal siégeait.", "The council municipal sat.", "The Town Council was in session."),
        ("fr-en", "la livre d'Anna", "the book of Anna", "Anna’s book"),
        ("fr-en", "Il vit la tour.", "He saw the tower.", "He saw the Tower."),
        ("en-de", "He bought a house.", "Er kaufte ein Haus.", "Er erwarb ein Gebäude."),
        ("en-zh", "John met Mary.", "约翰遇见了玛丽。", "约翰碰到了玛丽。"),
        ("zh-en", "罗德把帽子扔在桌上。", "Lord threw his hat on the table.", "Rhode threw his hat on the table."),
        ("zh-en", "罗德把帽子扔在桌上。", "Rode threw his hat on the table.", "Rhode threw his hat on the table."),
        ("zh-en", "琰凤把帽子扔在桌上。", "Yanfeng threw his hat on the table.", "Feng threw his hat on the table."),
        ("zh-en", "他吃了一惊，扔下帽子。", "Amazed, he threw down the hat.", "Astonished, he threw down the hat."),
        ("zh-en", "英国人扔下帽子。", "The English threw down the hat.", "The British threw down the hat."),
    ],
)  # fmt: skip
def test_names_kept_respelled_translated_or_replaced_by_a_pronoun_pass(
    ask: Ask, languages: str, source: str, mt: str, draft: str
) -> None:
    assert ask("names", mt, draft, source, languages) in ("", "warn")


def test_a_name_known_from_the_context_or_the_glossary_is_supported(ask: Ask) -> None:
    source, mt, draft = "Il entra alors.", "He then entered.", "And then Archibald entered."
    assert ask("names", mt, draft, source) == "reject"
    assert ask("names", mt, draft, source, context=("Old Archibald was late.",)) == ""
    assert ask("names", mt, draft, source, glossary=(("il", "Archibald"),)) == ""


def test_a_name_that_is_gone_for_good_is_told(ask: Ask) -> None:
    assert ask("names", "Then Antoine left.", "Then he left.", "Alors Antoine partit.") == "warn"


@pytest.mark.parametrize(
    ("mt", "draft", "weight"),
    [
        ("Rhode laughed.", "Roy laughed.", "reject"),
        ("Lode laughed.", "Roy laughed.", "warn"),
        ("Lode laughed.", "Rhode laughed.", ""),
        ("Rhode laughed.", "Rhode's laugh rang out.", ""),
        ("He laughed.", "He chuckled.", "warn"),
    ],
)
def test_a_glossary_term_of_the_source_must_be_used(ask: Ask, mt: str, draft: str, weight: str) -> None:
    assert (
        ask("glossary", mt, draft, "罗德笑了。", "zh-en", glossary=(("罗德", "Rhode"), ("北京", "Peking")))
        == weight
    )


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", "“Come, he said."),
        ("« Viens », dit-il.", '"Come," he said.', '"Come, he said.'),
        ("Il vint (enfin).", "He came (at last).", "He came (at last."),
        ("„Komm“, sagte er.", "«Viens», dit-il.", "«Viens, dit-il."),
        ("「来い」と言った。", "“Come,” he said.", "Come,” he said."),
    ],
)
def test_quotation_marks_that_lost_their_partner_are_refused(
    ask: Ask, source: str, mt: str, draft: str
) -> None:
    assert ask("quotes", mt, draft, source) == "reject"


@pytest.mark.parametrize(
    ("source", "mt", "draft"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", '"Come," he said.'),
        ("« Viens », dit-il.", "“Come,” he said.", "‘Come,’ he said."),
        ("« Viens.", "“Come.", "“Come here."),
        ("„Komm“, sagte er.", "„Come“, he said.", "“Come,” he said."),
        ("Il n'est pas là.", "He isn't there.", "He's not there."),
        ("「来い」と言った。", "“Come,” he said.", "「Come」, he said."),
        ("« Viens.", "Come.", "“Come."),
        ("« Viens », dit-il.", "“Come,” he said.", "He told me to come."),
    ],
)
def test_quotation_marks_that_pair_or_never_did_pass(ask: Ask, source: str, mt: str, draft: str) -> None:
    assert ask("quotes", mt, draft, source) in ("", "warn")


@pytest.mark.parametrize(
    ("source", "mt", "draft", "weight"),
    [
        ("« Viens », dit-il.", "“Come,” he said.", "Come, he said.", "warn"),
        ("« Viens », dit-il.", "“Come,” he said.", "— Come, he said.", ""),
        ("« Viens », dit-il.", "“Come,” he said.", "'Come,' he said.", ""),
        ("« Viens », dit-il.", "Come, he said.", "Come here, he said.", ""),
        ("Viens, dit-il.", "“Come,” he said.", "Come, he said.", ""),
    ],
)
def test_quotation_marks_that_are_all_gone_are_told(
    ask: Ask, source: str, mt: str, draft: str, weight: str
) -> None:
    assert ask("quotes", mt, draft, source) == weight
