"""The size of a text, comparable between scripts."""

from __future__ import annotations

import re
from functools import lru_cache

import regex

# An ideograph corresponds to about three letters.
_IDEOGRAPH = regex.compile(r"[\p{Han}\p{Hangul}]")
_MAY_BE_IDEOGRAPH = re.compile("[\u1100-\u1fff\u2e80-\U0010ffff]")
_IDEOGRAPH_SIZE = 3


@lru_cache(maxsize=16)
def text_size(text: str) -> int:
    """The number of characters without spaces, each ideograph counted as three."""
    plain = len("".join(text.split()))
    if text.isascii() or not _MAY_BE_IDEOGRAPH.search(text):
        return plain
    return plain + (_IDEOGRAPH_SIZE - 1) * len(_IDEOGRAPH.findall(text))
