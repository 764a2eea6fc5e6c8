"""`ape finetune score`: score an adapter against the unedited MT and its base model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import require_modules
from ape.cli.finetune.draft_flags import (
    DRAFTS_FILE,
    AdapterArgument,
    BaseFlag,
    DataFlag,
    DraftsFlag,
    RowsFlag,
    ThreadsFlag,
    chosen_examples,
    load_or_make_drafts,
    require_card,
)
from ape.cli.flags import JsonFlag

if TYPE_CHECKING:
    from ape.settings import Settings
    from finetune.data.example import Example
    from finetune.scoring.score_table import ScoreTable

RESULTS_FILE = "results.json"
_HEADINGS = tuple(heading for metric in ("TER", "BLEU", "chrF") for heading in (metric, "Δ", "p"))


def score(
    adapter: AdapterArgument,
    data: DataFlag = None,
    split: Annotated[str, typer.Option(help="Split to score.")] = "test",
    rows: RowsFlag = None,
    drafts: DraftsFlag = None,
    base: BaseFlag = None,
    untuned: Annotated[
        int, typer.Option(min=0, help="Number of examples to score with the prompted base model too; 0 for none.")
    ] = 0,
    threads: ThreadsFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Post-edit examples with edit filter and guards, and score them by language pair."""
    import asyncio
    import json

    require_modules("datasets")
    from ape.adapters import read_card
    from ape.files.atomic import explain_write_errors, write_text_atomic
    from ape.settings import load_settings

    require_card(adapter)
    examples, what = chosen_examples(adapter, data, split, rows)
    answers = read_card(adapter).fingerprint
    settings = load_settings(threads=threads, model=base)
    path = drafts or adapter / DRAFTS_FILE
    results = asyncio.run(_score(adapter, examples, path, untuned, settings=settings))
    output = json.dumps({"passages": what, "answers": answers, **results.to_dict()}, indent=1)
    if json_output:
        typer.echo(output)
    else:
        _show(results)
    # Print before writing: the scores took long, and the disk may be full.
    path = adapter / RESULTS_FILE
    with explain_write_errors(path, remedy="Free some space, or choose another path."):
        write_text_atomic(path, output + "\n")


async def _score(adapter: Path, examples: list[Example], path: Path, untuned: int, *, settings: Settings) -> ScoreTable:
    from finetune.data.example import sample_evenly
    from finetune.scoring.score_table import (
        drafts_with_guards,
        drafts_without_guards,
        mt_without_loops,
        post_edits_as_served,
        score_systems,
    )

    made = await load_or_make_drafts(adapter, examples, path, settings)
    systems = {
        "tuned": await post_edits_as_served(made, examples),
        "tuned, without the gate": drafts_with_guards(made, examples),
        "tuned, without gate and guards": drafts_without_guards(made, examples),
    }
    loops = mt_without_loops(examples)
    if loops != [example.mt for example in examples]:
        systems["loops said once, no model"] = loops
    results = score_systems(examples, systems)
    if untuned:
        few = sample_evenly(examples, untuned)
        base = await load_or_make_drafts(adapter, few, path, settings, base=True)
        systems = {
            "untuned": drafts_with_guards(base, few),
            "untuned, without guards": drafts_without_guards(base, few),
        }
        results = results.joined_with(score_systems(few, systems, of=examples))
    return results


def _show(results: ScoreTable) -> None:
    from rich.table import Table

    from ape.cli.terminal import table_console

    table = Table(box=None, pad_edge=False)
    for heading in ("pair", "system", "passages", "edited", *_HEADINGS):
        table.add_column(heading, justify="left" if heading in ("pair", "system") else "right")
    for row in results.rows:
        cells = []
        for cell in row.cells:
            p = "" if cell.p_value is None else f"{cell.p_value:.3f}"
            cells += [f"{cell.score:.2f}", f"{cell.difference:+.2f}" if p else "", p]
        passages = f"{row.passages:,}" + (f" of {row.of:,}" if row.passages < row.of else "")
        table.add_row(row.pair, row.system, passages, f"{row.edited:.1%}", *cells)
    console = table_console(140)
    console.print(table)
    console.print("Δ and p are relative to the unedited MT of the same passages.")
    for metric, signature in results.signatures.items():
        console.print(f"{metric}: {signature}", markup=False)
