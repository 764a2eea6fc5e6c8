"""The thresholds of the guards, in one table by language pair.

They were derived from the human post-edits of MLQE-PE (train, 7,000 a pair) and PAR3's Candide.
`python -m benchmarks.studies.guards` prints what they reject.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a draft is too short, too long, or too different from the MT. Sizes are those of `ape.text.size`."""

    target_per_source: float
    """The median ratio of the size of a human post-edit to that of its source."""
    shortest: float
    """A draft below this share of the size expected for both MT and source is too short."""
    longest: float
    """A draft above this multiple of the size expected for both MT and source is too long."""
    edit_rate: float
    """The ratio of edits to MT words above which a long draft is a new translation."""


# Rounded outwards from the 99.9th percentile of the human post-edits of MLQE-PE (the 0.1st for `shortest`), so that one
# in a thousand is rejected; for the edit rate, after the free edits of `ape.guards.edit_rate`. The default, for other
# pairs, is based on et-en and ro-en. No edit rate separates repairs from new translations: the two literary translators
# of Candide change 58% of the words of the MT at the median, and 2% of their paragraphs exceed 0.9. At 0.8 it would be
# 4%, at 0.7 9% and at 0.6 21%, but 0.6 would also reject 2% of the human repairs of et-en.
DEFAULT_THRESHOLDS = Thresholds(target_per_source=1.0, shortest=0.7, longest=1.4, edit_rate=0.9)

PAIR_THRESHOLDS: dict[tuple[str, str], Thresholds] = {
    #                    letters per source letter, shortest, longest, edit rate
    ("en", "de"): Thresholds(1.11, 0.75, 1.40, 0.75),
    ("en", "zh"): Thresholds(1.07, 0.65, 1.65, 1.40),
    ("et", "en"): Thresholds(1.06, 0.75, 1.40, 0.90),
    ("fr", "en"): Thresholds(1.00, 0.70, 1.50, 0.90),  # Candide: literary, so length varies more
    ("ne", "en"): Thresholds(1.09, 0.65, 1.45, 1.30),  # weak MT: humans rewrote most sentences
    ("ro", "en"): Thresholds(0.96, 0.70, 1.35, 1.00),
    ("ru", "en"): Thresholds(1.04, 0.50, 1.60, 1.10),  # titles and chat, of which the MT often omits half
    ("si", "en"): Thresholds(1.01, 0.50, 1.50, 1.30),
    ("zh", "en"): Thresholds(1.03, 0.55, 1.65, 0.90),  # web fiction, 688 lines: 98% of published English, 0.51 to 1.86
}


def pair_thresholds(source_language: str, target_language: str) -> Thresholds:
    """The thresholds of a language pair, or the default."""
    return PAIR_THRESHOLDS.get((source_language, target_language), DEFAULT_THRESHOLDS)
