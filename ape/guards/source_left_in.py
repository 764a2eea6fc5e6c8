"""Untranslated source text in the draft that the MT had translated."""

from __future__ import annotations

from collections.abc import Iterator

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, passage_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.languages import classify_language

# Four words may be a phrase that is left untranslated on purpose; five are a clause.
_RUN = 5
_RUN_IN_UNSPACED = 8
_SHORT_RUN = 4
_CONTENT_WORD = 4


def source_left_in(segment: Segment, draft: Draft) -> list[Finding]:
    """Find a draft that equals the source, or a run of source words that is not in the MT."""
    source, mt, new = passage_features(segment, draft)
    if len(new.words) > 1 and new.words == source.words != mt.words:
        # A title or quotation may be in the target language already.
        report = warn if classify_language(draft.text)[0] == segment.target_language else reject
        return [report("source_left_in", f"The draft is the untranslated source: {quote(draft.text)}.")]
    # More than half of a run must be new to the MT, which takes at least three such words.
    if len((source.vocabulary & new.vocabulary) - mt.vocabulary) <= _SHORT_RUN / 2:
        return []
    run = max(_untranslated(source, mt, new), key=len, default=[])
    if len(run) < _SHORT_RUN or (source.unspaced and len(run) < _RUN_IN_UNSPACED):
        return []
    report = reject if len(run) >= _RUN and not _is_title(run) else warn
    joined = ("" if source.unspaced else " ").join(run)
    return [report("source_left_in", f"The draft leaves words of the source untranslated: {quote(joined)}.")]


def _untranslated(source: TextFeatures, mt: TextFeatures, new: TextFeatures) -> Iterator[list[str]]:
    """Runs of words that draft and source share and that are mostly not in the MT."""
    grams = source.runs(_SHORT_RUN)
    start = end = 0
    for position in range(len(new.words) - _SHORT_RUN + 1):
        if tuple(new.words[position : position + _SHORT_RUN]) not in grams:
            continue
        if position > end - _SHORT_RUN + 1:
            yield from _if_new(mt, new.surfaces[start:end])
            start = position
        end = position + _SHORT_RUN
    yield from _if_new(mt, new.surfaces[start:end])


def _if_new(mt: TextFeatures, run: list[str]) -> Iterator[list[str]]:
    new_words = [word for word in run if word.lower() not in mt.vocabulary and not word.isdigit()]
    if len(new_words) > len(run) / 2:
        yield run


def _is_title(run: list[str]) -> bool:
    """Whether every longer word has a capital: titles such as Le Rouge et le Noir stay."""
    long_words = [word for word in run if len(word) >= _CONTENT_WORD]
    return bool(long_words) and all(word[0].isupper() for word in long_words)
