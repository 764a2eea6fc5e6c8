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

# A refrain repeats a few times. A loop exceeds the most frequent repetition of the MT and the source by this much.
_MORE_WORDS = 3
_MORE_PHRASES = 2
_PHRASE = 3
_PHRASE_IN_UNSPACED = 6
_SENTENCE_WORDS = 5
_CHARACTERS = 8
# The shortest match is two letters repeated five times, so shorter words are skipped.
_SYLLABLES = regex.compile(r"(\S{2,8}?)\1{4,}+")
_SHORTEST_STRETCH = 10
_LONGEST_WORD = 30
_LONGEST_STRETCH = 2_000


def loop(segment: Segment, draft: Draft) -> list[Finding]:
    """Find a letter, word, phrase or sentence repeated more often than anything in the MT and the source."""
    source, mt, new = passage_features(segment, draft)
    return (
        _repeated_characters(segment, draft)
        or _repeated_words(source, mt, new)
        or _repeated_phrases(source, mt, new)
        or _repeated_sentences(source, mt, new)
        or _repeated_runs(source, mt, new)
    )


def _repeated_characters(segment: Segment, draft: Draft) -> list[Finding]:
    for find in (_character_run, _syllable_run):
        found = find(draft.text)
        if found and not find(segment.mt) and not find(segment.source):
            return [reject("loop", f"The draft repeats the same characters over and over: {quote(found)}.")]
    return []


def _character_run(text: str) -> str:
    """The first character repeated many times; punctuation marks may be separated by spaces."""
    compact = "".join(text.split())
    # So long a run covers a position that is a multiple of its length.
    if not any(sign * _CHARACTERS in compact for sign in set(compact[::_CHARACTERS])):
        return ""
    return next(
        (
            sign * _CHARACTERS
            for sign in dict.fromkeys(compact)
            if sign * _CHARACTERS in (text if sign.isalnum() else compact)
        ),
        "",
    )


def _syllable_run(text: str) -> str:
    """The first group of letters repeated many times within a stretch without spaces."""
    for stretch in [stretch for stretch in text.split() if len(stretch) >= _SHORTEST_STRETCH]:
        length = len(stretch)
        # Repetition leaves few different letters, unless the stretch holds other words, in a script without spaces.
        if length < _LONGEST_WORD and 2 * len(set(stretch)) > length:
            continue
        if match := _SYLLABLES.search(stretch[:_LONGEST_STRETCH]):
            return str(match.group())
    return ""


def _repeated_words(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    word, count = _longest_run(new)
    if count <= _MORE_WORDS or count < max(_longest_run(mt)[1], _longest_run(source)[1], 1) + _MORE_WORDS:
        return []
    return [reject("loop", f"The draft repeats {quote(word)} {count} times in a row.")]


def _longest_run(text: TextFeatures) -> tuple[str, int]:
    """The word with the longest run of repetitions, and the length of the run."""
    best, longest, run = "", 1, 1
    if not any(map(eq, text.words, text.words[1:])):
        return best, longest
    for before, after in pairwise(text.words):
        run = run + 1 if before == after else 1
        if run > longest:
            best, longest = after, run
    return best, longest


def _repeated_phrases(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    phrase, count = _most_frequent_phrase(new)
    if count <= _MORE_PHRASES:
        return []
    usual = max(_most_frequent_phrase(mt)[1], _most_frequent_phrase(source)[1], 1)
    if count < usual + _MORE_PHRASES:
        return []
    message = f"The draft says {quote(' '.join(phrase))} {count} times; the MT repeats nothing that often."
    # A refrain is spread over a text; a loop makes up a large part of it.
    if count * _PHRASE > 0.15 * len(new.words) or count >= 2 * usual + _MORE_PHRASES:
        return [reject("loop", message)]
    return [warn("loop", message)]


def _most_frequent_phrase(text: TextFeatures) -> tuple[tuple[str, ...], int]:
    phrases = text.phrases
    if len(phrases) == max(0, len(text.words) - _PHRASE + 1):  # no phrase occurs twice
        return next(iter(phrases), ()), min(1, len(phrases))
    most = max(phrases.values(), default=0)
    return next((phrase for phrase, count in phrases.items() if count == most), ()), most


def _repeated_sentences(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    if _most_frequent_phrase(new)[1] < 2:
        return []
    sentence, count = _most_frequent_sentence(new)
    if count < 2 or count <= max(_most_frequent_sentence(mt)[1], _most_frequent_sentence(source)[1]):
        return []
    return [reject("loop", f"The draft says {quote(' '.join(sentence))} {count} times.")]


def _most_frequent_sentence(text: TextFeatures) -> tuple[tuple[str, ...], int]:
    bounds = pairwise([*text.sentence_starts, len(text.words)])
    counts = Counter([tuple(text.surfaces[start:end]) for start, end in bounds if end - start >= _SENTENCE_WORDS])
    return max(counts.items(), key=lambda item: item[1], default=((), 0))


def _repeated_runs(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> list[Finding]:
    run = _immediate_repetition(new)
    if not run or _immediate_repetition(mt) or _immediate_repetition(source):
        return []
    return [reject("loop", f"The draft says {quote(' '.join(run))} twice in a row.")]


def _immediate_repetition(text: TextFeatures) -> list[str]:
    """The first run of words that is immediately repeated."""
    words, seen = text.words, dict[tuple[str, ...], int]()
    if len(text.phrases) >= len(words) - 2:  # no phrase occurs twice
        return []
    shortest = _PHRASE_IN_UNSPACED if text.unspaced else _PHRASE
    for position, phrase in enumerate(zip(words, words[1:], words[2:], strict=False)):
        before = seen.get(phrase, position)
        seen[phrase] = position
        length = position - before
        if length >= shortest and words[before:position] == words[position : position + length]:
            return words[before:position]
    return []
