"""Verbs that the literary annotator and spaCy tag differently: `python -m benchmarks.studies.tense_verdicts`.

A random hundred of the 420 words of LitBank's first fold (16 novels kept out of training) where the two differ and one
of them says one of the seven tags of tense. Each was read with its context by a language model, which knew whose each
tag was. spaCy's tags are what the annotator was trained on, so agreement with them can't be higher than spaCy is right.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from eval.statistics.proportion import clopper_pearson_bounds

VERDICTS_FILE = Path(__file__).with_name("tense_verdicts.tsv")
VERDICTS = ("ours", "spacy", "both", "neither")
AGREEMENT = 0.944
"""F1 of the seven tags against spaCy's on that fold."""


def read_verdicts(path: Path = VERDICTS_FILE) -> Counter[str]:
    """The number of words by verdict."""
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    return Counter(row.split("\t")[4] for row in rows)


def corrected_f1(agreement: float, share_wrong: float) -> float:
    """F1 if only this share of the disagreements are our errors."""
    return 1 - (1 - agreement) * share_wrong


def main() -> None:
    """Print the verdicts, and F1 corrected by them with the interval of the sample."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.tense_verdicts", description=__doc__)
    parser.add_argument("--agreement", type=float, default=AGREEMENT, help="F1 against spaCy's tags")
    given = parser.parse_args()
    counts = read_verdicts()
    wrong, number = counts["spacy"] + counts["neither"], counts.total()
    ends = clopper_pearson_bounds(wrong, number)
    print(", ".join(f"{name} {counts[name]}" for name in VERDICTS))
    low, high = (corrected_f1(given.agreement, share) for share in (ends.high, ends.low))
    print(f"F1 {corrected_f1(given.agreement, wrong / number):.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
