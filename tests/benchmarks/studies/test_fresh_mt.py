from __future__ import annotations

from benchmarks.studies.fresh_mt import closest_human, translate_paragraph


def test_chinese_is_translated_sentence_by_sentence_with_its_closing_quotes() -> None:
    mt = translate_paragraph("“走吧。”他说，“快点！”门开了", lambda sentence: f"[{sentence}]", "zh-en")
    assert mt == "[“走吧。”] [他说，“快点！”] [门开了]"


def test_french_is_translated_sentence_by_sentence() -> None:
    mt = translate_paragraph("Il partit. « Où va-t-il ? » dit-elle.", str.upper, "fr-en")
    assert mt == "IL PARTIT. « OÙ VA-T-IL ? » DIT-ELLE."


def test_the_human_translation_nearest_to_the_mt_is_taken() -> None:
    assert closest_human("The old man sat down.", ("He was seated.", "The old man sat.")) == "The old man sat."
