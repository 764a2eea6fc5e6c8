"""Validity of LTCR on annotated references: `python -m benchmarks.studies.ltcr_validity --data DIR`.

In the annotated test set (Lei et al. 2024) the references translate every chain consistently. So L-Anno of the
references is 100 with the annotated renderings, and the difference from 100 with an aligner is the aligner's error. In
a copy, one rendering in five is replaced by that of another word: both scores must fall alike. The aligner itself is
scored on sentences with manual alignments.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from eval.corpus.corpus import Corpus
from eval.linguistics.word_alignment import (
    Bitext,
    CachedAligner,
    EflomalAligner,
    WordAligner,
    alignment_error_rate,
    read_bitext,
    read_links,
)
from eval.metrics.ltcr.chains import AnnotatedChains, read_annotated_chains
from eval.metrics.ltcr.metric import Ltcr
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.suites.ltcr import read_test_set

LTCR_FILE = "ltcr_zh_en.jsonl"
CORRUPTION_RATE = 0.2


def add_corrupted_system(
    corpus: Corpus, annotated: Mapping[str, AnnotatedChains], *, rate: float = CORRUPTION_RATE, seed: int = 1
) -> Corpus:
    """Add a system "corrupted": the reference with a share of renderings replaced by those of other words."""
    chance = random.Random(seed)  # a seeded sample, not a secret
    renderings = sorted({chain.translation for one in annotated.values() for chain in one.chains})
    texts = []
    for document in corpus.documents:
        lines = list(document.outputs["reference"])
        for chain in annotated[document.id].chains:
            for segment, _ in chain.places:
                if chance.random() < rate:
                    lines[segment] = _replace_rendering(lines[segment], chain.translation, chance.choice(renderings))
        texts.append(lines)
    return corpus.with_system("corrupted", texts)


def _replace_rendering(text: str, old: str, new: str) -> str:
    """Replace a rendering everywhere in a sentence, as occurrences are not annotated."""
    pattern = r"\s?".join(map(re.escape, old.split()))
    return re.sub(rf"(?<!\w){pattern}(?!\w)", lambda _: new, text, flags=re.IGNORECASE)


def measure_alignment_error(data: Path, aligner: WordAligner, extra: Bitext) -> float:
    """AER on Chinese-English sentences with manual alignments."""
    folder = data / "word_alignment"
    found = aligner.align(read_bitext(folder / "zhen.src-tgt"), extra=extra)
    return alignment_error_rate(found, read_links(folder / "zhen.gold", first=1))


def format_counts(name: str, counted: MetricCounts | Unmeasured) -> Iterable[str]:
    """Format the score, and each of its parts, as lines."""
    score = counted.score() if isinstance(counted, MetricCounts) else counted
    if isinstance(score, Unmeasured):
        return [f"{name:34} not applicable: {score.why}"]
    parts = [f"    {part:30} {value:6.2f}" for part, value in score.parts.items() if value is not None]
    return [f"{name:34} {score.value:6.2f}", *parts, f"    {score.signature}"]


def main() -> None:
    """Print all scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--samplers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    annotated = read_annotated_chains(options.data / LTCR_FILE)
    corpus = add_corrupted_system(read_test_set(options.data / LTCR_FILE), annotated, seed=options.seed)
    aligner = CachedAligner(EflomalAligner("zh", "en", samplers=options.samplers, seed=options.seed))
    linked = Ltcr(annotated=annotated, aligner=aligner)
    for system in corpus.systems:
        _print_now(
            *format_counts(f"L-Anno, {system}, as annotated", replace(linked, read="annotation").count(corpus, system))
        )
        _print_now(*format_counts(f"L-Anno, {system}, as linked", linked.count(corpus, system)))
        _print_now(*format_counts(f"L-All, {system}", Ltcr(aligner=aligner).count(corpus, system)))
    texts = [
        (words, re.findall(r"\w+|[^\w\s]", text))
        for one in corpus.documents
        for words, text in zip(annotated[one.id].words, one.outputs["reference"], strict=True)
    ]
    _print_now(
        "AER on 450 sentences with the test set to learn from: "
        f"{measure_alignment_error(options.data, aligner, texts):.3f}"
    )


def _print_now(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
