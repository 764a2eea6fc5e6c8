"""The thresholds of the guards, in one table by language pair.

They were derived from the human post-edits of MLQE-PE (train, 7,000 a pair) and PAR3's Candide.
`python -m benchmarks.studies.guards` prints what they reject.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a draft is too short, too long, or too far from the MT.

    Sizes are letters, an ideograph counting as three (see `ape.guards.length.size`).
    """

    target_per_source: float
    """The median size of a human post-edit over that of its source."""
    shortest: float
    """A draft below this share of the size expected, by the MT and by the source alike, is too short."""
    longest: float
    """A draft above this multiple of the size expected, by the MT and by the source alike, is too long."""
    edit_rate: float
    """Edits over MT words above which a long draft is a new translation, not a repair."""


# Rounded outwards from the 99.9th percentile of MLQE-PE's human post-edits (the 0.1st for `shortest`), so that one in a
# thousand is refused; for the edit rate, after the free edits of `ape.guards.edit_rate`. The default, for pairs not
# measured, is by et-en and ro-en. Its edit rate is no line between a repair and a new translation, which is not to be
# had: Candide's two literary translators change 58% of the MT's words at the median, and 2% of their paragraphs are
# over 0.9. At 0.8 it would be 4%, at 0.7 9% and at 0.6 21%, but by then 2% of what humans repaired in et-en, too.
DEFAULT_THRESHOLDS = Thresholds(target_per_source=1.0, shortest=0.7, longest=1.4, edit_rate=0.9)

PAIR_THRESHOLDS: dict[tuple[str, str], Thresholds] = {
    #                    letters per source letter, shortest, longest, edit rate
    ("en", "de"): Thresholds(1.11, 0.75, 1.40, 0.75),
    ("en", "zh"): Thresholds(1.07, 0.65, 1.65, 1.40),
    ("et", "en"): Thresholds(1.06, 0.75, 1.40, 0.90),
    ("fr", "en"): Thresholds(1.00, 0.70, 1.50, 0.90),  # Candide: literary, so freer in length
    ("ne", "en"): Thresholds(1.09, 0.65, 1.45, 1.30),  # MT so weak that humans wrote most sentences anew
    ("ro", "en"): Thresholds(0.96, 0.70, 1.35, 1.00),
    ("ru", "en"): Thresholds(1.04, 0.50, 1.60, 1.10),  # titles and chat, where the MT often left a half out
    ("si", "en"): Thresholds(1.01, 0.50, 1.50, 1.30),
    ("zh", "en"): Thresholds(
        1.03, 0.55, 1.65, 0.90
    ),  # web fiction, 688 lines: 98% of published English, 0.51 to 1.86
}


def pair_thresholds(source_language: str, target_language: str) -> Thresholds:
    """The row of a language pair, or the default."""
    return PAIR_THRESHOLDS.get((source_language, target_language), DEFAULT_THRESHOLDS)
