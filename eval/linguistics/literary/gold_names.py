"""The name in a mention of LitBank, which marks whole noun phrases: "Mr. Darcy" of "poor Mr. Darcy , who"."""

from __future__ import annotations

from collections.abc import Sequence

from ape.text.common_words import is_common_word
from eval.linguistics.literary.litbank import Span
from eval.linguistics.literary.name_words import TITLES, is_epithet, is_people, is_title

_INNER = frozenset("of de du von van der la le di da the".split())
_PHRASE_END = frozenset((",", "(", "--", "-", ":", ";", "who", "whom", "whose", "which", "that", "where"))


def name_in(words: Sequence[str], tags: Sequence[str], mention: Span, *, person: bool = False) -> Span | None:
    """The name that is the head of a mention, with its title; None if the head is a common noun or a title alone.

    Of a person, a member of a people or church ("two Indians") is none either.
    """
    start, end = mention
    stop = _phrase_end(words, tags, start, end)
    heads = [place for place in range(start, stop) if tags[place].startswith(("NN", "FW")) or _is_capital(words[place])]
    if not heads or not _is_name_word(words, tags, heads[-1]):
        return None
    first = last = heads[-1]
    while first > start and _is_name_word(words, tags, first - 1):
        first -= 1
    while first < last and is_epithet(words[first]):
        first += 1
    last = _extend(words, tags, last, end) if first == last or is_title(words[first : last + 1]) else last
    if is_title(words[first : last + 1]) or (person and first == last and _is_common(words, first, start)):
        return None
    return first, last + 1


def _phrase_end(words: Sequence[str], tags: Sequence[str], start: int, end: int) -> int:
    """Where the phrase before a preposition, comma, participle or relative clause ends."""
    for place in range(start + 1, end):
        if words[place].lower() in _PHRASE_END or tags[place] in ("IN", "TO"):
            return place
        # "the late revered Doctor Johnson": before the head, a participle is an adjective.
        has_head = any(tags[one].startswith(("NN", "FW", "PRP")) for one in range(start, place))
        if tags[place] in ("VBG", "VBN", "VBD") and has_head:
            return place
    return end


def _is_common(words: Sequence[str], place: int, start: int) -> bool:
    """A member of a people or church, or a common noun with a capital, such as "a Man"."""
    if is_people(words[place]):
        return True
    return place > start and words[start].lower() != "the" and is_common_word(words[place].lower())


def _extend(words: Sequence[str], tags: Sequence[str], last: int, end: int) -> int:
    """Include "of Monte Cristo" after "Count"."""
    place = last + 1
    while place < end and words[place].lower() in _INNER:
        place += 1
    if (place > last + 1 and words[last + 1].lower() not in ("the",)) or place > last + 2:
        while place < end and _is_name_word(words, tags, place):
            last = place
            place += 1
    return last


def _is_capital(word: str) -> bool:
    return word[:1].isupper()


def _is_name_word(words: Sequence[str], tags: Sequence[str], place: int) -> bool:
    word = words[place]
    return _is_capital(word) and (tags[place].startswith(("NNP", "FW")) or word.lower().rstrip(".") in TITLES)
