"""`ape finetune score`: what an adapter is worth, beside doing nothing and beside its base, with p-values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import needs
from ape.cli.flags import JsonFlag

if TYPE_CHECKING:
    from ape.settings import Settings
    from finetune.example import Example
    from finetune.scoring import Results

RESULTS = "results.json"
_WIDTH = 140  # of the table, where no terminal says its own


def score(
    adapter: Annotated[Path, typer.Argument(help="The adapter, exported to GGUF.")],
    data: Annotated[Path | None, typer.Option(help="What `ape finetune build` wrote.")] = None,
    split: Annotated[str, typer.Option(help="The examples to score on.")] = "test",
    rows: Annotated[
        list[Path] | None, typer.Option(help="Instead: files of rows, taken whole; may be repeated.")
    ] = None,
    drafts: Annotated[
        Path | None, typer.Option(help="Where drafts are kept as they come; beside the adapter if left out.")
    ] = None,
    untuned: Annotated[
        int, typer.Option(help="So many of them by the base as well, asked by instructions; 0: none.")
    ] = 0,
    threads: Annotated[int | None, typer.Option(help="Of the embedded engine; all cores but one.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Post-edit the examples with gate and guards, and score that against the human text, pair by pair."""
    import asyncio
    import json

    with needs("train"):
        import datasets  # noqa: F401
    from ape.cli.finetune.drafts import chosen_examples
    from ape.settings import load_settings

    examples = chosen_examples(data, split, rows or [])
    settings = load_settings(threads=threads)
    path = drafts or adapter / "drafts.jsonl"
    results = asyncio.run(_score(adapter, examples, path, untuned, settings=settings))
    (adapter / RESULTS).write_text(json.dumps(results.to_dict(), indent=1) + "\n", encoding="utf-8")
    if json_output:
        typer.echo(json.dumps(results.to_dict(), indent=1))
    else:
        _show(results)


async def _score(
    adapter: Path, examples: list[Example], path: Path, untuned: int, *, settings: Settings
) -> Results:
    from ape.cli.finetune.drafts import drafted
    from finetune.example import evenly
    from finetune.scoring import edited, guarded, score, unguarded
    from finetune.served import serving

    made = await drafted(adapter, examples, path, settings)
    async with serving(adapter, settings) as served:
        tuned = await edited(served.engine, served.name, made, examples)
    systems = {
        "tuned": tuned,
        "tuned, without the gate": guarded(made, examples),
        "tuned, without gate and guards": unguarded(made, examples),
    }
    results = score(examples, systems)
    if untuned:
        few = evenly(examples, untuned)
        base = await drafted(adapter, few, path, settings, base=True)
        beside = score(few, {"untuned": guarded(base, few), "untuned, without guards": unguarded(base, few)})
        results = results.beside(beside)
    return results


def _show(results: Results) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in (
        "pair",
        "system",
        "passages",
        "edited",
        "TER",
        "Δ",
        "p",
        "BLEU",
        "Δ",
        "p",
        "chrF",
        "Δ",
        "p",
    ):
        table.add_column(heading, justify="left" if heading in ("pair", "system") else "right")
    for row in results.rows:
        cells = []
        for cell in row.cells:
            p = "" if cell.p_value is None else f"{cell.p_value:.3f}"
            cells += [f"{cell.score:.2f}", f"{cell.difference:+.2f}" if p else "", p]
        table.add_row(row.pair, row.system, f"{row.passages:,}", f"{row.edited:.1%}", *cells)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(table)
    for metric, signature in results.signatures.items():
        console.print(f"{metric}: {signature}", markup=False)
