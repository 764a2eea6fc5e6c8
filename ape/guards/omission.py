"""Words of the MT that the draft leaves out of a sentence it otherwise copies."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from ape.guards.messages import quote, reject
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.lexicon import load_lexicon

# A missing run of at least this many words counts; for scripts without spaces, of this many characters.
_MIN_WORDS = 4
_MIN_CHARACTERS = 8
# The number of its words that the draft must lack. Short words and function words change with the grammar.
_MIN_MISSING = 2
_SHORT_WORD = 3
_GRAMMAR = frozenset("that this these those which with from have been were will would there than then".split())
# New words of this share of the run's length may paraphrase it. Of 5,000 human post-edits of MLQE-PE dev into English,
# 6 leave out a run with less in its place; most of these runs are loops or nonsense.
_REPLACED = 0.5


def omission(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that removes a run of words from a sentence and adds little in its place."""
    _, mt, new = passage_features(segment, draft)
    path = word_steps(segment.mt, draft.text)
    runs = [step for step in path if step.kind == "delete" and _is_long(step, mt)]
    if not runs or len(new.words) >= len(mt.words):
        return []
    grammar = load_lexicon(segment.target_language).grammatical
    added, kept = _words_by_sentence(mt, path)
    findings = []
    for run in runs:
        words = mt.surfaces[run.mt_start : run.mt_end]
        missing = {word.lower() for word in words if _is_missing(word, mt, new)}
        if run.mt_end == len(mt.words):
            missing = set(map(str.lower, words)) - grammar - new.vocabulary
        sentence = _sentence(mt, run.mt_start)
        is_copy = added[sentence] <= _REPLACED * len(words) and kept[sentence] >= _MIN_WORDS
        if len(missing) < _MIN_MISSING or not is_copy:
            continue
        omitted = ("" if mt.unspaced else " ").join(words)
        findings.append(reject("omission", f"The draft omits words of the MT: {quote(omitted)}."))
    return findings


def _is_long(run: WordStep, mt: TextFeatures) -> bool:
    return run.mt_end - run.mt_start >= (_MIN_CHARACTERS if mt.unspaced else _MIN_WORDS)


def _is_missing(word: str, mt: TextFeatures, new: TextFeatures) -> bool:
    lowered = word.lower()
    is_content = mt.unspaced or (len(word) > _SHORT_WORD and lowered not in _GRAMMAR)
    return is_content and lowered not in new.vocabulary


def _words_by_sentence(mt: TextFeatures, path: tuple[WordStep, ...]) -> tuple[Counter[int], Counter[int]]:
    """The number of words added to each sentence of the MT, and of words kept in it."""
    added: Counter[int] = Counter()
    kept: Counter[int] = Counter()
    for step in path:
        if step.kind in ("insert", "replace"):
            added[_sentence(mt, step.mt_start)] += step.end - step.start
        elif step.kind == "equal":
            kept.update(_sentence(mt, position) for position in range(step.mt_start, step.mt_end))
    return added, kept


def _sentence(mt: TextFeatures, position: int) -> int:
    return bisect_right(mt.sentence_starts, position) - 1
