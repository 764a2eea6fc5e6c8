"""Words of the MT that the draft leaves out of a sentence it otherwise copies."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from ape.guards.messages import quote, reject
from ape.guards.text_features import TextFeatures, WordStep, passage_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.lexicon import load_lexicon

# A run this long that is gone says something; the same for characters of a script without spaces.
_FEWEST_WORDS = 4
_FEWEST_CHARACTERS = 8
# So many of its words are nowhere else in the draft. Short words, and these, come and go with the grammar.
_FEWEST_GONE = 2
_SHORT_WORD = 3
_GRAMMAR = frozenset(
    "that this these those which with from have been were will would there than then".split()
)
# New words for so much of the run's length may be saying it in another way. Of 5,000 human post-edits of MLQE-PE dev
# into English, 6 leave out a run with less than that in its place, most of them a loop or nonsense of the MT.
_REPLACED = 0.5


def omission(segment: Segment, draft: Draft) -> list[Finding]:
    """A run of words taken out of a sentence, with nothing to speak of put in."""
    _, mt, new = passage_features(segment, draft)
    path = word_steps(segment.mt, draft.text)
    runs = [step for step in path if step.kind == "delete" and _is_long(step, mt)]
    if not runs or len(new.words) >= len(mt.words):
        return []
    grammar = load_lexicon(segment.target_language).grammatical
    put_in, kept = _words_by_sentence(mt, path)
    findings = []
    for run in runs:
        words = mt.surfaces[run.mt_start : run.mt_end]
        gone = {word.lower() for word in words if _is_gone(word, mt, new)}
        if run.mt_end == len(mt.words):
            gone = set(map(str.lower, words)) - grammar - new.vocabulary
        sentence = _sentence(mt, run.mt_start)
        is_copy = put_in[sentence] <= _REPLACED * len(words) and kept[sentence] >= _FEWEST_WORDS
        if len(gone) < _FEWEST_GONE or not is_copy:
            continue
        left_out = ("" if mt.unspaced else " ").join(words)
        findings.append(reject("omission", f"The draft leaves out words of the MT: {quote(left_out)}."))
    return findings


def _is_long(run: WordStep, mt: TextFeatures) -> bool:
    return run.mt_end - run.mt_start >= (_FEWEST_CHARACTERS if mt.unspaced else _FEWEST_WORDS)


def _is_gone(word: str, mt: TextFeatures, new: TextFeatures) -> bool:
    lowered = word.lower()
    says_something = mt.unspaced or (len(word) > _SHORT_WORD and lowered not in _GRAMMAR)
    return says_something and lowered not in new.vocabulary


def _words_by_sentence(mt: TextFeatures, path: tuple[WordStep, ...]) -> tuple[Counter[int], Counter[int]]:
    """How many new words each sentence of the MT got, and how many it kept."""
    put_in: Counter[int] = Counter()
    kept: Counter[int] = Counter()
    for step in path:
        if step.kind in ("insert", "replace"):
            put_in[_sentence(mt, step.mt_start)] += step.end - step.start
        elif step.kind == "equal":
            kept.update(_sentence(mt, place) for place in range(step.mt_start, step.mt_end))
    return put_in, kept


def _sentence(mt: TextFeatures, place: int) -> int:
    return bisect_right(mt.sentence_starts, place) - 1
