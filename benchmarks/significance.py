"""A thousand bootstrap resamples of BLEU for two systems: ours against sacrebleu's own, on the same statistics.

Both are given the counted n-grams and make the same: an interval of each system, and the p-value of their difference.
The texts are post-edits of MLQE-PE where the shared data is here (APE_DATA), else made up. It is processor time that
counts, all threads together: a busy neighbour takes none of it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import mlqe_path, mlqe_rows
from eval.corpus.corpus import Corpus, Document
from eval.metrics.sacrebleu import Bleu
from eval.statistics.counts import MetricCounts
from eval.statistics.multiple_comparisons import compare_with_baseline
from eval.statistics.paired_tests import PairedComparison

ROUNDS = 5
SAMPLES = 1000
_WORDS = "the a old young captain sailor harbour letter wrote read found lost at in on night and".split()


def measure() -> list[Claim]:
    """Both sides in turn, and whether their p-values agree."""
    references, baseline, other, what = _texts()
    first, second = (_counted(references, texts) for texts in (baseline, other))
    theirs = _sacrebleu(references, baseline, other)
    p_values: dict[str, float] = {}

    def plain() -> float:
        began = time.process_time()
        p_values["sacrebleu"] = theirs()
        return time.process_time() - began

    def ours() -> float:
        began = time.process_time()
        found = compare_with_baseline(
            {"baseline": first, "other": second},
            baseline="baseline",
            higher_is_better=True,
            by="segment",
            samples=SAMPLES,
        )["other"].comparison
        seconds = time.process_time() - began
        assert isinstance(found, PairedComparison)
        p_values["ours"] = found.p_value
        return seconds

    ours()  # the first touch of so much memory is the system's time
    measured = measure_alternately(plain, ours, rounds=ROUNDS)
    p = p_values["sacrebleu"]
    error = 3 * (2 * p * (1 - p) / SAMPLES) ** 0.5 + 2 / SAMPLES
    if abs(p_values["ours"] - p) > error:
        raise AssertionError(f"the p-values differ by more than sampling error: {p_values}")
    seconds = sorted(late for _, late in measured)[ROUNDS // 2]
    note = f"p {p_values['ours']:.3f} and {p:.3f}; {1000 * seconds:.0f} ms for {len(references):,} segments"
    return [
        Claim("sacrebleu / our resampling of BLEU", ratios_by_round(measured), 10.0, "at least", note, what)
    ]


def _counted(references: Sequence[str], texts: Sequence[str]) -> MetricCounts:
    document = Document("all", {"one": tuple(texts)}, (tuple(references),))
    counted = Bleu().count(Corpus((document,), target_language="en"), "one")
    assert isinstance(counted, MetricCounts)
    return counted


def _sacrebleu(references: Sequence[str], baseline: Sequence[str], other: Sequence[str]) -> Any:
    """Its paired test, with the statistics taken out beforehand."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    metric: Any = BLEU(references=[list(references)], force=True)
    known = {id(texts): metric._extract_corpus_statistics(texts, None) for texts in (baseline, other)}
    metric._extract_corpus_statistics = lambda texts, _: known[id(texts)]

    def run() -> float:
        named: Any = [("baseline", baseline), ("other", other)]
        test = PairedTest(named, {"BLEU": metric}, references=None, test_type="bs", n_samples=SAMPLES)
        _, table = test()
        result: Any = table["BLEU"][1]
        return float(result.p_value)

    return run


def _texts() -> tuple[list[str], list[str], list[str], str]:
    """References, two systems that differ by a little, and a sentence on what they are."""
    data = find_data_folder()
    chance = random.Random(11)
    if mlqe_path(data, "ro-en").is_file():
        rows = mlqe_rows(data, "ro-en")
        references, baseline = [row["post_edit"] for row in rows], [row["mt"] for row in rows]
        what = "resampling: MLQE-PE ro-en, the MT, with a word lost here and there, twice"
    else:
        references = [" ".join(chance.choices(_WORDS, k=chance.randint(6, 30))) for _ in range(1000)]
        baseline = [_drop_word(text, chance) for text in references]
        what = "resampling: made-up sentences, as the shared data is not here"
    other = _damage_texts(baseline, 0.03, chance)
    return references, _damage_texts(baseline, 0.015, chance), other, what


def _damage_texts(texts: Sequence[str], rate: float, chance: random.Random) -> list[str]:
    return [_drop_word(text, chance) if chance.random() < rate else text for text in texts]


def _drop_word(text: str, chance: random.Random) -> str:
    words = text.split()
    words.pop(chance.randrange(len(words)))
    return " ".join(words)
