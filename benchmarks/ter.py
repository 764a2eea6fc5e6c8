"""TER of paragraphs: ours, which batches all shifts of a round, against sacrebleu's, which tries them one by one.

The paragraphs are Google's translation of Candide against a human one if the shared data is available (APE_DATA),
otherwise synthetic. Both sides must count the same edits, and are measured in processor time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from sacrebleu.metrics.ter import TER

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import candide_path, candide_rows
from eval.metrics.batched_ter import BatchedTer

ROUNDS = 3
PARAGRAPHS = 24
_WORDS = "the a old young captain sailor harbour letter wrote read found lost at in on night and".split()


def measure() -> list[Claim]:
    """Time both sides, and require the same counts."""
    outputs, references, what = _texts()
    counted: dict[str, Any] = {}

    def timed(name: str, metric: TER) -> Callable[[], float]:
        def run() -> float:
            began = time.process_time()
            counted[name] = metric._extract_corpus_statistics(outputs, [references])
            return time.process_time() - began

        return run

    measured = measure_alternately(timed("sacrebleu", TER()), timed("ours", BatchedTer()), rounds=ROUNDS)
    if counted["sacrebleu"] != counted["ours"]:
        raise AssertionError("the two sides count different edits")
    words = sum(len(text.split()) for text in outputs)
    note = f"the same edits of {len(outputs)} paragraphs, {words:,} words"
    return [Claim("sacrebleu / our TER of paragraphs", ratios_by_round(measured), 10.0, "at least", note, what)]


def _texts() -> tuple[list[str], list[str], str]:
    """Outputs, references, and a description of the texts."""
    data = find_data_folder()
    if candide_path(data).is_file():
        found = [(row["gt"], next(iter(row["human"].values()))) for row in candide_rows(data)]
        long = [pair for pair in found if 80 <= len(pair[0].split()) <= 200][:PARAGRAPHS]
        return ([gt for gt, _ in long], [human for _, human in long], "TER: paragraphs of Candide, 80 to 200 words")
    chance = random.Random(7)
    references = [chance.choices(_WORDS, k=chance.randint(80, 200)) for _ in range(PARAGRAPHS)]
    outputs = [_reorder_words(words, chance) for words in references]
    what = "TER: made-up paragraphs, as the shared data is not available"
    return [" ".join(words) for words in outputs], [" ".join(words) for words in references], what


def _reorder_words(words: list[str], chance: random.Random) -> list[str]:
    place = chance.randrange(len(words))
    return [word if chance.random() < 0.7 else chance.choice(_WORDS) for word in words[place:] + words[:place]]
