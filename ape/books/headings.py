"""Recognise chapter headings in plain text by their wording: "Chapter IV", "第三章", "Глава вторая", "XII"."""

from __future__ import annotations

import regex

_LONGEST = 100

_CHAPTER = (
    "chapter|chapitre|kapitel|kapittel|capítulo|capitulo|capitolo|capítol|capitolul|hoofdstuk|rozdział|rozdzial|"
    "kapitola|poglavlje|глава|розділ|раздел|κεφάλαιο|luku|bölüm|chương|stave|الفصل|الباب|פרק|अध्याय|บทที่|ตอนที่|챕터"
)
# Also everyday words, so only a number may follow: "Part sweetly" is not a heading.
_PART = (
    "part|partie|teil|parte|deel|část|część|частина|часть|част|μέρος|book|livre|buch|libro|livro|boek|книга|kniha|"
    "księga|canto|section|abschnitt|sección|sezione|volume|band|tome"
)
_ORDINALS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|"
    "eighth|ninth|tenth|last|premier|première|deuxième|troisième|quatrième|cinquième|un|deux|trois|quatre|cinq|"
    "eins|zwei|drei|vier|fünf|primer[oa]|segund[oa]|tercer[oa]|cuart[oa]|quint[oa]|prim[oa]|second[oa]|terz[oa]|"
    "quart[oa]|primeir[oa]|terceir[oa]|перв(?:ая|ый)|втор(?:ая|ой)|треть?[яи]й?|четв[её]рт(?:ая|ый)|пят(?:ая|ый)"
)
# Endings of ordinals before the word: "Erstes Kapitel", "Troisième partie", "Вторая часть".
_ORDINAL_ENDS = "tes|ter|ième|ère|nde|era|nda|cera|rta|nta|ima|rza|eira|ая|ья|ső|ik|inci|nci|üncü|sta|dra|dje"
_WHOLE = (
    "prologue|epilogue|preface|foreword|introduction|afterword|interlude|postscript|prolog|epilog|vorwort|nachwort|"
    "einleitung|avant-propos|préface|épilogue|postface|prólogo|epílogo|prefacio|prefácio|introducción|introdução|"
    "prologo|epilogo|prefazione|introduzione|пролог|эпилог|предисловие|послесловие|введение|"
    "序|序章|序言|序幕|楔子|引子|前言|后记|後記|尾声|尾聲|终章|終章|番外|プロローグ|エピローグ|あとがき|まえがき|프롤로그|에필로그"
)
_ROMAN = "(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_NUMBER = rf"(?:\d{{1,4}}|{_ROMAN}|(?:the\s+)?[\p{{L}}\p{{M}}]+(?:-[\p{{L}}\p{{M}}]+)*)"
_TITLE = r"(?:\s*[.:—–-]+\s*.*)?"
_COUNT = r"[0-9０-９〇零一二三四五六七八九十百千兩两壹贰叁廿卅]+"

_PATTERNS = (
    # "Chapter IV", "Chapter Four: The Storm", "CHAPTER TWENTY TWO"
    rf"(?i:{_CHAPTER})\s+{_NUMBER}(?:\s+\p{{Lu}}+)?{_TITLE}",
    # "Part One", "BOOK THE SECOND", "Часть первая"
    rf"(?i:{_PART})\s+(?:\d{{1,4}}|{_ROMAN}|(?i:(?:the\s+)?(?:{_ORDINALS}))){_TITLE}",
    rf"(?:\d{{1,3}}\.|\p{{Lu}}[\p{{L}}\p{{M}}]*(?i:{_ORDINAL_ENDS}))\s+(?i:{_CHAPTER}|{_PART}|kapitlet|fejezet|rész){_TITLE}",
    # "第三章", "第 12 回 风雪", "卷二", "제3장"
    rf"第\s*{_COUNT}\s*[章回节節卷部集幕篇話话折](?:[\s:：、　].*)?",
    rf"[卷部]\s*{_COUNT}(?:[\s:：　].*)?",
    r"제\s*\d{1,4}\s*[장부화편권](?:[\s:.].*)?",
    rf"(?i:{_WHOLE})(?:\s*[.:—–-]\s*.*)?",
    # A number alone on a line
    rf"[-—–*\s]*(?:\d{{1,3}}|{_ROMAN})[.\s]*[-—–*\s]*",
    r"[一二三四五六七八九十百]{1,4}",
)
_HEADING = regex.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_ENDS_A_SENTENCE = (",", ";", "，", "；", "?", "？", "。", "…")


def is_heading(text: str) -> bool:
    """Whether a line, or a short group of lines, is a chapter heading."""
    first, *rest = text.strip().split("\n")
    if len(text) > _LONGEST or len(rest) > 2 or first.rstrip().endswith(_ENDS_A_SENTENCE):
        return False
    return _HEADING.fullmatch(first.strip()) is not None
