"""Words that a draft adds to a passage whose MT is already complete."""

from __future__ import annotations

from itertools import groupby

from ape.guards.messages import quote, reject
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.lexicon import load_lexicon
from ape.text.size import text_size

# A net gain of this many words is a clause; for scripts without spaces, of this many characters.
_FEWEST_WORDS = 5
_FEWEST_CHARACTERS = 10
# The number of added content words that the MT must lack. Fewer may be a phrase spelled out, unless the addition is
# twice as long: a sentence made of words of the passage.
_FEWEST_NEW = 2
_SHORT_WORD = 3
# A draft with at most this many more words than the MT has only moved words.
_LONGER = 2
# An MT below this share of the size expected for its source may lack the clause.
_COMPLETE = 0.9
# If a larger share of the passage is rewritten, its alignment is unreliable. In a short passage an added clause alone
# is a large share; there the rest may differ by less than `_COPY`.
_REWRITTEN = 0.4
_COPY = 0.2


def addition(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a clause added to a draft that otherwise copies a complete MT."""
    _, mt, new = passage_features(segment, draft)
    longer = len(new.words) - len(mt.words)
    if longer <= _LONGER or not _is_complete(segment):
        return []
    spans = _changed_spans(word_steps(segment.mt, draft.text))
    changed = sum(_width(span) for span in spans)
    fewest = _FEWEST_CHARACTERS if new.unspaced else _FEWEST_WORDS
    findings = []
    for span in spans:
        is_copy = changed < _REWRITTEN * len(mt.words) or (
            longer >= fewest and changed - _gain(span) < _COPY * len(mt.words)
        )
        words = new.surfaces[span.start : span.end]
        adds_content = _gain(span) >= 2 * fewest or _adds_content(words, mt, segment.target_language)
        if is_copy and _gain(span) >= fewest and adds_content:
            text = ("" if new.unspaced else " ").join(words)
            findings.append(reject("addition", f"The draft adds words that are not in the MT: {quote(text)}."))
    return findings


def _changed_spans(path: tuple[WordStep, ...]) -> list[WordStep]:
    """The spans between unchanged words, each as one step."""
    groups = [list(group) for equal, group in groupby(path, lambda step: step.kind == "equal") if not equal]
    return [WordStep("replace", group[0].mt_start, group[-1].mt_end, group[0].start, group[-1].end) for group in groups]


def _gain(span: WordStep) -> int:
    return (span.end - span.start) - (span.mt_end - span.mt_start)


def _width(span: WordStep) -> int:
    return max(span.mt_end - span.mt_start, span.end - span.start)


def _is_complete(segment: Segment) -> bool:
    """Whether the MT is about as long as expected for its source."""
    limits = pair_thresholds(segment.source_language, segment.target_language)
    return text_size(segment.mt) >= _COMPLETE * limits.target_per_source * text_size(segment.source)


def _adds_content(words: list[str], mt: TextFeatures, language: str) -> bool:
    grammar = load_lexicon(language).grammatical
    new_words = {
        word
        for word in map(str.lower, words)
        if word not in mt.vocabulary and word not in grammar and (mt.unspaced or len(word) > _SHORT_WORD)
    }
    return len(new_words) >= _FEWEST_NEW
