"""BlonDe on 2,600 sentences: ours against a plain loop over lines, with the same annotations and the same score.

The texts are machine translations and post-edits of MLQE-PE if the shared data is available (APE_DATA), otherwise
synthetic. Annotation takes most of the total time; it is excluded on both sides and reported separately. Both sides are
measured in processor time, which other load on the machine hardly affects.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import mlqe_path, mlqe_rows
from eval.linguistics.annotators import Annotation, annotator_for
from eval.metrics.blonde import folds
from eval.metrics.blonde.categories import ENTITY_OF, MARKER_OF, N_GRAM_ORDERS, PRONOUN_OF, TENSE_OF
from eval.metrics.blonde.counts import count_types
from eval.metrics.blonde.metric import Blonde

ROUNDS = 9
SENTENCES = 2600
_PAIR = "et-en"


def measure() -> list[Claim]:
    """Time both sides, require the same score, and compute the share of the total time."""
    outputs, references, what = _texts()
    annotator = annotator_for("en")
    annotator.annotate(outputs[:1])  # warm up: load the lexicon
    began = time.process_time()
    output, reference = annotator.annotate(outputs), annotator.annotate(references)
    annotating = time.process_time() - began
    scores: dict[str, float] = {}

    def plain() -> float:
        began = time.process_time()
        scores["plain"] = plain_blonde(output, reference)
        return time.process_time() - began

    def ours() -> float:
        began = time.process_time()
        scores["ours"] = our_blonde(output, reference)
        return time.process_time() - began

    ours()  # warm up: the first allocation of memory is slow
    measured = measure_alternately(plain, ours, rounds=ROUNDS)
    if not math.isclose(scores["plain"], scores["ours"], rel_tol=1e-9):
        raise AssertionError(f"the two scores differ: {scores}")
    counting = sorted(late for _, late in measured)[ROUNDS // 2]
    share = counting / (annotating + counting)
    setting = f"BlonDe: {what}, {annotator.name}"
    note = f"the same score, {scores['ours']:.4f}; {1000 * counting:.0f} ms for {len(output):,} sentences"
    whole = f"{1000 * annotating:.0f} ms of annotation before it, which a cache keeps"
    return [
        Claim("a plain loop / our BlonDe", ratios_by_round(measured), 5.0, "at least", note, setting),
        Claim("our BlonDe / the whole", (share,), note=whole, setting=setting),
    ]


def our_blonde(output: Sequence[Annotation], reference: Sequence[Annotation]) -> float:
    """The score of all lines by our metric."""
    rows = count_types(output, [reference]).rows()
    return float(folds.f1_fold(Blonde.keys, folds.PUBLISHED_WEIGHTS)(rows.sum(axis=0)))


# --- the plain loop --------------------------------------------------------------------------------------------------

_MARKERS = {" ".join(marker): kind for marker, kind in MARKER_OF.items()}
_LONGEST = max(map(len, MARKER_OF))
_PRONOUN_WEIGHTS = folds.PUBLISHED_WEIGHTS.pronoun
_ENTITY_WEIGHTS = folds.PUBLISHED_WEIGHTS.entity


def plain_blonde(output: Sequence[Annotation], reference: Sequence[Annotation]) -> float:
    """BlonDe with a Counter for each line and key; markers are looked up by length, which is fast for a loop."""
    keys: list[str | int] = ["tense", "pronoun", "entity", "dm", *N_GRAM_ORDERS]
    match, in_reference, in_output = (dict.fromkeys(keys, 0.0) for _ in range(3))
    for one, other in zip(output, reference, strict=True):
        here, there = counters(one), counters(other)
        for key in keys:
            for item, (number, weight) in there[key].items():
                match[key] += weight * min(number, here[key].get(item, (0, 0))[0])
                in_reference[key] += weight * number
            in_output[key] += sum(weight * number for number, weight in here[key].values())
    recall, precision = _mean(match, in_reference), _mean(match, in_output)
    return 2 * recall * precision / (recall + precision)


def counters(line: Annotation) -> dict[str | int, dict[object, tuple[int, float]]]:
    """Count and weight of each item in a line, by key."""
    words = [token.text for token in line.tokens]
    small = [word.lower() for word in words]
    tenses = Counter(token.tag for token in line.tokens if token.tag in TENSE_OF)
    pronouns = Counter(PRONOUN_OF[word] for word in small if word in PRONOUN_OF)
    names = Counter((ENTITY_OF[one.label], one.text) for one in line.entities if one.label in ENTITY_OF)
    markers = Counter(
        _MARKERS[phrase]
        for length in range(1, _LONGEST + 1)
        for phrase in _phrases(small, length)
        if phrase in _MARKERS
    )
    found: dict[str | int, dict[object, tuple[int, float]]] = {
        "tense": {tag: (number, 1 / 7) for tag, number in tenses.items()},
        "pronoun": {kind: (number, _PRONOUN_WEIGHTS[kind]) for kind, number in pronouns.items()},
        "entity": {name: (number, _ENTITY_WEIGHTS[name[0]]) for name, number in names.items()},
        "dm": {kind: (number, 0.2) for kind, number in markers.items()},
    }
    for order in N_GRAM_ORDERS:
        found[order] = {gram: (number, 1.0) for gram, number in Counter(_phrases(words, order)).items()}
    return found


def _phrases(words: Sequence[str], length: int) -> Iterable[str]:
    return (" ".join(words[start : start + length]) for start in range(len(words) - length + 1))


def _mean(match: dict[str | int, float], total: dict[str | int, float]) -> float:
    logs = []
    smooth = 1.0
    for key, number in total.items():
        if number:
            rate = match[key] / number
            if not rate and isinstance(key, int):
                smooth *= 2
                rate = 1 / (smooth * number)
            logs.append(math.log(max(rate, folds.SMOOTHING_FLOOR)))
    return math.exp(sum(logs) / len(logs))


# --- texts -----------------------------------------------------------------------------------------------------------


def _texts() -> tuple[list[str], list[str], str]:
    data = find_data_folder()
    if not mlqe_path(data, _PAIR, "train").is_file():
        outputs, references = _synthetic_texts()
        return outputs, references, "made-up texts, as the shared data is not available"
    rows = mlqe_rows(data, _PAIR, "train")[:SENTENCES]
    return [row["mt"] for row in rows], [row["post_edit"] for row in rows], f"MLQE-PE {_PAIR}"


def _synthetic_texts() -> tuple[list[str], list[str]]:
    """Zipf-distributed words of an invented vocabulary that contains everything BlonDe counts."""
    chance = random.Random(0)
    counted = [*PRONOUN_OF, *(word for marker in MARKER_OF for word in marker), "Anna", "walked", "sings", "may"]
    vocabulary = counted + [f"word{number}" for number in range(8000)]
    places = np.random.default_rng(0).zipf(1.3, SENTENCES * 22) % len(vocabulary)
    references = [
        " ".join(vocabulary[place] for place in places[start : start + 22]) for start in range(0, len(places), 22)
    ]
    outputs = [
        " ".join(word if chance.random() < 0.7 else chance.choice(vocabulary) for word in text.split())
        for text in references
    ]
    return outputs, references
