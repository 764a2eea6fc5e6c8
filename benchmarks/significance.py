"""A thousand bootstrap resamples of BLEU for two systems: ours against sacrebleu's, on the same statistics.

Both start from n-gram counts and compute an interval of each system and the p-value of their difference. The texts are
of MLQE-PE if the shared data is available (APE_DATA), otherwise synthetic. Both sides are measured in processor time of
all threads, which other load on the machine hardly affects.
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
    """Time both sides, and require p-values that agree up to sampling error."""
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

    ours()  # warm up: the first allocation of memory is slow
    measured = measure_alternately(plain, ours, rounds=ROUNDS)
    p = p_values["sacrebleu"]
    error = 3 * (2 * p * (1 - p) / SAMPLES) ** 0.5 + 2 / SAMPLES
    if abs(p_values["ours"] - p) > error:
        raise AssertionError(f"the p-values differ by more than sampling error: {p_values}")
    seconds = sorted(late for _, late in measured)[ROUNDS // 2]
    note = f"p {p_values['ours']:.3f} and {p:.3f}; {1000 * seconds:.0f} ms for {len(references):,} segments"
    return [Claim("sacrebleu / our resampling of BLEU", ratios_by_round(measured), 10.0, "at least", note, what)]


def _counted(references: Sequence[str], texts: Sequence[str]) -> MetricCounts:
    document = Document("all", {"one": tuple(texts)}, (tuple(references),))
    counted = Bleu().count(Corpus((document,), target_language="en"), "one")
    assert isinstance(counted, MetricCounts)
    return counted


def _sacrebleu(references: Sequence[str], baseline: Sequence[str], other: Sequence[str]) -> Any:
    """The paired test of sacrebleu, with statistics extracted in advance."""
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
    """References, two systems that differ slightly, and a description of the texts."""
    data = find_data_folder()
    chance = random.Random(11)
    if mlqe_path(data, "ro-en").is_file():
        rows = mlqe_rows(data, "ro-en")
        references, baseline = [row["post_edit"] for row in rows], [row["mt"] for row in rows]
        what = "resampling: MLQE-PE ro-en, the MT, with a word lost here and there, twice"
    else:
        references = [" ".join(chance.choices(_WORDS, k=chance.randint(6, 30))) for _ in range(1000)]
        baseline = [_drop_word(text, chance) for text in references]
        what = "resampling: made-up sentences, as the shared data is not available"
    other = _damage_texts(baseline, 0.03, chance)
    return references, _damage_texts(baseline, 0.015, chance), other, what


def _damage_texts(texts: Sequence[str], rate: float, chance: random.Random) -> list[str]:
    return [_drop_word(text, chance) if chance.random() < rate else text for text in texts]


def _drop_word(text: str, chance: random.Random) -> str:
    words = text.split()
    words.pop(chance.randrange(len(words)))
    return " ".join(words)
