"""Print scores as tables, with intervals and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ape.cli.eval.wide_table import TableLine, print_wide_table
from ape.cli.terminal import table_console

if TYPE_CHECKING:
    from eval.metrics.metric import Metric
    from eval.metrics.multi_reference import LeaveOneOutScores
    from eval.metrics.scoring import EvaluationResults
    from eval.statistics.counts import Unmeasured

_NONE = "n/a"
_SIGNIFICANT = 0.05


def print_scores(results: EvaluationResults, *, documents: bool = False) -> None:
    """Print the scores, optionally by document, and the signatures."""
    from eval.metrics.scoring import SIGNIFICANCE_TESTS

    console = table_console()
    _print_scores_table(console, results)
    _print_missing(console, results)
    if documents:
        found = results.by_document()
        for metric in results.metrics:
            _show_documents(console, metric, found[metric.name])
    how = results.resampling
    console.print(
        f"[low, high]: 95% of {how.samples:,} bootstrap resamples of {how.by}s, seed {how.seed}.", markup=False
    )
    _print_missing_intervals(console, results)
    if how.baseline:
        console.print(
            f"* differs from {how.baseline} (p < .05, {SIGNIFICANCE_TESTS[how.test]}, Holm's correction).", markup=False
        )
        console.print(f"tests: {how.signature}", markup=False, soft_wrap=True)
    for caveat in results.caveats():
        console.print(caveat, markup=False, soft_wrap=True)
    for name, signature in results.signatures().items():
        console.print(f"{name}: {signature}", markup=False, soft_wrap=True)


def _heading(metric: Metric) -> str:
    return f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"


def _print_scores_table(console: Console, results: EvaluationResults) -> None:
    lines = [
        TableLine(Text(system), [_cell(results, metric, system) for metric in results.metrics])
        for system in results.corpus.systems
    ]
    print_wide_table(console, "system", [_heading(metric) for metric in results.metrics], lines)


def _cell(results: EvaluationResults, metric: Metric, system: str) -> Text:
    from eval.statistics.counts import Unmeasured
    from eval.statistics.paired_tests import ConfidenceInterval

    score = results.score(metric.name, system)
    if isinstance(score, Unmeasured):
        return Text(_NONE, "dim")
    standing = results.standings[metric.name].get(system)
    text = _number(score.value)
    if standing and standing.corrected is not None and standing.corrected < _SIGNIFICANT:
        text += "*"
    if standing and isinstance(standing.interval, ConfidenceInterval):
        text += f" [{_number(standing.interval.low)}, {_number(standing.interval.high)}]"
    return Text(text)


def _number(value: float) -> str:
    """Four decimals below 1, otherwise two."""
    return f"{value:.4f}" if abs(value) < 1 else f"{value:.2f}"


def _print_missing(console: Console, results: EvaluationResults) -> None:
    """Print why scores are missing, once per reason: several metrics may lack the same package."""
    from eval.statistics.counts import Unmeasured

    reasons: dict[tuple[str, str], list[str]] = {}
    for metric in results.metrics:
        for system in results.corpus.systems:
            score = results.score(metric.name, system)
            if isinstance(score, Unmeasured):
                reasons.setdefault((metric.name, score.why), []).append(system)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (name, why), systems in reasons.items():
        alike.setdefault((why, tuple(systems)), []).append(name)
    for (why, named), metrics in alike.items():
        suffix = "" if len(named) == len(results.corpus.systems) else f" of {', '.join(named)}"
        verb = "is" if len(metrics) == 1 else "are"
        console.print(f"{', '.join(metrics)}{suffix} {verb} not applicable: {why.rstrip('.')}.", markup=False)


def _print_missing_intervals(console: Console, results: EvaluationResults) -> None:
    """Print which scores have no interval, and why."""
    from eval.statistics.counts import Score, Unmeasured

    for metric, systems in results.standings.items():
        reasons: dict[str, list[str]] = {}
        for system, standing in systems.items():
            if isinstance(standing.interval, Unmeasured) and isinstance(results.score(metric, system), Score):
                reasons.setdefault(standing.interval.why, []).append(system)
        for why, named in reasons.items():
            suffix = "" if len(named) == len(results.corpus.systems) else f" of {', '.join(named)}"
            console.print(f"{metric}{suffix} has no interval and no test: {why}.", markup=False)


def _show_documents(console: Console, metric: Metric, found: Mapping[str, Mapping[str, float | None]]) -> None:
    """Print scores by document, unless there are none."""
    if all(score is None for scores in found.values() for score in scores.values()):
        return
    lines = [
        TableLine(Text(document), [Text(_NONE if score is None else _number(score)) for score in scores.values()])
        for document, scores in found.items()
    ]
    console.print(_heading(metric), style="italic", markup=False)
    print_wide_table(console, "document", list(next(iter(found.values()))), lines)


def _line(name: str, *cells: str) -> TableLine:
    return TableLine(Text(name), [Text(cell) for cell in cells])


def print_aggregated(found: Mapping[str, LeaveOneOutScores | Unmeasured]) -> None:
    """Print the leave-one-out table of PAR3: scores and wins of humans and systems."""
    from eval.statistics.counts import Unmeasured

    console = table_console()
    for name, scores in found.items():
        if isinstance(scores, Unmeasured):
            console.print(f"{name} is not applicable: {scores.why}.", markup=False)
            continue
        lines = [_line("human", _number(scores.human), "", "", "")]
        for system, value in scores.systems.items():
            wins = scores.wins[system]
            share = _NONE if wins.share is None else f"{wins.share:.1%}"
            lines.append(_line(system, _number(value), share, f"{wins.better + wins.worse:,}", f"{wins.ties:,}"))
        print_wide_table(console, name, ("score", "wins", "of", "ties"), lines)
        if scores.left_out:
            console.print(f"{scores.left_out:,} left out, where a score is missing.", markup=False)
        console.print(f"{name}: {scores.signature}", markup=False, soft_wrap=True)
