"""Guess the encoding of a text that has no byte order mark and is not UTF-8: plausible readings, the best first.

Where most bytes are ASCII letters, the text is in a Western or Central European single-byte encoding. These differ in a
few letters only, so each is tried, and its letters are compared with the alphabet of the detected language. All other
texts are left to charset-normalizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex
from charset_normalizer import CharsetMatch, from_bytes

from ape.text.languages import detect_language

# Whether the whole file can be decoded in an encoding.
CanDecode = Callable[[str], bool]

# In order of preference where the readings are equal.
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "iso8859_15", "iso8859_16")
# The letters of each language besides a to z. Those of English occur in loan words.
_ALPHABETS = {
    "cs": "áčďéěíňóřšťúůýž",
    "da": "æøåéáüö",
    "de": "äöüßéàè",
    "en": "éèêëïîôöüçñàâæœáíóúä",
    "es": "áéíñóúüªº",
    "et": "äöõüšž",
    "fi": "äöåéšž",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áðéíóúýþæö",
    "it": "àèéìíîòóùú",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "nb": "æøåéòôü",
    "nl": "áéëèïíóöüúê",
    "no": "æøåéòôü",
    "pl": "ąćęłńóśźż",
    "pt": "áâãàçéêíóôõúüªº",
    "ro": "ăâîșțşţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sv": "åäöéüà",
    "tr": "çğıİöşüâîû",
}
_IN_ALPHABET = 0.95
_DETECTED_BY = 5_000
# Implausible words: a symbol between letters, a capital after a small letter, only accented letters.
_ODD = regex.compile(
    r"\p{L}[\p{S}\p{No}\p{Cc}§ªº¡¿]+\p{L}|[¶¦¬±¤]\p{L}|\p{L}[¶¦¬±¤]|\p{Ll}[\p{Lu}--[A-Z]]|"
    r"(?<!\p{L})[\p{L}--[A-Za-z]]{3,}(?!\p{L})|[\p{Cc}--\s]",
    flags=regex.V1,
)
_BEYOND_ASCII = regex.compile(r"\S*[^\x00-\x7f\s]\S*")
_LETTERS = regex.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
_ODD_WORDS = 0.2

# Encodings of books. Others known to charset-normalizer tie with these on short texts and are hardly ever right.
_COMMON = frozenset(
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859_1 iso8859_2 iso8859_5 iso8859_7 "
    "iso8859_8 iso8859_9 iso8859_15 latin_1 koi8_r koi8_u gb18030 gbk gb2312 big5 cp950 big5hkscs cp932 shift_jis "
    "euc_jp euc_jis_2004 iso2022_jp cp949 euc_kr tis_620 cp874 cp866".split()
)
# Encodings and their supersets.
_LARGER = {
    "gb2312": "gb18030", "gbk": "gb18030", "iso8859_1": "cp1252", "latin_1": "cp1252", "iso8859_9": "cp1254",
    "iso8859_8": "cp1255", "shift_jis": "cp932", "big5": "cp950", "euc_kr": "cp949", "tis_620": "cp874",
    "euc_jp": "euc_jis_2004",
}  # fmt: skip
# Guesses within these distances of the best guess, in charset-normalizer's measures, are plausible too.
_CHAOS_APART = 0.03
_COHERENCE_APART = 0.15
_CHAOS_LIMIT = 0.15


@dataclass(frozen=True, slots=True)
class EncodingGuess:
    """An encoding, and the sample decoded in it."""

    encoding: str
    text: str

    def sample_word(self, others: Iterable[EncodingGuess]) -> str:
        """A word that shows whether the encoding is right, if possible one that the others read differently."""
        known = {word for other in others if other != self for word in _LETTERS.findall(other.text)}
        words = _LETTERS.findall(self.text)
        own = [word for word in words if word not in known]
        return max((own or words)[:50], key=len, default="…")[:20]


def guess_encodings(sample: bytes, can_decode: CanDecode) -> list[EncodingGuess]:
    """All plausible guesses: one where the encoding is certain, none where no reading makes sense."""
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in sample)
    if 2 * letters <= len(sample):
        return _general(sample, can_decode)
    good, others = _latin(sample, can_decode)
    # A sole reading with letters foreign to its language is weak evidence, so the general guesses are added.
    return good or _distinct([*others, *_general(sample, can_decode)])


def _latin(sample: bytes, can_decode: CanDecode) -> tuple[list[EncodingGuess], list[EncodingGuess]]:
    """Guesses whose letters belong to the detected language, and other plausible guesses."""
    found = _distinct(EncodingGuess(name, sample.decode(name, "replace")) for name in _LATIN if can_decode(name))
    fits = {guess.encoding: _alphabet_share(guess.text) for guess in found if _makes_sense(guess.text)}
    sensible = sorted((guess for guess in found if guess.encoding in fits), key=lambda guess: -fits[guess.encoding])
    good = [guess for guess in sensible if fits[guess.encoding] >= _IN_ALPHABET]
    faultless = [guess for guess in good if fits[guess.encoding] == 1 and not _ODD.search(guess.text)]
    if len(faultless) == 1:
        good = faultless
    return good, [guess for guess in sensible if guess not in good]


def _makes_sense(text: str) -> bool:
    words = _BEYOND_ASCII.findall(text)
    return sum(bool(_ODD.search(word)) for word in words) <= _ODD_WORDS * len(words)


def _alphabet_share(text: str) -> float:
    """The share of non-ASCII letters that belong to the alphabet of the detected language."""
    alphabet = _ALPHABETS.get(detect_language(text[:_DETECTED_BY], default=""), "")
    letters = [char for char in text if char > "\x7f" and char.isalpha()]
    known = sum(char in alphabet or char.lower() in alphabet for char in letters)
    return known / len(letters) if letters else 1.0


def _general(sample: bytes, can_decode: CanDecode) -> list[EncodingGuess]:
    matches = [match for match in from_bytes(sample) if match.chaos <= _CHAOS_LIMIT]
    common = [match for match in matches if _COMMON.intersection(match.could_be_from_charset)]
    fitting = [match for match in common or matches if can_decode(_name(match))]
    near = [match for match in fitting if _is_plausible(match, fitting[0])]
    return _distinct(EncodingGuess(_largest(_name(match), can_decode), str(match)) for match in near)


def _distinct(found: Iterable[EncodingGuess]) -> list[EncodingGuess]:
    """Remove guesses with the same text or the same encoding as an earlier guess."""
    texts: dict[str, EncodingGuess] = {}
    for guess in found:
        texts.setdefault(guess.text, guess)
    return list({guess.encoding: guess for guess in reversed(texts.values())}.values())[::-1]


def _is_plausible(match: CharsetMatch, best: CharsetMatch) -> bool:
    return match.chaos <= best.chaos + _CHAOS_APART and match.coherence >= best.coherence - _COHERENCE_APART


def _name(match: CharsetMatch) -> str:
    """The common one among encodings that decode the sample equally."""
    alike = match.could_be_from_charset
    return next((name for name in alike if name in _COMMON), match.encoding)


def _largest(name: str, can_decode: CanDecode) -> str:
    larger = _LARGER.get(name, name)
    return larger if can_decode(larger) else name
