"""A draft that repeats itself."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from operator import eq

import regex

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, passage_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

# A refrain may come a few times; a loop comes more often than the MT and the source have anything, by so many.
_MORE_WORDS = 3
_MORE_PHRASES = 2
_PHRASE = 3
_PHRASE_IN_UNSPACED = 6
_SENTENCE_WORDS = 5
_CHARACTERS = 8
# Five times two letters is the least that this finds, so shorter words need no search.
_SYLLABLES = regex.compile(r"(\S{2,8}?)\1{4,}+")
_SHORTEST_STRETCH = 10
_LONGEST_WORD = 30
_LONGEST_STRETCH = 2_000


def loop(segment: Segment, draft: Draft) -> list[Finding]:
    """A letter, word, phrase or sentence repeated more often than the MT and the source repeat anything."""
    source, mt, new = passage_features(segment, draft)
    return (
        _characters(segment, draft)
        or _words(source, mt, new)
        or _phrases(source, mt, new)
        or _sentences(source, mt, new)
        or _stammer(source, mt, new)
    )


def _characters(segment: Segment, draft: Draft) -> list[Finding]:
    for find in (_same_characters, _same_syllables):
        found = find(draft.text)
        if found and not find(segment.mt) and not find(segment.source):
            return [reject("loop", f"The draft repeats signs without end: {quote(found)}.")]
    return []


def _same_characters(text: str) -> str:
    """The first character repeated on and on; marks may have spaces between them."""
    compact = "".join(text.split())
    return next(
        (
            sign * _CHARACTERS
            for sign in dict.fromkeys(compact)
            if sign * _CHARACTERS in (text if sign.isalnum() else compact)
        ),
        "",
    )


def _same_syllables(text: str) -> str:
    """The first few letters repeated on and on within a stretch without spaces."""
    for stretch in text.split():
        length = len(stretch)
        # What is repeated has few different letters, unless it stands amid others in a script without spaces.
        if length < _SHORTEST_STRETCH or (length < _LONGEST_WORD and 2 * len(set(stretch)) > length):
            continue
        if match := _SYLLABLES.search(stretch[:_LONGEST_STRETCH]):
            return str(match.group())
    return ""


def _words(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    word, often = _longest_run(new)
    if often <= _MORE_WORDS or often < max(_longest_run(mt)[1], _longest_run(source)[1], 1) + _MORE_WORDS:
        return []
    return [reject("loop", f"The draft repeats {quote(word)} {often} times in a row.")]


def _longest_run(text: TextFeatures) -> tuple[str, int]:
    """The word that most often stands in a row, and how often."""
    best, longest, run = "", 1, 1
    if not any(map(eq, text.words, text.words[1:])):
        return best, longest
    for before, after in pairwise(text.words):
        run = run + 1 if before == after else 1
        if run > longest:
            best, longest = after, run
    return best, longest


def _phrases(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    phrase, often = _commonest(new)
    if often <= _MORE_PHRASES:
        return []
    usual = max(_commonest(mt)[1], _commonest(source)[1], 1)
    if often < usual + _MORE_PHRASES:
        return []
    message = f"The draft says {quote(' '.join(phrase))} {often} times; nothing comes so often in the MT."
    # A refrain is spread over a text; a loop makes up a good part of it.
    if often * _PHRASE > 0.15 * len(new.words) or often >= 2 * usual + _MORE_PHRASES:
        return [reject("loop", message)]
    return [warn("loop", message)]


def _commonest(text: TextFeatures) -> tuple[tuple[str, ...], int]:
    often = max(text.phrases.values(), default=0)
    return next((phrase for phrase, count in text.phrases.items() if count == often), ()), often


def _sentences(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    sentence, often = _commonest_sentence(new)
    if often < 2 or often <= max(_commonest_sentence(mt)[1], _commonest_sentence(source)[1]):
        return []
    return [reject("loop", f"The draft says {quote(' '.join(sentence))} {often} times.")]


def _commonest_sentence(text: TextFeatures) -> tuple[tuple[str, ...], int]:
    counts = Counter(
        tuple(word for _, word in sentence) for sentence in text.sentences if len(sentence) >= _SENTENCE_WORDS
    )
    return max(counts.items(), key=lambda item: item[1], default=((), 0))


def _stammer(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    run = _said_twice(new)
    if not run or _said_twice(mt) or _said_twice(source):
        return []
    return [reject("loop", f"The draft says {quote(' '.join(run))} twice, one right after the other.")]


def _said_twice(text: TextFeatures) -> list[str]:
    """The first few words that follow themselves at once."""
    words, seen = text.words, dict[tuple[str, ...], int]()
    if len(text.phrases) >= len(words) - 2:  # none comes twice
        return []
    shortest = _PHRASE_IN_UNSPACED if text.unspaced else _PHRASE
    for place, phrase in enumerate(zip(words, words[1:], words[2:], strict=False)):
        before = seen.get(phrase, place)
        seen[phrase] = place
        length = place - before
        if length >= shortest and words[before:place] == words[place : place + length]:
            return words[before:place]
    return []
