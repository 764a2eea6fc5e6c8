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

    from eval.corpus.human_scores import RatedSystem
    from eval.metrics.metric import Metric
    from eval.statistics.correlation import HumanCorrelation
    from eval.statistics.counts import Unmeasured


def agree(
    scores: Annotated[
        Path, typer.Argument(help="JSON lines with sheet, sent, system, src, ref, hyp and a human score.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric, or `discourse` for all discourse metrics; repeatable; all by default."),
    ] = None,
    asked: Annotated[str, typer.Option(help="Column of the human score; higher is better.")] = "score",
    samples: Annotated[int, typer.Option(min=0, help="Number of resamples for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 1,
    source_language: Annotated[str, typer.Option(help="ISO code.")] = "zh",
    target_language: Annotated[str, typer.Option(help="ISO code.")] = "en",
    json_output: JsonFlag = False,
) -> None:
    """Correlate segment scores with human scores: Kendall's τ-b and Pearson's r."""
    require_modules("scipy")
    from eval.corpus.human_scores import read_human_scores
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.registry import METRICS, create_metrics

    chosen = create_metrics(metric or list(METRICS))
    rated = read_human_scores(scores, source_language=source_language, target_language=target_language)
    with use_annotation_cache(default_annotation_folder()):
        found = dict(_correlate(chosen, rated, asked=asked, samples=samples, seed=seed))
    if json_output:
        typer.echo(json.dumps({name: _to_dict(value) for name, value in found.items()}, ensure_ascii=False, indent=1))
    else:
        _show(found, samples=samples, seed=seed)


def _correlate(
    metrics: list[Metric], rated: tuple[RatedSystem, ...], *, asked: str, samples: int, seed: int
) -> Iterator[tuple[str, HumanCorrelation | Unmeasured]]:
    """Correlate each metric; a metric whose model is not available is unmeasured."""
    from ape.cli.terminal import error_console, passages_progress
    from eval.metrics.human_correlation import correlate_with_humans
    from eval.statistics.counts import Unmeasured

    with passages_progress(error_console()) as bar:
        task = bar.add_task("", total=len(metrics), so_far="")
        for metric in metrics:
            bar.update(task, description=metric.name)
            try:
                yield (metric.name, correlate_with_humans(metric, rated, score_name=asked, samples=samples, seed=seed))
            except InputError as error:
                if error.field == "score_name":
                    raise
                yield metric.name, Unmeasured(str(error).rstrip("."))
            bar.advance(task)


def _to_dict(found: HumanCorrelation | Unmeasured) -> dict[str, object]:
    from dataclasses import asdict

    from eval.statistics.counts import Unmeasured

    return {"not_applicable": found.why} if isinstance(found, Unmeasured) else asdict(found)


def _show(found: dict[str, HumanCorrelation | Unmeasured], *, samples: int, seed: int) -> None:
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine, print_wide_table
    from ape.cli.terminal import table_console
    from eval.statistics.counts import Unmeasured

    measured = {name: value for name, value in found.items() if not isinstance(value, Unmeasured)}
    console = table_console()
    lines = []
    for name, correlation in measured.items():
        tau, r = (
            _cell(correlation.kendall, correlation.kendall_interval),
            _cell(correlation.pearson, correlation.pearson_interval),
        )
        cells = (tau, r, f"{correlation.segments:,}", f"{correlation.left_out:,}")
        lines.append(TableLine(Text(name), [Text(cell) for cell in cells]))
    print_wide_table(console, "metric", ("Kendall's τ-b", "Pearson's r", "segments", "without a score"), lines)
    for name, missing in found.items():
        if isinstance(missing, Unmeasured):
            console.print(f"{name} is not applicable: {missing.why}.", markup=False, soft_wrap=True)
    if samples:
        console.print(f"[low, high]: 95% of {samples:,} resamples of sentences, seed {seed}.", markup=False)
    for name, correlation in measured.items():
        console.print(f"{name}: {correlation.signature}", markup=False, soft_wrap=True)


def _cell(value: float, interval: tuple[float, float] | None) -> str:
    text = f"{value:.3f}"
    return text if interval is None else f"{text} [{interval[0]:.3f}, {interval[1]:.3f}]"
