"""Names that a draft changes or invents."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.guards.names import names
from ape.passage.result import Severity
from ape.passage.segment import CastMember, Draft, Segment
from tests.ape.guards.conftest import SeverityOf


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
        ("zh-en", "门开了，罗德走了进来。", "The door opened and Rod came in.", "The door opened and Farid came in."),
        ("ne-en", "काठमाडौंमा हिजो राम आए ।", "Yesterday Ram came to Kathmandu.", "Yesterday Ram came to Pokhara."),
        ("ja-en", "雪子は窓を開けた。", "Then Yukiko opened the window.", "Then Margaret opened the window."),
    ],
)  # fmt: skip
def test_names_changed_or_invented_are_refused(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("names", mt, draft, source, languages) == "reject"


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
        ("zh-en", "门开了，慕言君走了进来。", "Then Muyu came in.", "Then Muyanjun came in."),
        ("zh-en", "他认识白薇薇。", "He knew White Weiwei.", "He knew Bai Weiwei."),
        ("ne-en", "हिजो मुचुकुंद आए ।", "Yesterday Muchad came.", "Yesterday Muchukunda came."),
        ("zh-en", "他吃了一惊，扔下帽子。", "Amazed, he threw down the hat.", "Astonished, he threw down the hat."),
        ("zh-en", "英国人扔下帽子。", "The English threw down the hat.", "The British threw down the hat."),
    ],
)  # fmt: skip
def test_names_kept_respelled_translated_or_replaced_by_a_pronoun_pass(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("names", mt, draft, source, languages) in ("", "warn")


def test_a_name_known_from_the_context_or_the_glossary_is_supported(severity_of: SeverityOf) -> None:
    source, mt, draft = "Il entra alors.", "He then entered.", "And then Archibald entered."
    assert severity_of("names", mt, draft, source) == "reject"
    assert severity_of("names", mt, draft, source, context=("Old Archibald was late.",)) == ""
    assert severity_of("names", mt, draft, source, glossary=(("il", "Archibald"),)) == ""


def test_the_wording_of_the_cast_is_supported() -> None:
    segment = Segment("他认识黑鹰。", "He knew Heiying well.", "zh", "en", cast=(CastMember("黑鹰", "Falco"),))
    draft = Draft("He knew Falco well.")
    assert [finding for finding in names(segment, draft) if finding.severity is Severity.REJECT] == []
    assert names(replace(segment, cast=()), draft)[0].severity is Severity.REJECT


def test_a_missing_name_is_a_warning(severity_of: SeverityOf) -> None:
    assert severity_of("names", "Then Antoine left.", "Then he left.", "Alors Antoine partit.") == "warn"
