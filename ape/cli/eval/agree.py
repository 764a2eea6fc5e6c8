"""`ape eval agree`: correlation of metrics with human scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import require_modules
from ape.cli.flags import JsonFlag
from ape.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from rich.console import Console

    from eval.corpus.human_scores import RatedSystem
    from eval.metrics.human_correlation import LevelAgreement, RatedScores
    from eval.metrics.metric import Metric
    from eval.statistics.correlation import HumanCorrelation
    from eval.statistics.counts import Unmeasured

    _Agreement: TypeAlias = tuple[HumanCorrelation, list[LevelAgreement]]


def agree(
    scores: Annotated[
        Path,
        typer.Argument(
            help="JSON lines with sent, system, src, ref, hyp, score, and optionally document and sheet; an MQM table "
            "of WMT (.tsv); or a folder in the layout of mt-metrics-eval."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric, or `discourse` for all discourse metrics; repeatable; all by default."),
    ] = None,
    pair: Annotated[str, typer.Option(help="Language pair of a folder, such as en-de.")] = "",
    ratings: Annotated[str, typer.Option(help="Kind of ratings of a folder: mqm, esa, da …")] = "mqm",
    score_name: Annotated[str, typer.Option("--asked", help="Column of the human score; higher is better.")] = "score",
    samples: Annotated[int, typer.Option(min=0, help="Number of resamples for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 1,
    source_language: Annotated[str, typer.Option(help="ISO code.")] = "zh",
    target_language: Annotated[str, typer.Option(help="ISO code.")] = "en",
    json_output: JsonFlag = False,
) -> None:
    """Agreement of metrics with human scores by segment, document and system, and tests between the metrics."""
    require_modules("scipy")
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.registry import METRICS, create_metrics

    chosen = create_metrics(metric or list(METRICS))
    rated = _read(scores, pair, ratings, source_language, target_language)
    with use_annotation_cache(default_annotation_folder()):
        scored = dict(_score(chosen, rated, score_name=score_name))
    found = {name: _agreement(value, samples=samples, seed=seed) for name, value in scored.items()}
    tests = _tests(scored, samples=samples, seed=seed)
    if json_output:
        data = {name: _to_dict(value) for name, value in found.items()}
        typer.echo(json.dumps(data | {"tests": tests}, ensure_ascii=False, indent=1))
    else:
        _show(found, tests, unit="documents" if rated[0].documents else "sentences", samples=samples, seed=seed)


def _read(path: Path, pair: str, ratings: str, source: str, target: str) -> tuple[RatedSystem, ...]:
    from eval.corpus.human_scores import read_human_scores
    from eval.corpus.wmt_ratings import read_metrics_folder, read_mqm_table

    if path.is_dir():
        return read_metrics_folder(path, pair=pair, kind=ratings)
    read = read_mqm_table if path.suffix.lower() == ".tsv" else read_human_scores
    return read(path, source_language=source, target_language=target)


def _score(
    metrics: list[Metric], rated: tuple[RatedSystem, ...], *, score_name: str
) -> Iterator[tuple[str, RatedScores | Unmeasured]]:
    """Score the rated segments by each metric; a metric whose model is not available is unmeasured."""
    from ape.cli.terminal import error_console, passages_progress
    from eval.metrics.human_correlation import score_ratings
    from eval.statistics.counts import Unmeasured

    with passages_progress(error_console()) as bar:
        task = bar.add_task("", total=len(metrics), so_far="")
        for metric in metrics:
            bar.update(task, description=metric.name)
            try:
                yield metric.name, score_ratings(metric, rated, score_name=score_name)
            except InputError as error:
                if error.field == "score_name":
                    raise
                yield metric.name, Unmeasured(str(error).rstrip("."))
            bar.advance(task)


def _agreement(scored: RatedScores | Unmeasured, *, samples: int, seed: int) -> _Agreement | Unmeasured:
    from eval.metrics.human_correlation import agreement_by_level, correlate_ratings
    from eval.statistics.counts import Unmeasured

    if isinstance(scored, Unmeasured):
        return scored
    found = correlate_ratings(scored, samples=samples, seed=seed)
    if isinstance(found, Unmeasured):
        return found
    return found, agreement_by_level(scored, samples=samples, seed=seed)


def _tests(scored: dict[str, RatedScores | Unmeasured], *, samples: int, seed: int) -> list[dict[str, object]]:
    """PERM-BOTH tests of all pairs of metrics, the better first, with Holm's correction."""
    from eval.statistics.counts import Unmeasured
    from eval.statistics.metric_differences import compare_metrics
    from eval.statistics.multiple_comparisons import holm_correction

    known = {name: one.matrices() for name, one in scored.items() if not isinstance(one, Unmeasured)}
    if not known or not samples:
        return []
    _, people, _ = next(iter(known.values()))
    found = compare_metrics({name: ours for name, (ours, _, _) in known.items()}, people, samples=samples, seed=seed)
    rows: list[dict[str, object]] = [
        {"better": one.better, "worse": one.worse, "pearson_difference": one.difference, "p_value": one.p_value}
        for one in found
    ]
    corrected = holm_correction([one.p_value for one in found])
    return [row | {"p_value_corrected": p} for row, p in zip(rows, corrected, strict=True)]


def _to_dict(found: _Agreement | Unmeasured) -> dict[str, object]:
    from dataclasses import asdict

    from eval.statistics.counts import Unmeasured

    if isinstance(found, Unmeasured):
        return {"not_applicable": found.why}
    correlation, levels = found
    return asdict(correlation) | {"levels": [asdict(level) for level in levels]}


def _show(
    found: dict[str, _Agreement | Unmeasured], tests: list[dict[str, object]], *, unit: str, samples: int, seed: int
) -> None:
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine, print_wide_table
    from ape.cli.terminal import table_console
    from eval.statistics.counts import Unmeasured

    measured = {name: value for name, value in found.items() if not isinstance(value, Unmeasured)}
    console = table_console()
    lines = []
    for name, (correlation, _) in measured.items():
        tau, r = (
            _cell(correlation.kendall, correlation.kendall_interval),
            _cell(correlation.pearson, correlation.pearson_interval),
        )
        cells = (tau, r, f"{correlation.segments:,}", f"{correlation.left_out:,}")
        lines.append(TableLine(Text(name), [Text(cell) for cell in cells]))
    print_wide_table(console, "metric", ("Kendall's τ-b", "Pearson's r", "segments", "without a score"), lines)
    _show_levels(console, {name: levels for name, (_, levels) in measured.items()})
    for row in tests:
        console.print(
            f"{row['better']} over {row['worse']}: r +{row['pearson_difference']:.3f}, p {row['p_value']:.3f}, with "
            f"Holm's correction {row['p_value_corrected']:.3f} (PERM-BOTH).",
            markup=False,
        )
    for name, missing in found.items():
        if isinstance(missing, Unmeasured):
            console.print(f"{name} is not applicable: {missing.why}.", markup=False, soft_wrap=True)
    if samples:
        console.print(f"[low, high]: 95% of {samples:,} resamples of {unit}, seed {seed}.", markup=False)
    for name, (correlation, _) in measured.items():
        console.print(f"{name}: {correlation.signature}", markup=False, soft_wrap=True)


def _show_levels(console: Console, found: dict[str, list[LevelAgreement]]) -> None:
    """Print one line for each metric with its agreement at each level."""
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine, print_wide_table

    columns: list[str] = []
    lines = []
    for name, levels in found.items():
        cells: dict[str, float | None] = {}
        for level in levels:
            cells[f"{level.level} accuracy"] = level.accuracy
            if level.level != "segment":
                cells |= {f"{level.level} τ-b": level.kendall, f"{level.level} r": level.pearson}
            if level.level == "system":
                cells["system soft accuracy"] = level.soft_accuracy
        columns = list(cells)
        texts = ("n/a" if value is None else f"{value:.3f}" for value in cells.values())
        lines.append(TableLine(Text(name), [Text(text) for text in texts]))
    if lines:
        console.print()
        print_wide_table(console, "metric", columns, lines, wrap_headings=True)
        console.print(
            "Accuracy: pairs of systems within a segment or document, with calibrated ties; pairs of systems.",
            markup=False,
        )


def _cell(value: float, interval: tuple[float, float] | None) -> str:
    text = f"{value:.3f}"
    return text if interval is None else f"{text} [{interval[0]:.3f}, {interval[1]:.3f}]"
