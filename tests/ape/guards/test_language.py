"""Guards on the language of a draft: the wrong one, the wrong script, the source left in."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

ENGLISH = "The miller's daughter carried the heavy sack across the bridge before the rain began to fall."
FRENCH = "La fille du meunier porta le lourd sac de l'autre côté du pont avant que la pluie ne commence à tomber."
GERMAN = "Die Tochter des Müllers trug den schweren Sack über die Brücke, bevor es zu regnen begann."
RUSSIAN = "Дочь мельника перенесла тяжёлый мешок через мост, прежде чем начался дождь."
CHINESE = "磨坊主的女儿在下雨之前背着沉重的麻袋走过了桥。"
JAPANESE = "粉屋の娘は雨が降り出す前に重い袋を背負って橋を渡った。"
ARABIC = "حملت ابنة الطحان الكيس الثقيل عبر الجسر قبل أن يبدأ المطر بالهطول."
EDITED = "The miller's girl carried the heavy sack over the bridge before it began to rain."


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("ru-en", RUSSIAN, ENGLISH, RUSSIAN),
        ("ru-en", RUSSIAN, ENGLISH, EDITED.replace("bridge", "мост")),
        ("zh-en", CHINESE, ENGLISH, CHINESE),
        ("ja-en", JAPANESE, ENGLISH, EDITED.replace("the heavy sack", "重い袋")),
        ("ar-en", ARABIC, ENGLISH, ARABIC),
        ("fr-en", FRENCH, ENGLISH, GERMAN),
        ("fr-en", FRENCH, ENGLISH, FRENCH),
        ("en-fr", ENGLISH, FRENCH, ENGLISH),
        ("en-zh", ENGLISH, CHINESE, JAPANESE),
        ("en-ru", ENGLISH, RUSSIAN, ARABIC),
    ],
)
def test_a_draft_in_another_language_or_script_is_refused(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("language", mt, draft, source, languages) == "reject"


@pytest.mark.parametrize(
    ("languages", "source", "mt", "draft"),
    [
        ("fr-en", FRENCH, ENGLISH, EDITED),
        (
            "de-en",
            GERMAN,
            ENGLISH,
            "Before the rain set in, the girl from the mill had hauled her load to the far bank.",
        ),
        ("en-zh", ENGLISH, CHINESE, "磨坊主的女儿赶在下雨前，背着沉重的麻袋走过了桥。"),
        ("en-ja", ENGLISH, JAPANESE, "粉屋の娘は、雨が降り出す前に、重い袋をかついで橋を渡った。"),
        ("en-ru", ENGLISH, RUSSIAN, "Дочка мельника перенесла тяжёлый мешок через мост до дождя."),
        ("en-ar", ENGLISH, ARABIC, "حملت ابنة الطحان كيسًا ثقيلًا عبر الجسر قبل هطول المطر."),
        ("fr-en", "Il dit « λόγος » et partit.", "He said “logos” and left.", "He said “λόγος” and went away."),
        ("fr-en", "Oui.", "Yes.", "Non."),
        ("en-zh", "He wore a T-shirt.", "他穿着一件T恤。", "他穿着一件 T-shirt。"),
    ],
)
def test_a_draft_in_the_target_language_passes(
    severity_of: SeverityOf, languages: str, source: str, mt: str, draft: str
) -> None:
    assert severity_of("language", mt, draft, source, languages) == ""
