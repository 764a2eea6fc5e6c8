"""A draft that differs so much from the MT that it is a new translation."""

from __future__ import annotations

from operator import ne

from ape.edits.diff import edit_rate as rate_of
from ape.guards.messages import reject, warn
from ape.guards.text_features import TextFeatures, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.size import text_size

# Edits that do not count towards the cap, since a single repair is a large share of a short passage.
_FREE_EDITS = 6
# With about one punctuation mark to six words, a rate below this share of the cap stays below it even if every mark
# changes.
_CLEARLY = 0.75
_BROKEN = 0.7
_SLACK = 10


def edit_rate(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft whose edit rate exceeds the cap of the language pair."""
    _, mt, new = passage_features(segment, draft)
    if not mt.words:
        return []
    cap = pair_thresholds(segment.source_language, segment.target_language).edit_rate
    if _changed_words(segment, draft, mt, new) < _CLEARLY * cap * len(mt.words):
        return []
    rate = rate_of(segment.mt, draft.text)
    if rate <= cap + _FREE_EDITS / len(mt.words):
        return []
    message = f"The draft changes too much of the MT: {rate:.0%} of its words; at most {cap:.0%} are allowed."
    return [(warn if _mt_is_broken(segment) else reject)("edit_rate", message)]


def _changed_words(segment: Segment, draft: Draft, mt: TextFeatures, new: TextFeatures) -> int:
    """The number of words that differ, case included: much cheaper than the full rate, which counts marks too."""
    changed = 0
    for kind, mt_start, mt_end, start, end in word_steps(segment.mt, draft.text):
        if kind == "equal":
            changed += sum(map(ne, mt.surfaces[mt_start:mt_end], new.surfaces[start:end]))
        else:
            changed += max(mt_end - mt_start, end - start)
    return changed


def _mt_is_broken(segment: Segment) -> bool:
    """Whether the MT is so short or long for its source that it has to be rewritten."""
    limits = pair_thresholds(segment.source_language, segment.target_language)
    share = (text_size(segment.mt) + _SLACK) / (text_size(segment.source) * limits.target_per_source + _SLACK)
    return not _BROKEN < share < 1 / _BROKEN
