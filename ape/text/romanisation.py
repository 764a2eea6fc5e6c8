"""How a name of the source sounds, in plain Latin letters, and how similar a wording of the translation sounds.

Chinese is read by pypinyin, other scripts by anyascii. Both come with the extra `names`.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from importlib.util import find_spec

from rapidfuzz.distance import Indel

# Spellings that translators and machines use for one sound of pinyin, folded before a second comparison.
_FOLDS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ng", "n"), ("x", "s"), ("q", "c"), ("ü", "u"), ("r", "l"))
# Two-character family names, so that 欧阳明 is "Ouyang Ming".
COMPOUND_FAMILY_NAMES = frozenset(
    "欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 司徒 "
    "独孤 宇文 长孙 南宫 夏侯 轩辕 端木 百里 东郭 西门 北堂 东宫".split()
)


def missing_romaniser(language: str) -> str:
    """A sentence that says which library is missing for a language; "" if none is."""
    needed = {"zh": ("pypinyin", "jieba")}.get(language, ("anyascii",))
    missing = [name for name in needed if find_spec(name) is None]
    if not missing:
        return ""
    return f"{' and '.join(missing)} not installed, so names can't be read. Type: pip install 'ape-books[names]'"


@lru_cache(maxsize=50_000)
def syllables(text: str, language: str) -> tuple[str, ...]:
    """The reading of a name: a syllable for each Chinese character, a word for each word of other scripts."""
    if language == "zh":
        return _pinyin(text)
    return tuple(word for word in (plain_letters(part) for part in _ascii(text).split()) if word)


@lru_cache(maxsize=200_000)
def romanise(word: str) -> str:
    """A word in Latin letters; unchanged where anyascii is not installed."""
    return word if word.isascii() or find_spec("anyascii") is None else _ascii(word)


@lru_cache(maxsize=200_000)
def plain_letters(wording: str) -> str:
    """The letters of a wording without spaces, accents, marks and capitals."""
    return letters_of(wording)


def letters_of(text: str) -> str:
    """The same for a text of any length, which is not kept."""
    if text.isascii():
        return "".join(filter(str.isalpha, text)).lower()
    plain = unicodedata.normalize("NFKD", text).lower()
    return "".join(sign for sign in plain if sign.isalpha())


@lru_cache(maxsize=500_000)
def sound_similarity(form: str, wording: str, language: str) -> float:
    """How similar a wording sounds to the reading of a source form, from 0 to 1."""
    reading = "".join(syllables(form, language))
    letters = plain_letters(wording)
    if not reading or not letters:
        return 0.0
    return letter_similarity(reading, letters)


def letter_similarity(one: str, other: str) -> float:
    """The share of letters that two plain wordings have in common, in order; folded spellings count a little less."""
    exact = float(Indel.normalized_similarity(one, other))
    if exact == 1.0:
        return 1.0
    return max(exact, 0.95 * float(Indel.normalized_similarity(_fold(one), _fold(other))))


def pinyin_wording(form: str) -> str:
    """The conventional English spelling of a Chinese name: family name first, given name joined."""
    parts = _pinyin(form)
    if len(parts) != len(form) or not parts:
        return ""
    family = 2 if len(form) > 2 and form[:2] in COMPOUND_FAMILY_NAMES else 1
    words = ("".join(parts[:family]), "".join(parts[family:]))
    return " ".join(word.capitalize() for word in words if word)


@lru_cache(maxsize=50_000)
def _fold(letters: str) -> str:
    for spelling, sound in _FOLDS:
        letters = letters.replace(spelling, sound)
    return letters


def _pinyin(text: str) -> tuple[str, ...]:
    from pypinyin import Style, lazy_pinyin

    return tuple(plain_letters(syllable) for syllable in lazy_pinyin(text, style=Style.NORMAL, v_to_u=False))


def _ascii(text: str) -> str:
    from anyascii import anyascii

    return str(anyascii(text.replace("・", " ").replace("·", " ")))
