"""Words of the source that may be names, and where they occur: by jieba's tags, capitals, katakana and honorifics."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import regex

from ape.text.lexicon import load_lexicon
from ape.text.romanisation import letters_of, syllables
from ape.text.sentences import split_sentences

SUPPORTED = ("zh", "fr", "de", "ru", "ja", "es", "it", "pt")
MIN_COUNT = 2
_HAN = regex.compile(r"\p{Han}+")
# Also Thunder-ten-tronckh: a name of three parts may have small ones.
_CAPITALISED = regex.compile(r"\p{Lu}[\p{L}\p{M}]*(?:(?:[-'’]\p{Lu}[\p{L}\p{M}]+)+|(?:-[\p{L}\p{M}]{2,}){2,})?")
_SPACED_WORD = regex.compile(r"[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*")
_KATAKANA = regex.compile(r"[\p{Katakana}ー]{2,}(?:[・·][\p{Katakana}ー]{2,})*")
_HONOURED = regex.compile(r"(\p{Han}{1,4}|\p{Hiragana}{2,4})(?:さん|君|くん|様|さま|ちゃん|先生|殿)")
_ZH_NICKNAME = regex.compile(r"[老小阿]\p{Han}")
# Characters that continue a sentence, not a name.
_ZH_GRAMMAR = frozenset(
    "的了是在不就也都着过地得吗呢吧啊这那有把被给对从到上下里中一个和与说道看着听想走来去又还却便才已将向为而且但很没会能可"
    "要让他她它我你您们之其所以自己笑心手头眼身脸点问答叫站坐起出进回只很太更最正再并或跟同比后前内外时见知等因如果虽然于此"
)
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_NAME_SUFFIXES = frozenset("镇城村山河江湖海岛国省市县州宫殿门派宗谷峰渡桥寺庙阁楼院府")


def count_candidates(sources: Iterable[str], language: str) -> Counter[str]:
    """How often each possible name occurs; those that occur once are left out."""
    counts: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    find = {"zh": _chinese, "ja": _japanese}.get(language)
    for source in sources:
        if find is not None:
            counts.update(find(source))
        else:
            counts.update(_capitalised(source))
            lower.update(word for word in _SPACED_WORD.findall(source) if word[0].islower())
    if find is None:
        # A word that is mostly written small is no name: Monsieur.
        counts = Counter({word: n for word, n in counts.items() if lower[word.lower()] * 4 <= n})
    return Counter({form: n for form, n in counts.items() if n >= MIN_COUNT})


def extend_forms(forms: Counter[str], texts: Iterable[tuple[str, str]]) -> Counter[str]:
    """Chinese forms, those lengthened that always continue alike: 宋扶 is always followed by 黎.

    `texts` are sources with their MT. Two occurrences are enough if the MT has the reading of the longer form, and no
    other form begins it.
    """
    following: dict[str, Counter[str]] = {form: Counter() for form in forms}
    seen: Counter[str] = Counter()
    read: Counter[str] = Counter()
    starts = _by_first(forms)
    for source, mt in texts:
        letters = letters_of(mt)
        for start, form in _hits(source, starts):
            seen[form] += 1
            after = source[start + len(form) : start + len(form) + 1]
            following[form][after] += 1
            read[form + after] += "".join(syllables(form + after, "zh")) in letters
    extended: Counter[str] = Counter()
    for form in forms:
        after, share = max(following[form].items(), key=lambda item: item[1], default=("", 0))
        is_whole = read[form + after] and not any(form[:end] in forms for end in range(2, len(form)))
        least = max(2 if is_whole else 3, 0.8 * seen[form])
        is_part = _HAN.fullmatch(after) is not None and after not in _ZH_GRAMMAR and share >= least
        extended[form + after if is_part and len(form) < 4 else form] += seen[form]
    return extended


def names_in(source: str, language: str) -> set[str]:
    """The words of one text that are written or tagged as names, whether or not they occur again."""
    if language == "zh":
        return {word for word, flag in tagged_words(source) if flag.startswith(_NAME_TAGS)}
    return set(_japanese(source) if language == "ja" else _capitalised(source))


def people_in(source: str) -> set[str]:
    """The words of a Chinese text that are tagged as names of people."""
    return {word for word, flag in tagged_words(source) if flag.startswith("nr")}


def _by_first(forms: Iterable[str]) -> dict[str, list[str]]:
    starts: dict[str, list[str]] = {}
    for form in sorted(forms, key=len, reverse=True):
        starts.setdefault(form[0], []).append(form)
    return starts


def _hits(source: str, starts: dict[str, list[str]]) -> Iterator[tuple[int, str]]:
    place = 0
    while place < len(source):
        form = next((one for one in starts.get(source[place], ()) if source.startswith(one, place)), "")
        if form:
            yield place, form
        place += len(form) or 1


@lru_cache(maxsize=4096)
def tagged_words(source: str) -> tuple[tuple[str, str], ...]:
    """The words of a Chinese text with jieba's tags; kept, as a ledger and metrics read the same sources."""
    return tuple((pair.word, pair.flag) for pair in chinese_tagger().cut(source))


def _chinese(source: str) -> Iterator[str]:
    pieces = tagged_words(source)
    for place, (word, flag) in enumerate(pieces):
        if not _HAN.fullmatch(word) or len(word) > 6:
            continue
        named = flag.startswith(_NAME_TAGS)
        unknown = len(word) > 1 and not is_chinese_word(word)
        if len(word) > 1 and (named or unknown):
            yield word
        after = pieces[place + 1][0] if place + 1 < len(pieces) else ""
        # jieba cuts after the family name: 林 | 盛, 慕言 | 君; and before the kind of place: 青萝 | 渡.
        if (named or (len(word) == 1 and word in _FAMILY_NAMES)) and len(after) in (1, 2) and _HAN.fullmatch(after):
            if len(word + after) <= 4 and not set(after) & _ZH_GRAMMAR:
                yield word + after
        elif len(word) > 1 and after in _NAME_SUFFIXES:
            yield word + after
        if len(word) == 2 and _ZH_NICKNAME.fullmatch(word) and word[1] in _FAMILY_NAMES:
            yield word
        if word in ("老", "小", "阿") and len(after) == 1 and after in _FAMILY_NAMES:
            yield word + after


def _japanese(source: str) -> Iterator[str]:
    yield from _KATAKANA.findall(source)
    yield from _HONOURED.findall(source)


def _capitalised(source: str) -> Iterator[str]:
    """Capitalised words that do not begin a sentence; and those that do, if they are no grammatical words."""
    for sentence in split_sentences(source):
        words = [match for match in _CAPITALISED.finditer(sentence) if len(match.group()) > 2]
        yield from (match.group() for match in words if match.group().lower() not in _ORDINARY_CAPITALS)


_ORDINARY_CAPITALS = frozenset(
    "monsieur madame mademoiselle maître mme mlle herr frau fräulein señor señora signor signora senhor dieu gott dios "
    "господин госпожа".split()
) | frozenset().union(*(load_lexicon(code).grammatical for code in ("fr", "de", "es", "it", "pt", "ru")))
_FAMILY_NAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石"
    "姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文葛慕裴苗楚洛云风君花墨凌司南北东西安宁温莫尤柳"
)


@lru_cache(maxsize=1)
def chinese_tagger() -> Any:
    """jieba's tagger, with a dictionary of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        import jieba.posseg

        jieba.setLogLevel(logging.WARNING)
        tokenizer = jieba.Tokenizer()
        tokenizer.initialize()
    return jieba.posseg.POSTokenizer(tokenizer)


def is_chinese_word(word: str) -> bool:
    """Whether jieba's dictionary has the word."""
    return bool(chinese_tagger().tokenizer.FREQ.get(word))
