"""Where the words that a judge quotes are in a text, whatever quotation marks and spaces it wrote."""

from __future__ import annotations

from typing import TypeAlias

import regex

CharacterSpan: TypeAlias = tuple[int, int]

# A model writes these alike.
_ALIKE = ("'’‘ʼ`", '"“”„«»', "-‐‑–—")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![\p{L}\p{N}])", r"(?![\p{L}\p{N}])"
_SPACE = regex.compile(r"\s+")
_PIECE = regex.compile(r"\s+|…|\.\.\.|.", regex.DOTALL)


def find_quote(quote: str, text: str) -> list[CharacterSpan]:
    """All places, in order. A word is not found inside of another, except where words are not parted by spaces."""
    quote = quote.strip()
    if not quote:
        return []
    body = "".join(map(_pattern, _PIECE.findall(quote)))
    before = _NO_WORD_BEFORE if _in_a_word(quote[0]) else ""
    after = _NO_WORD_AFTER if _in_a_word(quote[-1]) else ""
    return [match.span() for match in regex.finditer(before + body + after, text, regex.IGNORECASE)]


def _in_a_word(character: str) -> bool:
    """Whether it is of a script that parts its words by spaces."""
    return character.isalnum() and not _UNSPACED.match(character)


def _pattern(piece: str) -> str:
    if _SPACE.fullmatch(piece):  # str.isspace knows some more, which `\s` would not find again
        return r"\s+"
    if piece in ("…", "..."):
        return r"(?:…|\.\.\.)"
    alike = next((signs for signs in _ALIKE if piece in signs), "")
    return f"[{regex.escape(alike)}]" if alike else regex.escape(piece)
