"""Words that a draft adds to a passage whose MT already says all that the source does."""

from __future__ import annotations

from itertools import groupby

from ape.guards.messages import quote, reject
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.lexicon import load_lexicon
from ape.text.size import text_size

# So many words more than stood in their place are a clause; the same for characters of a script without spaces.
_FEWEST_WORDS = 5
_FEWEST_CHARACTERS = 10
# So many of them, but for grammar, are nowhere in the MT; fewer may be a phrase spelled out, unless the addition is
# twice as long: a sentence made of the passage's own words.
_FEWEST_NEW = 2
_SHORT_WORD = 3
# A draft no longer than this over the MT has moved words about.
_LONGER = 2
# An MT below this share of the size that the source leads one to expect may have left the clause out.
_COMPLETE = 0.9
# Where more of the passage is rewritten, words stand beside others by chance. A clause put into a few words is a large
# share of them; there the rest must be a copy, but for less than this.
_REWRITTEN = 0.4
_COPY = 0.2


def addition(segment: Segment, draft: Draft) -> list[Finding]:
    """A clause put into a passage that is otherwise a copy, where nothing was missing."""
    _, mt, new = passage_features(segment, draft)
    longer = len(new.words) - len(mt.words)
    if longer <= _LONGER or not _is_complete(segment):
        return []
    spans = _edited(word_steps(segment.mt, draft.text))
    changed = sum(_width(span) for span in spans)
    fewest = _FEWEST_CHARACTERS if new.unspaced else _FEWEST_WORDS
    findings = []
    for span in spans:
        is_copy = changed < _REWRITTEN * len(mt.words) or (
            longer >= fewest and changed - _gain(span) < _COPY * len(mt.words)
        )
        words = new.surfaces[span.start : span.end]
        more = _gain(span) >= 2 * fewest or _says_more(words, mt, segment.target_language)
        if is_copy and _gain(span) >= fewest and more:
            text = ("" if new.unspaced else " ").join(words)
            findings.append(
                reject("addition", f"The draft adds words that the MT does not have: {quote(text)}.")
            )
    return findings


def _edited(path: tuple[WordStep, ...]) -> list[WordStep]:
    """The stretches between words kept, each as one step."""
    groups = [list(group) for equal, group in groupby(path, lambda step: step.kind == "equal") if not equal]
    return [
        WordStep("replace", group[0].mt_start, group[-1].mt_end, group[0].start, group[-1].end)
        for group in groups
    ]


def _gain(span: WordStep) -> int:
    return (span.end - span.start) - (span.mt_end - span.mt_start)


def _width(span: WordStep) -> int:
    return max(span.mt_end - span.mt_start, span.end - span.start)


def _is_complete(segment: Segment) -> bool:
    """Whether the MT is about as long as its source leads one to expect."""
    limits = pair_thresholds(segment.source_language, segment.target_language)
    return text_size(segment.mt) >= _COMPLETE * limits.target_per_source * text_size(segment.source)


def _says_more(words: list[str], mt: TextFeatures, language: str) -> bool:
    grammar = load_lexicon(language).grammatical
    fresh = {
        word
        for word in map(str.lower, words)
        if word not in mt.vocabulary and word not in grammar and (mt.unspaced or len(word) > _SHORT_WORD)
    }
    return len(fresh) >= _FEWEST_NEW
