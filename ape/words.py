"""Cut a text into words, numbers, mark-up, marks and spaces, in any script, so that joining them gives it back.

Scripts that put no spaces between words are cut by character (Han, kana, Thai …), except that a run of
katakana, nearly always one borrowed word or name, stays whole.
"""

from __future__ import annotations

import regex

_TOKEN = regex.compile(
    r"""
      \s+
    | </?[A-Za-z][^<>\n]{0,200}>                                   # a tag is one token, so a diff never splits it
    | \p{N}+(?:[.,:'’]\p{N}+)*                                     # 3,141.59 · 12:30
    | [\p{Katakana}ー]+
    | [\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*
    | [\p{L}\p{M}]+(?:['’\u200c\u200d][\p{L}\p{M}]+)*              # don't · l’eau · नहीं
    | \X
    """,
    regex.VERBOSE | regex.V1,
)
_WORD = regex.compile(r"[\p{L}\p{N}]")


def tokens(text: str) -> list[str]:
    """All pieces of the text in order: `"".join(tokens(text)) == text`, always."""
    pieces: list[str] = _TOKEN.findall(text)
    return pieces


def is_word(token: str) -> bool:
    """Whether the token says something: it has a letter or a digit, and is not a tag."""
    return not token.startswith("<") and _WORD.search(token) is not None


def words(text: str) -> list[str]:
    """The words and numbers alone."""
    return [token for token in tokens(text) if is_word(token)]
