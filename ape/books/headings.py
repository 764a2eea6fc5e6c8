"""Headings of chapters in plain text, told by their wording: "Chapter IV", "第三章", "Глава вторая", "XII"."""

from __future__ import annotations

import regex

_LONGEST = 100

_WORDS = (
    "chapter|chapitre|kapitel|kapittel|capítulo|capitulo|capitolo|capítol|capitol|capitolul|hoofdstuk|rozdział|rozdzial|"
    "kapitola|poglavlje|глава|розділ|раздел|част|частина|часть|κεφάλαιο|μέρος|luku|fejezet|bölüm|kısım|chương|hồi|"
    "part|partie|teil|parte|deel|část|część|osa|rész|book|livre|buch|libro|livro|boek|книга|canto|stave|"
    "section|abschnitt|sección|bab|sura|kafli|del|bok|kniha|księga|"
    "الفصل|الباب|פרק|अध्याय|บทที่|ตอนที่|แบบที่|챕터|제"
)
_WHOLE = (
    "prologue|epilogue|preface|foreword|introduction|afterword|interlude|postscript|prolog|epilog|vorwort|nachwort|"
    "einleitung|avant-propos|préface|épilogue|postface|prólogo|epílogo|prefacio|prefácio|introducción|introdução|"
    "prologo|epilogo|prefazione|introduzione|пролог|эпилог|предисловие|послесловие|введение|"
    "序|序章|序言|序幕|楔子|引子|前言|后记|後記|尾声|尾聲|终章|終章|番外|プロローグ|エピローグ|あとがき|まえがき|프롤로그|에필로그"
)
_ROMAN = "(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_NUMBER = rf"(?:\d{{1,4}}|{_ROMAN}|(?:the\s+)?[\p{{L}}\p{{M}}]+(?:-[\p{{L}}\p{{M}}]+)*)"
_COUNT = r"[0-9０-９〇零一二三四五六七八九十百千兩两壹贰叁廿卅]+"

_PATTERNS = (
    # "Chapter IV", "Chapter Four: The Storm", "CHAPTER TWENTY TWO"
    rf"(?i:{_WORDS})\s+{_NUMBER}(?:\s+\p{{Lu}}+)?(?:\s*[.:—–-]+\s*.*)?",
    # "Erstes Kapitel", "Première partie", "1. fejezet", "Första kapitlet"
    r"(?:\d{1,3}\.|\p{Lu}[\p{L}\p{M}]+)\s+(?i:kapitel|kapitlet|teil|buch|partie|chapitre|parte|fejezet|rész|bölüm|глава|часть|osa|luku)\.?",
    # "第三章", "第 12 回 风雪", "卷二", "제3장"
    rf"第\s*{_COUNT}\s*[章回节節卷部集幕篇話话折](?:[\s:：、　].*)?",
    rf"[卷部]\s*{_COUNT}(?:[\s:：　].*)?",
    r"제\s*\d{1,4}\s*[장부화편권](?:[\s:.].*)?",
    rf"(?i:{_WHOLE})(?:\s*[.:—–-]\s*.*)?",
    # A number on a line of its own
    rf"[-—–*\s]*(?:\d{{1,3}}|{_ROMAN})[.\s]*[-—–*\s]*",
    r"[一二三四五六七八九十百]{1,4}",
)
_HEADING = regex.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_ENDS_A_SENTENCE = (",", ";", "，", "；", "?", "？", "。", "…")


def is_heading(text: str) -> bool:
    """Whether a line, or a short group of lines that begins with one, opens a chapter."""
    first, *rest = text.strip().split("\n")
    if len(text) > _LONGEST or len(rest) > 2 or first.rstrip().endswith(_ENDS_A_SENTENCE):
        return False
    return _HEADING.fullmatch(first.strip()) is not None
