"""Split a text into tokens: words, numbers, tags, punctuation marks and spaces, in any script.

Scripts without spaces between words (Han, kana, Thai …) are split into characters, except that a run of katakana,
nearly always one borrowed word or name, is one token.
"""

from __future__ import annotations

import re
from itertools import accumulate
from operator import add, sub

import regex

_TOKEN = regex.compile(
    r"""
      \s+
    | </?[A-Za-z][^<>\n]{0,200}>                                   # a tag is one token, so a diff never splits it
    | ⟦/?\d{1,4}/?⟧                                                # so is an inline mark
    | \p{N}+(?:[.,:'’]\p{N}+)*                                     # 3,141.59 · 12:30
    | [\p{Katakana}ー]+
    | [\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*
    | [\p{L}\p{M}]+(?:['’\u200c\u200d][\p{L}\p{M}]+)*              # don't · l’eau · नहीं
    | \X
    """,
    regex.VERBOSE | regex.V1,
)
_WORD = regex.compile(r"[\p{L}\p{N}]")

# Most texts in Latin script have only these characters, for which `re` finds the same tokens twice as fast.
_LETTER = "A-Za-zÀ-ÖØ-öø-ſ"
_PLAIN = re.compile(rf"[ \n\t\u00a0!-~{_LETTER}‘’“”„«»–—…]*")
_PLAIN_TOKEN = re.compile(
    rf"""
      [{_LETTER}]+(?:['’][{_LETTER}]+)*
    | [0-9]+(?:[.,:'’][0-9]+)*
    | </?[A-Za-z][^<>\n]{{0,200}}>
    | [^ \n\t\u00a0]
    """,
    re.VERBOSE,
)
_PLAIN_SPACES = " \n\t\u00a0"
_SPACED_PLAIN_TOKEN = re.compile(rf"(?:{_PLAIN_TOKEN.pattern})[{_PLAIN_SPACES}]*", re.VERBOSE)


def tokens(text: str) -> list[str]:
    """All tokens in order, spaces included: `"".join(tokens(text)) == text`."""
    pieces: list[str] = _TOKEN.findall(text)
    return pieces


def split_tokens(text: str) -> tuple[tuple[str, ...], list[int], list[int]]:
    """All tokens that are not spaces, with their starts and ends."""
    if not _PLAIN.fullmatch(text):
        return split_pieces(tokens(text))
    # Each token with the space after it, so that their lengths give the positions.
    spaced = _SPACED_PLAIN_TOKEN.findall(text)
    words = tuple(map(str.rstrip, spaced))
    starts = list(accumulate(map(len, spaced), initial=len(text) - len(text.lstrip(_PLAIN_SPACES))))
    starts.pop()
    return words, starts, list(map(add, starts, map(len, words)))


def split_pieces(pieces: list[str]) -> tuple[tuple[str, ...], list[int], list[int]]:
    """The pieces that are not spaces, with their starts and ends in the text that all form together."""
    ends = list(accumulate(map(len, pieces)))
    kept = [index for index, piece in enumerate(pieces) if not piece.isspace()]
    words = tuple([pieces[index] for index in kept])
    word_ends = [ends[index] for index in kept]
    return words, list(map(sub, word_ends, map(len, words))), word_ends


def token_spans(text: str) -> list[tuple[int, int]]:
    """The spans of all tokens that are not spaces."""
    if _PLAIN.fullmatch(text):
        return [match.span() for match in _PLAIN_TOKEN.finditer(text)]
    return piece_spans(tokens(text))


def piece_spans(pieces: list[str]) -> list[tuple[int, int]]:
    """The spans of the pieces that are not spaces, in the text that they form together."""
    ends = accumulate(map(len, pieces))
    return [(end - len(piece), end) for piece, end in zip(pieces, ends, strict=True) if not piece.isspace()]


def is_word(token: str) -> bool:
    """Whether the token has a letter or digit and is not a tag."""
    if token.isalnum():
        return True
    return not token.startswith(("<", "⟦")) and _WORD.search(token) is not None


def words(text: str) -> list[str]:
    """The words and numbers of a text."""
    return [token for token in tokens(text) if is_word(token)]
