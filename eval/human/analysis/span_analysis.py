"""Everything that is computed from span annotation: scores, differences, agreement, and checks of the raters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.human.analysis.span_agreement import SpanAgreement, span_agreement
from eval.human.analysis.span_scores import SpanDifference, SystemSpanScore, span_differences, system_span_scores
from eval.human.span import ErrorSpan
from eval.human.span_rating import SpanRating
from eval.human.vote import SHUFFLED_SYSTEM
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class SpanRaterCheck:
    """How a rater did on attention items and repeats."""

    rater: str
    texts: int
    spans: int
    attention: int
    """Attention items with a score of both texts."""
    caught: int
    """Those where the shuffled copy has the lower score and more MQM points."""
    repeats: int
    score_change: float | None
    """Mean absolute change of the score between an item and its repeat."""
    repeat_f1: float | None
    """F1 of the characters marked in an item and in its repeat."""


@dataclass(frozen=True, slots=True)
class SpanAnalysis:
    """All results; ratings of attention items and repeats count only for the checks of raters."""

    systems: tuple[SystemSpanScore, ...]
    differences: tuple[SpanDifference, ...]
    agreement: SpanAgreement | Unmeasured
    raters: tuple[SpanRaterCheck, ...]


def analyse_spans(ratings: Sequence[SpanRating], *, samples: int, seed: int) -> SpanAnalysis | None:
    """Compute every result; None without ratings."""
    own = [rating for rating in ratings if rating.kind == "pair"]
    if not own:
        return None
    return SpanAnalysis(
        system_span_scores(own, samples=samples, seed=seed),
        span_differences(own, samples=samples, seed=seed),
        span_agreement(own, samples=samples, seed=seed),
        tuple(_check(name, ratings) for name in sorted({rating.rater for rating in ratings})),
    )


def _check(rater: str, ratings: Sequence[SpanRating]) -> SpanRaterCheck:
    own = [rating for rating in ratings if rating.rater == rater]
    by_text = {(rating.item, rating.system): rating for rating in own}
    spam = [rating for rating in own if rating.kind == "spam" and rating.system == SHUFFLED_SYSTEM]
    originals = {rating.item: rating for rating in own if rating.kind == "spam" and rating.system != SHUFFLED_SYSTEM}
    caught = [one for one in spam if one.score < originals[one.item].score and one.points > originals[one.item].points]
    again = [
        (by_text[rating.repeats, rating.system], rating)
        for rating in own
        if rating.kind == "repeat" and (rating.repeats, rating.system) in by_text
    ]
    both = sum(len(_marked(one.spans) & _marked(other.spans)) for one, other in again)
    marked = sum(len(_marked(one.spans)) + len(_marked(other.spans)) for one, other in again)
    changes = [abs(one.score - other.score) for one, other in again]
    return SpanRaterCheck(
        rater,
        sum(rating.kind == "pair" for rating in own),
        sum(len(rating.spans) for rating in own if rating.kind == "pair"),
        len(spam),
        len(caught),
        len(again),
        sum(changes) / len(changes) if changes else None,
        2 * both / marked if marked else None,
    )


def _marked(spans: Sequence[ErrorSpan]) -> set[int]:
    return {at for span in spans for at in range(span.start, max(span.end, span.start + 1))}


def format_spans(found: SpanAnalysis) -> str:
    """The results as text."""
    return "\n".join(["Error spans", *_score_lines(found), *_difference_lines(found), *_agreement_lines(found)])


def _score_lines(found: SpanAnalysis) -> Iterator[str]:
    for one in found.systems:
        counts = ", ".join(f"{count:,} {severity}" for severity, count in one.severities.items()) or "no errors"
        yield (
            f"  {one.system}: score {_interval(one.score)}, MQM points a text {_interval(one.points)}, "
            f"{one.texts:,} ratings; {counts}"
        )
        if one.categories:
            yield f"    {', '.join(f'{name} {count:,}' for name, count in one.categories.items())}"


def _difference_lines(found: SpanAnalysis) -> Iterator[str]:
    for one in found.differences:
        p_value = "" if one.corrected is None else f", p {one.corrected:.4f} (sign flips, Holm's correction)"
        yield f"  {one.system} over {one.other}: {_interval(one.difference)} points on {one.pairs:,} pairs{p_value}"


def _agreement_lines(found: SpanAnalysis) -> Iterator[str]:
    agreement = found.agreement
    if isinstance(agreement, Unmeasured):
        yield f"  Agreement is not measured: {agreement.why}."
    else:
        r = "not measured" if agreement.score_r is None else f"{agreement.score_r:.2f}"
        yield (
            f"  Agreement on {agreement.texts:,} texts: F1 of characters {_interval(agreement.f1)}, with severity "
            f"{_interval(agreement.f1_severity)}, Krippendorff's α {_interval(agreement.alpha)}, r of scores {r}"
        )
    for one in found.raters:
        checks = f"{one.caught} of {one.attention} attention items caught" if one.attention else "no attention items"
        again = "" if one.score_change is None else f", scores of repeats change by {one.score_change:.1f}"
        again += "" if one.repeat_f1 is None else f", F1 of repeats {one.repeat_f1:.2f}"
        yield f"  {one.rater}: {one.texts:,} texts, {one.spans:,} errors marked, {checks}{again}"


def _interval(value: ConfidenceInterval | Unmeasured) -> str:
    if isinstance(value, Unmeasured):
        return f"not measured ({value.why})"
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"
