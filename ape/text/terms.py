"""Find known terms in a text by word boundary, and wordings with their inflections; never a part of another word.

Scripts without spaces have no word boundaries: there the longest known term wins at each place, so that a term inside
another is no hit, and a run of katakana is one word.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import regex

from ape.text.languages import script_counts

_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_KATAKANA = regex.compile(r"[\p{Katakana}ー]")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]")
# Demonstratives that are names too (Anna): before に they are adverbs.
_DEMONSTRATIVES = frozenset({"あんな", "こんな", "そんな", "どんな"})
# The most letters that an ending adds to a word: Annával, Наташами.
_LONGEST_ENDING = 4
# Hungarian lengthens a final vowel before an ending.
_LENGTHENED = {"a": "[aá]", "e": "[eé]", "o": "[oó]", "u": "[uú]", "i": "[ií]", "ö": "[öő]", "ü": "[üű]"}
_POSSESSIVE = r"(?:['’]s?)?"


def find_terms(text: str, terms: Collection[str]) -> set[str]:
    """The terms that occur in the text as words of their own, in any case; the longest of those that overlap.

    Takes time linear in the text, and in all terms together on the first call.
    """
    if not terms:
        return set()
    pattern, names = _terms_pattern(tuple(terms))
    if not names:
        return set()
    found: set[str] = set()
    for match in pattern.finditer(text):
        if _stands_alone(text, match.start(), match.end()):
            found.update(names.get(_folded(match["term"]), ()))
    return found


def has_wording(text: str, wording: str, *, language: str = "") -> bool:
    """Whether the text has the wording: its words in order, in any case and with any endings.

    English names have no endings but the possessive: Rhodes is not Rhode. In other languages a word may lose its last
    letter for an ending (Anna, Annával; Наташа, Наташе), but its beginning never changes: Vestphalia is not Westphalia.
    """
    if not wording.strip():
        return False
    return _has_exactly(text, " ".join(wording.split())) or _wording_pattern(wording, language).search(text) is not None


def _has_exactly(text: str, wording: str) -> bool:
    """Whether the text has the wording letter by letter, as words of their own; most texts do, without a pattern."""
    start = text.find(wording)
    while start >= 0:
        before, after = text[max(0, start - 1) : start], text[start + len(wording) :][:1]
        if not (_WORD.match(before) or _WORD.match(after)):
            return True
        start = text.find(wording, start + 1)
    return False


@lru_cache(maxsize=64)
def _terms_pattern(terms: tuple[str, ...]) -> tuple[regex.Pattern[str], dict[str, list[str]]]:
    names: dict[str, list[str]] = {}
    for term in terms:
        if term.strip():
            names.setdefault(_folded(term), []).append(term)
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    # A named list is matched as a set, whatever the number of terms; possessive: no shorter term inside a longer one.
    inflected = r"(?:['’]s|(?<=\p{Ll})s)?+"
    pattern = regex.compile(rf"(?P<term>\L<terms>){inflected}", regex.IGNORECASE, terms=longest_first)
    return pattern, names


def _folded(term: str) -> str:
    """The term as it is matched in any case: ſ is s, µ (the sign) is μ (the letter), and İ is i."""
    term = term.strip()
    return term.lower() if term.isascii() else "".join(map(_folded_letter, term))


def _folded_letter(letter: str) -> str:
    if letter in "İı":
        return "i"
    folded = letter.casefold()
    return folded if len(folded) == 1 else letter.lower()


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the span is not a part of a longer word."""
    return not (_continues(text, start - 1, start) or _continues(text, end, end - 1, term=text[start:end]))


def _continues(text: str, outside: int, inside: int, *, term: str = "") -> bool:
    """Whether the character outside the span belongs to the same word as the one inside."""
    if not 0 <= outside < len(text):
        return False
    out, within = text[outside], text[inside]
    if not _WORD.match(out) and out != "ー":
        return False
    if _KATAKANA.match(out) and _KATAKANA.match(within):
        return True
    if term in _DEMONSTRATIVES and out == "に":
        return True
    return not (_UNSPACED.match(out) or _UNSPACED.match(within) or not _WORD.match(within))


@lru_cache(maxsize=4_096)
def _wording_pattern(wording: str, language: str) -> regex.Pattern[str]:
    words = wording.split()
    if _UNSPACED.search(wording):
        return regex.compile(r"\s*".join(map(regex.escape, words)), regex.IGNORECASE)
    body = r"[\s\u00a0-]+".join(_word_pattern(word, words, language) for word in words)
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}\p{{N}}]){body}(?![\p{{L}}\p{{M}}\p{{N}}])", regex.IGNORECASE)


def _word_pattern(word: str, words: list[str], language: str) -> str:
    letters = len(word)
    if language in ("", "en") and "Cyrillic" not in script_counts(word):
        plural = "(?:e?s)?" if len(words) > 1 or word.islower() else ""
        return regex.escape(word) + plural + _POSSESSIVE
    if letters < 3 or not word[-1].isalpha():
        return regex.escape(word) + _POSSESSIVE
    stem, last = regex.escape(word[:-1]), regex.escape(word[-1])
    ending = rf"[\p{{L}}\p{{M}}]{{0,{_LONGEST_ENDING}}}"
    # The last letter changes only where it is a vowel: Anna, Annával, Наташе, but not Anton, Antol.
    vowel = word[-1].lower()
    lengthened = _LENGTHENED.get(vowel, last)
    lost = rf"|{stem}\p{{L}}{{0,2}}" if vowel in "aeiouyаяоеиыйь" and letters > 3 else ""
    return rf"(?:{stem}{lengthened}{ending}{lost}){_POSSESSIVE}"
