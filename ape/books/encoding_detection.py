"""Which encoding a text may be in that has no mark and is not UTF-8: the readings that make sense, the best first.

Where most bytes are ASCII letters, the text is in a Western or Central European encoding of one byte a character. These
differ in a few letters only; so each is tried, and its letters are held against the alphabet of the language that the
text is in. For all other texts charset-normalizer is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import regex
from charset_normalizer import CharsetMatch, from_bytes

from ape.text.languages import detect_language

# Whether all of the file can be read in an encoding.
CanDecode = Callable[[str], bool]

# The order is that of preference where they read alike.
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "iso8859_15", "iso8859_16")
# The letters beside a to z that a language is written with. English has those of the words it borrows.
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
# What no word looks like: a sign between letters, a capital after a small letter, nothing but accented letters.
_ODD = regex.compile(
    r"\p{L}[\p{S}\p{No}\p{Cc}§ªº¡¿]+\p{L}|[¶¦¬±¤]\p{L}|\p{L}[¶¦¬±¤]|\p{Ll}[\p{Lu}--[A-Z]]|"
    r"(?<!\p{L})[\p{L}--[A-Za-z]]{3,}(?!\p{L})|[\p{Cc}--\s]",
    flags=regex.V1,
)
_BEYOND_ASCII = regex.compile(r"\S*[^\x00-\x7f\s]\S*")
_LETTERS = regex.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
_ODD_WORDS = 0.2

# What books come in. The others in charset-normalizer's list tie with these on short texts and are hardly ever right.
_COMMON = frozenset(
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859_1 iso8859_2 iso8859_5 iso8859_7 "
    "iso8859_8 iso8859_9 iso8859_15 latin_1 koi8_r koi8_u gb18030 gbk gb2312 big5 cp950 big5hkscs cp932 shift_jis "
    "euc_jp euc_jis_2004 iso2022_jp cp949 euc_kr tis_620 cp874 cp866".split()
)
# Encodings that hold all of another.
_LARGER = {
    "gb2312": "gb18030", "gbk": "gb18030", "iso8859_1": "cp1252", "latin_1": "cp1252", "iso8859_9": "cp1254",
    "iso8859_8": "cp1255", "shift_jis": "cp932", "big5": "cp950", "euc_kr": "cp949", "tis_620": "cp874",
    "euc_jp": "euc_jis_2004",
}  # fmt: skip
# Of charset-normalizer's measures, how far behind the best an answer is that has to be taken seriously.
_CHAOS_APART = 0.03
_COHERENCE_APART = 0.15
_CHAOS_LIMIT = 0.15


@dataclass(frozen=True, slots=True)
class EncodingGuess:
    """An encoding, and what the sample says in it."""

    encoding: str
    text: str

    def telling(self, others: Iterable[EncodingGuess]) -> str:
        """A word by which a reader sees whether the encoding is right; one that the others read in another way."""
        known = {word for other in others if other != self for word in _LETTERS.findall(other.text)}
        words = _LETTERS.findall(self.text)
        own = [word for word in words if word not in known]
        return max((own or words)[:50], key=len, default="…")[:20]


def guess_encodings(sample: bytes, reads: CanDecode) -> list[EncodingGuess]:
    """The ways to read a text that can't be told apart; one where it is certain, none where nothing makes sense."""
    letters = sum(byte < 128 and chr(byte).isalpha() for byte in sample)
    if 2 * letters <= len(sample):
        return _general(sample, reads)
    good, others = _latin(sample, reads)
    # A reading that is left over, and has letters that its language has not, is no proof of anything.
    return good or _distinct([*others, *_general(sample, reads)])


def _latin(sample: bytes, reads: CanDecode) -> tuple[list[EncodingGuess], list[EncodingGuess]]:
    """Those whose letters are the language's own, and those that make some sense."""
    found = _distinct(EncodingGuess(name, sample.decode(name, "replace")) for name in _LATIN if reads(name))
    fits = {one.encoding: _fit(one.text) for one in found if _makes_sense(one.text)}
    sensible = sorted((one for one in found if one.encoding in fits), key=lambda one: -fits[one.encoding])
    good = [one for one in sensible if fits[one.encoding] >= _IN_ALPHABET]
    faultless = [one for one in good if fits[one.encoding] == 1 and not _ODD.search(one.text)]
    if len(faultless) == 1:
        good = faultless
    return good, [one for one in sensible if one not in good]


def _makes_sense(text: str) -> bool:
    words = _BEYOND_ASCII.findall(text)
    return sum(bool(_ODD.search(word)) for word in words) <= _ODD_WORDS * len(words)


def _fit(text: str) -> float:
    """The share of letters beyond a to z that the language of the text has."""
    alphabet = _ALPHABETS.get(detect_language(text[:_DETECTED_BY], default=""), "")
    letters = [char for char in text if char > "\x7f" and char.isalpha()]
    known = sum(char in alphabet or char.lower() in alphabet for char in letters)
    return known / len(letters) if letters else 1.0


def _general(sample: bytes, reads: CanDecode) -> list[EncodingGuess]:
    matches = [match for match in from_bytes(sample) if match.chaos <= _CHAOS_LIMIT]
    common = [match for match in matches if _COMMON.intersection(match.could_be_from_charset)]
    fitting = [match for match in common or matches if reads(_name(match))]
    near = [match for match in fitting if _near(match, fitting[0])]
    return _distinct(EncodingGuess(_largest(_name(match), reads), str(match)) for match in near)


def _distinct(found: Iterable[EncodingGuess]) -> list[EncodingGuess]:
    """The first of those that read alike, and of those that are one encoding."""
    texts: dict[str, EncodingGuess] = {}
    for one in found:
        texts.setdefault(one.text, one)
    return list({one.encoding: one for one in reversed(texts.values())}.values())[::-1]


def _near(match: CharsetMatch, best: CharsetMatch) -> bool:
    return match.chaos <= best.chaos + _CHAOS_APART and match.coherence >= best.coherence - _COHERENCE_APART


def _name(match: CharsetMatch) -> str:
    """Of the encodings that read alike, the one that files are in."""
    alike = match.could_be_from_charset
    return next((name for name in alike if name in _COMMON), match.encoding)


def _largest(name: str, reads: CanDecode) -> str:
    larger = _LARGER.get(name, name)
    return larger if reads(larger) else name
