"""Source text in the draft: all of it, or a run of words that the MT had translated."""

from __future__ import annotations

from collections.abc import Iterator

from ape.guards.reading import Reading, readings
from ape.guards.wording import quoted, reject, warn
from ape.languages import classify
from ape.segment import Draft, Segment
from ape.verdict import Finding

# Four words in a row may be a title left as it was; five are a clause.
_RUN = 5
_RUN_IN_UNSPACED = 8
_SHORT_RUN = 4


def source_left_in(segment: Segment, draft: Draft) -> list[Finding]:
    """Words of the source, in a row, that are not in the MT."""
    source, mt, new = readings(segment, draft)
    if not source.words:
        return []
    if new.words == source.words and mt.words != source.words and len(new.words) > 1:
        # A title or a quotation may have stood in the target language from the start.
        weigh = warn if classify(draft.text)[0] == segment.target_language else reject
        return [weigh("source_left_in", f"The draft is the source, not its translation: {quoted(draft.text)}.")]
    run = _RUN_IN_UNSPACED if source.unspaced else _RUN
    longest = max(_untranslated(source, mt, new), key=len, default=[])
    if len(longest) >= run:
        return [reject("source_left_in", f"Words of the source are left in: {quoted(_joined(longest, source))}.")]
    if len(longest) >= _SHORT_RUN and not source.unspaced:
        return [warn("source_left_in", f"Words of the source may be left in: {quoted(_joined(longest, source))}.")]
    return []


def _untranslated(source: Reading, mt: Reading, new: Reading) -> Iterator[list[str]]:
    """Stretches of the draft that stand so in the source and are, most of their words, not in the MT."""
    grams = source.runs(_SHORT_RUN)
    words = new.words
    start = end = 0
    for position in range(len(words) - _SHORT_RUN + 1):
        if tuple(words[position : position + _SHORT_RUN]) not in grams:
            continue
        if position > end - _SHORT_RUN + 1:
            yield from _new_to(mt, words[start:end])
            start = position
        end = position + _SHORT_RUN
    yield from _new_to(mt, words[start:end])


def _new_to(mt: Reading, stretch: list[str]) -> Iterator[list[str]]:
    fresh = [word for word in stretch if word not in mt.vocabulary and not word.isdigit()]
    if len(fresh) > len(stretch) / 2:
        yield stretch


def _joined(words: list[str], source: Reading) -> str:
    return ("" if source.unspaced else " ").join(words)
