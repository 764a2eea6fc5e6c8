"""Numbers as values: digits of any script, Roman and Chinese numerals, and number words of a dozen languages."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import regex

_DIGITS = re.compile(
    r"""
    \d
    (?: (?<![\d.,]\d)\d{0,2}(?:[\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:[.,]\d+)?     # 10 000
      | \d*(?:[.,:'’/٫٬]\d+)*
    )
    """,
    re.VERBOSE,
)
_INNER_SPACE = re.compile(r"(?<=\d)[\u00a0\u202f\u2009 ](?=\d)")
_ROW = re.compile(r"\d+")
_ROMAN = regex.compile(r"\b(?=[IVXLCМХ]{2,}\b)[MМ]{0,3}(?:C[MD]|D?C{0,3})(?:[XХ][CL]|L?[XХ]{0,3})(?:I[XХV]|V?I{0,3})\b")
# Much faster, for the texts that have no numeral.
_ROMAN_LETTERS = re.compile("[IVXLCМХ]{2}")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "Х": 10, "L": 50, "C": 100, "D": 500, "M": 1000, "М": 1000}
_HAN = re.compile(r"[〇零一二两兩三四五六七八九十百千万萬亿億]+")
_HAN_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
               "八": 8, "九": 9}  # fmt: skip
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}

# Words that multiply the digits before them: "1.5 million" is "1 500 000", "3万" is "30,000".
_SCALE = regex.compile(
    r"\b(?:thousand|million|billion|trillion|hundred|dozen|lakh|crore|tuhat\w*|miljon\w*|miljard\w*|mii|mie|milio\w+"
    r"|miliard\w*|тыс\w*|миллион\w*|миллиард\w*|млн|млрд|mille|millions?|milliards?|tausend|million\w*|milliard\w*|mln"
    r"|mrd|mil|mil\w{0,2}n\w*|millones|mille|mila)\b|[万萬亿億千百]",
    regex.IGNORECASE,
)

_MEASURE = regex.compile(
    r"fortnight|dozen|quarter|half|score|decade|centur|teen|week|douzaine|quinzaine|vingtaine|dutzend"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in digits, as written and as groups of ASCII digits."""

    surface: str
    parts: tuple[str, ...]

    @property
    def joined(self) -> str:
        """All digits without separators."""
        return "".join(self.parts)

    @property
    def significant(self) -> str:
        """The digits without zeros at either end: the same for 1.5 million and 1,500,000."""
        return self.joined.strip("0")


class TextNumbers:
    """The numbers of a text: those in digits, and others computed on first use."""

    def __init__(self, text: str, language: str) -> None:
        for sign, plain in _FRACTIONS.items():
            if sign in text:
                text = text.replace(sign, f" {plain} ")
        self._text, self._language = text, language
        self.digits = tuple(_number(found) for found in _DIGITS.findall(text))

    @cached_property
    def values(self) -> frozenset[int]:
        """The values of Roman and Chinese numerals and of number words."""
        text = self._text
        return frozenset({*_roman_values(text), *_word_values(text, self._language), *_han_values(text)})

    @cached_property
    def scaled(self) -> bool:
        """Whether the text has words like "million"."""
        return _SCALE.search(self._text) is not None

    def has(self, number: Number) -> bool:
        """Whether the text contains this number in any form. The zeros of 17:00 are ignored."""
        if number.joined == "00" or number.joined in self._joined:
            return True
        return self._in_words(number) or self._by_parts(number) or self._by_year(number)

    def has_in_words(self, value: int) -> bool:
        """Whether the text contains this value in words, numerals or digits."""
        if value in self.values or self.has(Number(str(value), (str(value),))):
            return True
        ones = value % 10
        return value < 100 and ones > 0 and {value - ones, ones} <= self.values  # four-and-twenty

    def may_exceed(self, value: int) -> bool:
        """Whether the text may contain a larger value; much cheaper than computing all values."""
        if not self._text.isascii() and _HAN.search(self._text):
            return True
        if _ROMAN_LETTERS.search(self._text) and _ROMAN.search(self._text):
            return True
        lowered = self._text.lower()
        return any(_begins_word(stem, lowered) for stem in _large_stems(self._language, value) if stem in lowered)

    @cached_property
    def other_measures(self) -> frozenset[str]:
        """Words of other units: fifteen days are a fortnight, twenty-four is two dozen."""
        return frozenset(_MEASURE.findall(self._text.lower()))

    def _in_words(self, number: Number) -> bool:
        values = {int(part) for part in (*number.parts, number.joined) if len(part) < 16}
        return bool(values & self.values) and (
            len(number.parts) == 1
            or int(number.joined[:15]) in self.values
            or values <= self.values | self._part_values
        )

    @cached_property
    def _joined(self) -> frozenset[str]:
        return frozenset(number.joined for number in self.digits)

    @cached_property
    def _part_values(self) -> frozenset[int]:
        return frozenset(int(part) for other in self.digits for part in other.parts if len(part) < 16)

    @cached_property
    def _significant(self) -> frozenset[str]:
        return frozenset(number.significant for number in self.digits)

    @cached_property
    def _short_years(self) -> frozenset[str]:
        return frozenset(number.joined[2:] for number in self.digits if len(number.joined) == 4)

    def _by_year(self, number: Number) -> bool:
        """Whether a year occurs in its short or long form: 1990s and 90s, 1994–1995 and 1994–95."""
        digits = number.joined
        return digits in self._short_years or (len(digits) == 4 and digits[2:] in self._joined)

    def _by_parts(self, number: Number) -> bool:
        """Whether a date or time occurs in another notation: 12.05.1998 as 12 May 1998."""
        parts = {int(part) for part in number.parts if len(part) < 16} - {0}
        missing = parts - self._part_values
        spelled_month = len(number.parts) == 3 and len(missing) == 1 and max(missing) <= 12
        return bool(parts) and (not missing or spelled_month)

    def has_scaled(self, number: Number) -> bool:
        """Whether the text contains this number up to zeros, which a word like "million" may express."""
        return number.significant in self._significant


@lru_cache(maxsize=16)
def find_numbers(text: str, language: str) -> TextNumbers:
    """The numbers of a text in that language."""
    return TextNumbers(text, language)


def _number(surface: str) -> Number:
    plain = surface if surface.isascii() else "".join(str(unicodedata.decimal(sign, sign)) for sign in surface)
    return Number(surface=surface, parts=tuple(_ROW.findall(_INNER_SPACE.sub("", plain))))


def _roman_values(text: str) -> set[int]:
    if text.strip(" .") in _ROMAN_VALUES:  # a heading that is only a number
        return {_roman(text.strip(" ."))}
    if not _ROMAN_LETTERS.search(text):
        return set()
    return {_roman(match.group()) for match in _ROMAN.finditer(text)}


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[sign] for sign in numeral]
    return sum(
        -value if any(later > value for later in values[position + 1 : position + 2]) else value
        for position, value in enumerate(values)
    )


def _han_values(text: str) -> set[int]:
    if text.isascii():
        return set()
    return {_han(match.group()) for match in _HAN.finditer(text)}


def _han(numeral: str) -> int:
    """The value of a Chinese numeral: 三百二十 is 320, 一九八四 is 1984, 三万 is 30,000."""
    if not any(sign in _HAN_UNITS or sign in _HAN_SCALES for sign in numeral):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in numeral[:15]))
    total = section = digit = 0
    for sign in numeral:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[sign]
            digit = 0
        else:
            total = (total + section + digit or 1) * _HAN_SCALES[sign]
            section = digit = 0
    return total + section + digit


# Stems, which match the beginning of inflected forms; a final "$" requires the whole word. The order is 0 to 20, then
# 30, 40 … 90, hundred, thousand. Alternatives are separated by "|".
_WORDS: dict[str, str] = {
    "en": """
        zero one|once|first|single two|twice|second|both|pair|couple|half three|third|thrice|triple
        four|fourth five|fifth six|sixth seven|seventh eight|eighth nine|ninth|nin ten|tenth|decade eleven
        twelve|twelfth|dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twent|score
        thirt forty|forti fift sixt sevent eighty|eighti ninet hundred|centur thousand|millen
        """,
    "de": """
        null ein|erst|eins zwei|zwo|zweit drei|dritt vier fünf sech sieb acht neun zehn elf zwölf|dutzend
        dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig|dreissig vierzig
        fünfzig sechzig siebzig achtzig neunzig hundert tausend
        """,
    "fr": """
        zéro un$|une$|premi deux|second trois quatr cinq six$|sixi sept$|septi huit neuf|neuvi dix$|dixi
        onz douz treiz quatorz quinz seiz dix-sept dix-huit dix-neuf vingt trent quarant cinquant soixant
        soixante-dix quatre-vingt quatre-vingt-dix cent mill
        """,
    "es": """
        cero un$|uno$|una$|primer dos$|segund tres$|tercer cuatro|cuart cinco|quint seis$|sext
        siete|séptim ocho$|octav nueve|noven diez|décim once$ doce trece catorce quince dieciséis
        diecisiete dieciocho diecinueve veint treinta cuarenta cincuenta sesenta setenta ochenta noventa
        cien mil$|miles
        """,
    "it": """
        zero un$|uno$|una$|prim due$|second tre$|terz quattro|quart cinque|quint sei$|sest sette|settim
        otto|ottav nove|non dieci|decim undici dodici tredici quattordici quindici sedici diciassette
        diciotto diciannove vent trent quarant cinquant sessant settant ottant novant cent mill|mila
        """,
    "pt": """
        zero um$|uma$|primeir dois|duas|segund três|terceir quatro|quart cinco|quint seis|sext sete|sétim
        oito|oitav nove|non dez|décim onze doze treze catorze quinze dezesseis|dezasseis
        dezessete|dezassete dezoito dezenove|dezanove vint trinta quarenta cinquenta sessenta setenta
        oitenta noventa cem$|cent mil$
        """,
    "nl": """
        nul een$|één|eerst twee|tweed drie|derd vier vijf zes zeven acht negen tien elf twaalf dertien
        veertien vijftien zestien zeventien achttien negentien twintig dertig veertig vijftig zestig
        zeventig tachtig negentig honderd duizend
        """,
    "ro": """
        zero un$|unu$|una$|o$|prim doi|două|doua trei|treia patru|patra cinci șase|şase|sase
        șapte|şapte|sapte opt nouă|noua zece unsprezece|unspreze doisprezece|douăsprezece|doispreze
        treisprezece paisprezece cincisprezece șaisprezece|şaisprezece șaptesprezece|şaptesprezece
        optsprezece nouăsprezece douăzeci|doua_zeci treizeci patruzeci cincizeci șaizeci|şaizeci
        șaptezeci|şaptezeci optzeci nouăzeci sut|sută mii$|mie$
        """,
    "et": """
        null üks|üht|ühe|esime kaks|kaht|kahe|kahte|teine|teise kolm|kolmanda nelja|neli|neljanda
        viis|viie|viit|viienda kuus|kuue|kuut|kuuenda seits|seitsme kaheksa üheksa kümme$|kümne$|kümnenda
        üksteist|üheteist|üheteistkümne kaksteist|kaheteist kolmteist|kolmeteist neliteist|neljateist
        viisteist|viieteist kuusteist|kuueteist seitseteist|seitsmeteist kaheksateist üheksateist
        kakskümmend|kahekümne kolmkümmend|kolmekümne nelikümmend|neljakümne viiskümmend|viiekümne
        kuuskümmend|kuuekümne seitsekümmend|seitsmekümne kaheksakümmend|kaheksakümne
        üheksakümmend|üheksakümne sada|saja|sada tuhat|tuhande
        """,
    "ru": """
        ноль|нуле один$|одна$|одно|одну$|перв два$|две$|двух|двум|двое|втор три$|трех|трёх|трем|трое|трет
        четыр|четвер|четвёр пять|пяти$|пятер|пятый|пятая|пятого|пятой шест семь|семи$|седьм|семер
        восемь|восьм девять|девяти$|девят десять|десяти$|десят одиннадц двенадц|дюжин тринадц четырнадц
        пятнадц шестнадц семнадц восемнадц девятнадц двадц тридц сорок пятьдес|пятидес шестьдес|шестидес
        семьдес|семидес восемьдес|восьмидес девяност сто$|ста$|сотн|двест тысяч
        """,
}
_VALUES = (*range(21), *range(30, 100, 10), 100, 1000)
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*")
# The same, several times as fast, for Latin and Cyrillic letters without combining marks.
_PLAIN_LETTER = "[a-zªµºß-öø-ɏа-ҁҋ-ԯ]"
_PLAIN_WORD = re.compile(f"{_PLAIN_LETTER}+(?:-{_PLAIN_LETTER}+)*")
_NOT_PLAIN = re.compile("[\u0250-\u03ff\u0482-\u0489\u0530-\u1fff\u2070-\U0010ffff]")
_MAX_KNOWN_WORDS = 50_000
# The longest ending that inflection adds to a stem.
_LONGEST_ENDING = 5


@cache
def _stems(language: str) -> dict[str, int]:
    if language not in _WORDS:
        return {}
    groups = _WORDS[language].split()
    return {stem: value for value, group in zip(_VALUES, groups, strict=True) for stem in group.split("|")}


@cache
def _stem_beginnings(language: str) -> frozenset[str]:
    return frozenset(stem.rstrip("$")[:2] for stem in _stems(language))


@cache
def _large_stems(language: str, above: int) -> tuple[str, ...]:
    """The stems of number words above a value."""
    return tuple(stem.rstrip("$") for stem, value in _stems(language).items() if value > above)


def _begins_word(stem: str, text: str) -> bool:
    """Whether a word of the text begins with the stem, which the text contains."""
    start = text.find(stem)
    while start > 0 and text[start - 1].isalnum():
        start = text.find(stem, start + 1)
    return start >= 0


def _value(word: str, language: str) -> int | None:
    """The value of a number word, by its longest stem."""
    stems = _stems(language)
    # Most words begin like no number word.
    if word[:2] not in _stem_beginnings(language):
        return None
    if f"{word}$" in stems:
        return stems[f"{word}$"]
    for end in range(len(word), max(1, len(word) - _LONGEST_ENDING - 1), -1):
        value = stems.get(word[:end])
        if value is not None:
            return value
    return None


def knows_number_words(language: str) -> bool:
    """Whether number words of the language are recognised."""
    return language in _WORDS or language in ("zh", "ja")


def _word_values(text: str, language: str) -> set[int]:
    """The values of number words, alone and combined: twenty-five gives 20, 5 and 25."""
    if language not in _WORDS:
        return set()
    lowered = text.lower()
    values: set[int] = set()
    run: list[int] = []
    words = (_WORD if _NOT_PLAIN.search(lowered) else _PLAIN_WORD).findall(lowered)
    for found in map(_number_words(language).__getitem__, words):
        if found is None:
            if run:
                values |= _sums(run)
                run = []
            continue
        whole, parts = found
        if whole is not None:
            values.add(whole)
        for value in parts:
            if value is not None:
                run.append(value)
            elif run:
                values |= _sums(run)
                run = []
    return values | _sums(run) if run else values


class _NumberWords(dict[str, tuple[int | None, tuple[int | None, ...]] | None]):
    """For each word of a language the value of the whole word, if it is hyphenated, and those of its parts; or None.

    A dictionary that fills itself, since a call for each word of a text is slow.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> tuple[int | None, tuple[int | None, ...]] | None:
        if len(self) >= _MAX_KNOWN_WORDS:
            self.clear()
        parts = tuple(_value(part, self._language) for part in word.split("-"))
        whole = _value(word, self._language) if len(parts) > 1 else None
        found = None if whole is None and not any(value is not None for value in parts) else (whole, parts)
        self[word] = found
        return found


@cache
def _number_words(language: str) -> _NumberWords:
    return _NumberWords(language)


def _sums(run: list[int]) -> set[int]:
    """The possible values of adjacent number words: each alone, and combined."""
    found = set(run)
    total = section = 0
    for value in run:
        if value == 1000:
            total, section = (total + (section or 1) * 1000), 0
        elif value == 100:
            section = (section or 1) * 100
        else:
            section += value
        found |= {total + section, section}
    return found
