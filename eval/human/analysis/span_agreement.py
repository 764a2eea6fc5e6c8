"""Agreement of raters on error spans: F1 of the marked characters, and Krippendorff's α over all characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eval.human.span import SEVERITY_WEIGHTS
from eval.human.span_rating import SpanRating
from eval.statistics.agreement_coefficients import AnswerCodes, answer_counts, coincidence_rows, krippendorff_alpha
from eval.statistics.counts import FloatArray, Unmeasured, share_fold
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import bootstrap_interval

_CODES = {severity: code for code, severity in enumerate(SEVERITY_WEIGHTS, 1)}
_NONE = 0


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Agreement on texts that two raters marked; intervals resample texts."""

    texts: int
    raters: int
    f1: ConfidenceInterval | Unmeasured
    """Of characters that both marked, whatever the severity: 2·both / (first + second)."""
    f1_severity: ConfidenceInterval | Unmeasured
    """The same with characters of another severity counted half, as at WMT's error span task."""
    alpha: ConfidenceInterval | Unmeasured
    """Krippendorff's nominal α of the characters: no error, or the severity."""
    score_r: float | None
    """Pearson's r of the two raters' scores of one text."""


def span_agreement(ratings: Sequence[SpanRating], *, samples: int, seed: int) -> SpanAgreement | Unmeasured:
    """Compare every two raters of one text."""
    texts: dict[tuple[str, str], list[SpanRating]] = defaultdict(list)
    for rating in ratings:
        texts[rating.passage, rating.system].append(rating)
    shared = [own for own in texts.values() if len({rating.rater for rating in own}) > 1]
    if not shared:
        return Unmeasured("no text was marked by two raters")
    overlaps = np.array([np.sum(list(_overlaps(own)), axis=0) for own in shared])
    categories = len(_CODES) + 1
    chance = np.array([coincidence_rows(answer_counts(_characters(own), categories)).sum(axis=0) for own in shared])
    pairs = [(one.score, other.score) for own in shared for one, other in combinations(own, 2)]
    return SpanAgreement(
        len(shared),
        len({rating.rater for own in shared for rating in own}),
        bootstrap_interval(overlaps, share_fold([0], [2], 2.0), samples=samples, seed=seed),
        bootstrap_interval(overlaps, share_fold([1], [2], 2.0), samples=samples, seed=seed),
        bootstrap_interval(chance, krippendorff_alpha(categories), samples=samples, seed=seed),
        _correlation(pairs),
    )


def _overlaps(ratings: Sequence[SpanRating]) -> Iterator[FloatArray]:
    """For every two raters: characters that both marked, with half of them where severities differ, and all marks."""
    codes = _characters(ratings)
    for one, other in combinations(codes.T, 2):
        both = (one > _NONE) & (other > _NONE)
        same = both & (one == other)
        yield np.array([both.sum(), same.sum() + (both & ~same).sum() / 2, (one > _NONE).sum() + (other > _NONE).sum()])


def _characters(ratings: Sequence[SpanRating]) -> AnswerCodes:
    """The code of each character (row) by each rater (column); the place after the text is for something missing."""
    length = max(max(rating.length, *(span.end for span in rating.spans), 0) for rating in ratings) + 1
    codes = np.zeros((length, len(ratings)), int)
    for column, rating in enumerate(ratings):
        for span in rating.spans:
            codes[span.start : max(span.end, span.start + 1), column] = _CODES[span.severity]
    return codes


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    # Both orders, since neither rater of a pair is the first.
    first, second = np.array([*pairs, *((other, one) for one, other in pairs)]).T
    if len(pairs) < 3 or first.std() == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])
