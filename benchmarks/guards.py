"""Cost of judging a draft: guards, edits and edit rate against three sentence-BLEU scores of the same pair.

BLEU is a machine-independent measure of "cheap": people compute it for every paragraph. Each round is a new process
with its own paragraphs of about 150 words, joined from the sample chapters (the MT, and the human post-edit as the
draft). Each side sees a pair once, so that no cache helps; only sacrebleu reuses the tokens of its first score for the
others.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import cycle

from ape.passage.segment import Draft, Segment
from ape.sample import SAMPLES, Sample, SampleParagraph, load_sample
from benchmarks.claims import Claim

ROUNDS = 7
PAIRS = 30
WORDS = 150


def measure() -> list[Claim]:
    """Run the rounds."""
    ratios, milliseconds = [], []
    for seed in range(ROUNDS):
        ours, theirs = json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.guards", "--seed", str(seed)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        ratios.append(ours / theirs)
        milliseconds.append(1000 * ours / PAIRS)
    note = f"{sorted(milliseconds)[ROUNDS // 2]:.1f} ms a paragraph"
    return [Claim("judging a draft / three sentence BLEUs", tuple(ratios), 1.0, "at most", note)]


def make_pairs(seed: int) -> list[tuple[Segment, Draft]]:
    """Make passages of about 150 words and their drafts; each seed joins other paragraphs."""
    chance = random.Random(seed)
    samples = cycle([load_sample(name) for name in SAMPLES])
    made: dict[str, tuple[Segment, Draft]] = {}
    while len(made) < PAIRS:
        sample = next(samples)
        chosen: list[SampleParagraph] = []
        for paragraph in chance.sample(sample.paragraphs, len(sample.paragraphs)):
            if sum(len(one.mt.split()) for one in chosen) > WORDS - 20:
                break
            chosen.append(paragraph)
        pair = _joined(sample, chosen)
        made[pair[0].mt] = pair
    return list(made.values())


def _joined(sample: Sample, chosen: list[SampleParagraph]) -> tuple[Segment, Draft]:
    segment = Segment(
        source=" ".join(one.source for one in chosen),
        mt=" ".join(one.mt for one in chosen),
        source_language=sample.source_language,
        target_language=sample.target_language,
        glossary=sample.glossary,
    )
    return segment, Draft(" ".join(one.good for one in chosen))


def time_pairs(seed: int) -> tuple[float, float]:
    """CPU seconds of our side and of BLEU over all pairs, alternating."""
    from sacrebleu import BLEU

    from ape.edits.diff import edit_rate, find_edits
    from ape.guards import check_draft

    bleu = BLEU(effective_order=True)

    def ours(segment: Segment, draft: Draft) -> None:
        check_draft(segment, draft)
        find_edits(segment.mt, draft.text, language=segment.target_language)
        edit_rate(segment.mt, draft.text)

    def theirs(segment: Segment, draft: Draft) -> None:
        for _ in range(3):
            bleu.sentence_score(draft.text, [segment.mt])

    sides: list[Callable[[Segment, Draft], None]] = [ours, theirs]
    for sample in map(load_sample, SAMPLES):  # warm up: tables and patterns are built on first use
        for side in sides:
            side(*_joined(sample, [min(sample.paragraphs, key=lambda paragraph: len(paragraph.mt))]))
    seconds = dict.fromkeys(sides, 0.0)
    for pair in make_pairs(seed):
        for side in sides:
            began = time.process_time()
            side(*pair)
            seconds[side] += time.process_time() - began
        sides.reverse()
    return seconds[ours], seconds[theirs]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    print(json.dumps(time_pairs(parser.parse_args().seed)))
