"""Sentences of the MT that the draft drops, found by their content."""

from __future__ import annotations

from itertools import accumulate, pairwise

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.size import text_size

# The share of the words of a dropped sentence that the draft may still contain by chance.
_COVERED = 0.4
# A sentence may have been rewritten if its replacement has at least this share of its length.
_MIN_REPLACEMENT = 0.5
# If the number of sentences is unchanged, it was more likely shortened, as proverbs are.
_MIN_SHORTENED = 0.25
_MIN_WORDS = 4
_MIN_CHARACTERS = 8


def sentences_dropped(segment: Segment, draft: Draft) -> list[Finding]:
    """Find sentences of the MT whose words are missing and that nothing of similar length replaces."""
    _, mt, new = passage_features(segment, draft)
    if len(mt.sentences) < 2 or not new.words:
        return []
    path = word_steps(segment.mt, draft.text)
    changed = _changed_before(len(mt.words), path)
    missing = [
        number
        for number, start in enumerate(mt.sentence_starts)
        if _is_changed(start, start + len(mt.sentences[number]), changed) and _coverage(number, mt, new) < _COVERED
    ]
    if not missing:
        return []
    replacement = _replacement_lengths(mt, path)
    shorter = len(mt.words) - len(new.words)
    fewer = len(new.sentences) < len(mt.sentences)
    findings = []
    for number in missing:
        length = len(mt.sentences[number])
        is_replaced = replacement[number] >= (_MIN_REPLACEMENT if fewer else _MIN_SHORTENED) * length
        if is_replaced and not (fewer and shorter >= _MIN_REPLACEMENT * length):
            continue
        text = " ".join(word for _, word in mt.sentences[number])
        message = f"A sentence of the MT is missing from the draft: {quote(text)}."
        short = length < (_MIN_CHARACTERS if mt.unspaced else _MIN_WORDS)
        weak = short or _mt_is_too_long(segment, draft)
        findings.append((warn if weak else reject)("sentences_dropped", message))
    return findings


def _changed_before(words: int, path: tuple[WordStep, ...]) -> list[int]:
    """The number of changed MT words before each position."""
    changed = [0] * words
    for step in path:
        if step.kind != "equal":
            changed[step.mt_start : step.mt_end] = [1] * (step.mt_end - step.mt_start)
    return list(accumulate(changed, initial=0))


def _is_changed(start: int, end: int, changed: list[int]) -> bool:
    """Whether at least half of the MT words between two positions changed."""
    return 2 * (changed[end] - changed[start]) >= end - start


def _coverage(number: int, mt: TextFeatures, new: TextFeatures) -> float:
    """The share of the words unique to this sentence of the MT that the draft contains."""
    units = mt.units[number]
    unique = [unit for unit in units if mt.unit_counts[unit] == 1]
    if not unique:
        return 1.0
    known = new.unit_counts if new.unspaced else new.vocabulary
    return sum(unit in known for unit in unique) / len(unique)


def _replacement_lengths(mt: TextFeatures, path: tuple[WordStep, ...]) -> list[int]:
    """The number of draft words aligned with each sentence of the MT."""
    positions = [0] * (len(mt.words) + 1)
    for _, mt_start, mt_end, start, end in path:
        # One word for each position, and the rest for the last.
        last = max(mt_start, mt_end - 1)
        single = min(end - start, last - mt_start)
        for position in range(mt_start, mt_start + single):
            positions[position] += 1
        positions[last] += end - start - single
    bounds = [*mt.sentence_starts, len(mt.words) + 1]
    return [sum(positions[start:end]) for start, end in pairwise(bounds)]


def _mt_is_too_long(segment: Segment, draft: Draft) -> bool:
    """Whether the MT is too long for its source and the draft is not too short."""
    limits = pair_thresholds(segment.source_language, segment.target_language)
    expected = text_size(segment.source) * limits.target_per_source
    return text_size(segment.mt) > 1.3 * expected and text_size(draft.text) >= 0.85 * expected
