"""Search for quoted words in a text, tolerant of quotation marks, dashes and spaces."""

from __future__ import annotations

from typing import TypeAlias

import regex

CharacterSpan: TypeAlias = tuple[int, int]

# Characters that models interchange.
_ALIKE = ("'’‘ʼ`", '"“”„«»', "-‐‑–—")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![\p{L}\p{N}])", r"(?![\p{L}\p{N}])"
_SPACE = regex.compile(r"\s+")
_PIECE = regex.compile(r"\s+|…|\.\.\.|.", regex.DOTALL)


def find_quote(quote: str, text: str) -> list[CharacterSpan]:
    """All spans of the quote, in order. Words match whole, except in scripts without spaces."""
    quote = quote.strip()
    if not quote:
        return []
    body = "".join(map(_pattern, _PIECE.findall(quote)))
    before = _NO_WORD_BEFORE if _is_spaced_letter(quote[0]) else ""
    after = _NO_WORD_AFTER if _is_spaced_letter(quote[-1]) else ""
    return [match.span() for match in regex.finditer(before + body + after, text, regex.IGNORECASE)]


def _is_spaced_letter(character: str) -> bool:
    """Whether the character belongs to a script that separates words by spaces."""
    return character.isalnum() and not _UNSPACED.match(character)


def _pattern(piece: str) -> str:
    if _SPACE.fullmatch(piece):  # str.isspace knows some more, which `\s` would not find again
        return r"\s+"
    if piece in ("…", "..."):
        return r"(?:…|\.\.\.)"
    alike = next((signs for signs in _ALIKE if piece in signs), "")
    return f"[{regex.escape(alike)}]" if alike else regex.escape(piece)
