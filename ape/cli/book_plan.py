"""Print the estimate of `ape book plan`."""

from __future__ import annotations

import json
from collections.abc import Callable

import typer
from rich.table import Table

from ape.books.pairing.book_pairing import UnpairedCounter
from ape.cli.terminal import table_console
from ape.jobs.estimate import BookEstimate
from ape.jobs.planning import OpenedFiles
from ape.text.token_estimate import TokenRange

_CHAPTERS = 40


def print_plan(
    opened: OpenedFiles, plan: BookEstimate, unpaired: UnpairedCounter, *, model: str, json_output: bool
) -> None:
    """Print the estimate as JSON, or as a table and sentences."""
    if json_output:
        data = plan.to_json() | {
            "source_language": opened.source_language,
            "target_language": opened.target_language,
            "format": opened.mt.format,
            "model": model,
            "unpaired_source": {
                "count": unpaired.count,
                "examples": [{"id": name, "text": text} for name, text in unpaired.first],
            },
        }
        typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    console = table_console(120)
    console.print(_chapters(plan))
    for line in _sentences(opened, plan, unpaired, model):
        console.print(line, markup=False, soft_wrap=True)


def _chapters(plan: BookEstimate) -> Table:
    table = Table("chapter", "title", box=None)
    for heading in ("paragraphs", "to edit", "left alone", "words"):
        table.add_column(heading, justify="right")
    for chapter in plan.chapters[:_CHAPTERS]:
        numbers = (chapter.paragraphs, chapter.pairs, chapter.skipped, chapter.words)
        table.add_row(str(chapter.number + 1), _short(chapter.title, 48), *(f"{number:,}" for number in numbers))
    if len(plan.chapters) > _CHAPTERS:
        table.add_row("…", f"and {len(plan.chapters) - _CHAPTERS:,} more", "", "", "", "")
    return table


def _sentences(opened: OpenedFiles, plan: BookEstimate, unpaired: UnpairedCounter, model: str) -> list[str]:
    methods = ", ".join(f"{count:,} by {how}" for how, count in plan.pairs_by.items()) or "none"
    lines = [
        "",
        f"{_number(len(plan.chapters), 'chapter')}, {_number(plan.paragraphs, 'paragraph')}, "
        f"{opened.source_language} to {opened.target_language} ({opened.mt.format})",
        f"pairs       {plan.pairs:,} ({methods}), {plan.words:,} words",
    ]
    for skip in plan.skipped:
        lines.append(f"left alone  {skip.count:,}: {skip.reason}")
        lines += [f"              {name}: {_short(text, 60)}" for name, text in skip.examples[:3]]
    if unpaired.count:
        lines.append(f"source without MT  {unpaired.count:,}")
        lines += [f"              {name}: {_short(text, 60)}" for name, text in unpaired.first[:3]]
    speed = plan.speed
    lines += [
        f"model       {model}",
        f"tokens      {_format_range(plan.tokens_in, _count)} to read, "
        f"{_format_range(plan.tokens_out, _count)} to write",
        f"time        {_format_range(plan.seconds, _time)}, {speed.concurrency} concurrent ({speed.origin})",
        f"cost        {_cost(plan)}",
    ]
    return lines


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _cost(plan: BookEstimate) -> str:
    if plan.cost is None:
        return "unknown: set APE_PRICE_IN and APE_PRICE_OUT, the prices of a million tokens"
    return (
        "free: the model runs here"
        if plan.cost == TokenRange()
        else _format_range(plan.cost, lambda cost: f"{cost:,.2f}")
    )


def _format_range(values: TokenRange, format: Callable[[float], str]) -> str:
    low, high = format(values.low), format(values.high)
    return low if low == high else f"{low} to {high}"


def _count(tokens: float) -> str:
    return f"{tokens:,.0f}" if tokens < 10_000 else f"{round(tokens, -3):,.0f}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
