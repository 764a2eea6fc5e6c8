"""Sentences of the MT that the draft drops, by content and not by count."""

from __future__ import annotations

from itertools import accumulate, pairwise

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.size import text_size

# Words of a sentence that come back although it is gone: function words, and what its neighbours share with it.
_COVERED = 0.4
# The draft has room for a sentence rewritten from scratch if so much of its length stands in its place.
_ROOM = 0.5
# As many sentences as before make it likely that one was put more shortly, as proverbs are.
_LITTLE_ROOM = 0.25
_FEWEST_WORDS = 4
_FEWEST_CHARACTERS = 8


def sentences_dropped(segment: Segment, draft: Draft) -> list[Finding]:
    """Sentences whose own words are gone, and in whose place nothing of their length stands."""
    _, mt, new = passage_features(segment, draft)
    if len(mt.sentences) < 2 or not new.words:
        return []
    path = word_steps(segment.mt, draft.text)
    changed = _changed_before(len(mt.words), path)
    gone = [
        number
        for number, start in enumerate(mt.sentence_starts)
        if _is_changed(start, start + len(mt.sentences[number]), changed)
        and _coverage(number, mt, new) < _COVERED
    ]
    if not gone:
        return []
    room = _room(mt, path)
    shorter = len(mt.words) - len(new.words)
    fewer = len(new.sentences) < len(mt.sentences)
    findings = []
    for number in gone:
        length = len(mt.sentences[number])
        has_room = room[number] >= (_ROOM if fewer else _LITTLE_ROOM) * length
        if has_room and not (fewer and shorter >= _ROOM * length):
            continue
        text = " ".join(word for _, word in mt.sentences[number])
        message = f"A sentence of the MT is not in the draft: {quote(text)}."
        short = length < (_FEWEST_CHARACTERS if mt.unspaced else _FEWEST_WORDS)
        weak = short or _mt_says_too_much(segment, draft)
        findings.append((warn if weak else reject)("sentences_dropped", message))
    return findings


def _changed_before(words: int, path: tuple[WordStep, ...]) -> list[int]:
    """How many of the MT's words before each position were taken out or replaced."""
    changed = [0] * words
    for step in path:
        if step.kind != "equal":
            changed[step.mt_start : step.mt_end] = [1] * (step.mt_end - step.mt_start)
    return list(accumulate(changed, initial=0))


def _is_changed(start: int, end: int, changed: list[int]) -> bool:
    """Whether half of the MT's words between two positions, or more, were taken out or replaced."""
    return 2 * (changed[end] - changed[start]) >= end - start


def _coverage(number: int, mt: TextFeatures, new: TextFeatures) -> float:
    """The share of a sentence's own words, those no other sentence of the MT has, that the draft has."""
    units = mt.units[number]
    own = [unit for unit in units if mt.unit_counts[unit] == 1]
    if not own:
        return 1.0
    said = new.unit_counts if new.unspaced else new.vocabulary
    return sum(unit in said for unit in own) / len(own)


def _room(mt: TextFeatures, path: tuple[WordStep, ...]) -> list[int]:
    """How many words of the draft stand in the place of each MT sentence."""
    places = [0] * (len(mt.words) + 1)
    for _, mt_start, mt_end, start, end in path:
        # One to a place, and what is left over to the last.
        last = max(mt_start, mt_end - 1)
        single = min(end - start, last - mt_start)
        for place in range(mt_start, mt_start + single):
            places[place] += 1
        places[last] += end - start - single
    bounds = [*mt.sentence_starts, len(mt.words) + 1]
    return [sum(places[start:end]) for start, end in pairwise(bounds)]


def _mt_says_too_much(segment: Segment, draft: Draft) -> bool:
    """Whether the MT is longer than its source accounts for, and the draft is as long as it should be."""
    limits = pair_thresholds(segment.source_language, segment.target_language)
    expected = text_size(segment.source) * limits.target_per_source
    return text_size(segment.mt) > 1.3 * expected and text_size(draft.text) >= 0.85 * expected
