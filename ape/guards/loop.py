"""A draft that says the same thing again and again."""

from __future__ import annotations

from collections import Counter

import regex

from ape.guards.reading import Reading, longest_repeat, readings
from ape.guards.wording import quoted, reject, warn
from ape.segment import Draft, Segment
from ape.verdict import Finding

_CHARACTERS = regex.compile(r"(\S)\1{7,}+|([^\w\s])(?:\s?\2){7,}+")
_SYLLABLES = regex.compile(r"(\S{2,8}?)\1{4,}+")
_PHRASE = 3
# A refrain may come a few times; a loop comes more often than the MT and the source have it, by this many.
_MORE_WORDS = 3
_MORE_PHRASES = 2
_SENTENCE_WORDS = 5


def loop(segment: Segment, draft: Draft) -> list[Finding]:
    """A letter, word, phrase or sentence repeated more often than the MT and the source repeat anything."""
    source, mt, new = readings(segment, draft)
    return (
        _characters(segment, draft)
        or _words(source, mt, new)
        or _phrases(source, mt, new)
        or _sentences(source, mt, new)
    )


def _characters(segment: Segment, draft: Draft) -> list[Finding]:
    for pattern in (_CHARACTERS, _SYLLABLES):
        match = pattern.search(draft.text)
        if match and not pattern.search(segment.mt) and not pattern.search(segment.source):
            return [reject("loop", f"The draft repeats letters without end: {quoted(match.group())}.")]
    return []


def _words(source: Reading, mt: Reading, new: Reading) -> list[Finding]:
    usual = max(longest_repeat(mt.words), longest_repeat(source.words), 1)
    repeated = longest_repeat(new.words)
    if repeated < usual + _MORE_WORDS:
        return []
    word = next(
        word
        for start, word in enumerate(new.words)
        if new.words[start : start + repeated] == [word] * repeated
    )
    return [reject("loop", f"The draft repeats {quoted(word)} {repeated} times in a row.")]


def _phrases(source: Reading, mt: Reading, new: Reading) -> list[Finding]:
    counts = _phrase_counts(new)
    if not counts:
        return []
    phrase, often = counts.most_common(1)[0]
    usual = max(*(max(_phrase_counts(text).values(), default=0) for text in (mt, source)), 1)
    if often < usual + _MORE_PHRASES:
        return []
    # The words of a refrain come back spread over the text; those of a loop make up the most of its end.
    message = f"The draft repeats {quoted(' '.join(phrase))} {often} times, where the MT and the source have it at most {usual}."
    if often * _PHRASE > 0.15 * len(new.words) or often >= 2 * usual + _MORE_PHRASES:
        return [reject("loop", message)]
    return [warn("loop", message)]


def _phrase_counts(text: Reading) -> Counter[tuple[str, ...]]:
    words = text.words
    return Counter(zip(*(words[start:] for start in range(_PHRASE)), strict=False))


def _sentences(source: Reading, mt: Reading, new: Reading) -> list[Finding]:
    counts = _sentence_counts(new)
    usual = max(*(max(_sentence_counts(text).values(), default=0) for text in (mt, source)), 1)
    for sentence, often in counts.items():
        if often > usual:
            return [reject("loop", f"The draft says {quoted(' '.join(sentence))} {often} times.")]
    return []


def _sentence_counts(text: Reading) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(word.text for word in sentence) for sentence in text.sentences if len(sentence) >= _SENTENCE_WORDS
    )
