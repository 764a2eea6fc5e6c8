"""Source text in the draft: all of it, or a run of words that the MT had translated."""

from __future__ import annotations

from collections.abc import Iterator

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, passage_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.languages import classify_language

# Four words in a row may be a phrase one leaves as it is; five are a clause.
_RUN = 5
_RUN_IN_UNSPACED = 8
_SHORT_RUN = 4
_CONTENT_WORD = 4


def source_left_in(segment: Segment, draft: Draft) -> list[Finding]:
    """Words of the source, in a row, that are not in the MT."""
    source, mt, new = passage_features(segment, draft)
    if len(new.words) > 1 and new.words == source.words != mt.words:
        # A title or a quotation may have stood in the target language from the start.
        weigh = warn if classify_language(draft.text)[0] == segment.target_language else reject
        return [
            weigh("source_left_in", f"The draft is the source, not its translation: {quote(draft.text)}.")
        ]
    # More than half of a run must be new to the MT, so fewer than three such words make none.
    if len((source.vocabulary & new.vocabulary) - mt.vocabulary) <= _SHORT_RUN / 2:
        return []
    run = max(_untranslated(source, mt, new), key=len, default=[])
    if len(run) < _SHORT_RUN or (source.unspaced and len(run) < _RUN_IN_UNSPACED):
        return []
    weigh = reject if len(run) >= _RUN and not _is_title(run) else warn
    joined = ("" if source.unspaced else " ").join(run)
    return [weigh("source_left_in", f"Words of the source are left in: {quote(joined)}.")]


def _untranslated(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> Iterator[list[str]]:
    """Stretches of the draft that stand so in the source and are, most of their words, not in the MT."""
    grams = source.runs(_SHORT_RUN)
    start = end = 0
    for position in range(len(new.words) - _SHORT_RUN + 1):
        if tuple(new.words[position : position + _SHORT_RUN]) not in grams:
            continue
        if position > end - _SHORT_RUN + 1:
            yield from _fresh(mt, new.surfaces[start:end])
            start = position
        end = position + _SHORT_RUN
    yield from _fresh(mt, new.surfaces[start:end])


def _fresh(mt: TextFeatures, stretch: list[str]) -> Iterator[list[str]]:
    fresh = [word for word in stretch if word.lower() not in mt.vocabulary and not word.isdigit()]
    if len(fresh) > len(stretch) / 2:
        yield stretch


def _is_title(run: list[str]) -> bool:
    """Whether every longer word has a capital: Le Rouge et le Noir is called so in English too."""
    long_words = [word for word in run if len(word) >= _CONTENT_WORD]
    return bool(long_words) and all(word[0].isupper() for word in long_words)
