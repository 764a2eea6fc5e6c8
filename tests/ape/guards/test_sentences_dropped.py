"""Drafts that drop a sentence of the MT."""

from __future__ import annotations

import pytest

from tests.ape.guards.conftest import SeverityOf

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
def test_a_dropped_sentence_is_rejected(severity_of: SeverityOf, mt: str, draft: str) -> None:
    assert severity_of("sentences_dropped", mt, draft, source=mt) == "reject"


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
def test_sentences_merged_split_moved_or_rewritten_are_not_dropped(
    severity_of: SeverityOf, mt: str, draft: str
) -> None:
    assert severity_of("sentences_dropped", mt, draft, source=mt) == ""
