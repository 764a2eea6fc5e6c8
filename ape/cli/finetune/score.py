"""`ape finetune score`: score an adapter or a prompted model against the unedited MT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import require_modules
from ape.cli.finetune.draft_flags import DraftFlags
from ape.cli.flags import expand_flag_groups

if TYPE_CHECKING:
    from finetune.data.example import Example
    from finetune.scoring.score_table import ScoreTable

RESULTS_FILE = "results.json"
_HEADINGS = tuple(heading for metric in ("TER", "BLEU", "chrF") for heading in (metric, "Δ", "p"))


@expand_flag_groups
def score(
    flags: DraftFlags,
    split: Annotated[str, typer.Option(help="Split to score.")] = "test",
    untuned: Annotated[
        int, typer.Option(min=0, help="Number of examples to score with the prompted base model too; 0 for none.")
    ] = 0,
) -> None:
    """Post-edit examples with edit filter and guards, and score them by language pair."""
    import asyncio
    import json

    require_modules("datasets")
    from ape.files.atomic import explain_write_errors, write_text_atomic

    examples, what = flags.examples(split)
    results, answers = asyncio.run(_score(flags, examples, untuned))
    output = json.dumps({"passages": what, "answers": answers, **results.to_dict()}, indent=1)
    if flags.json_output:
        typer.echo(output)
    else:
        _show(results)
    # Print before writing: the scores took long, and the disk may be full.
    path = flags.adapter / RESULTS_FILE if flags.adapter else Path(f"{flags.base_name}.{RESULTS_FILE}")
    with explain_write_errors(path, remedy="Free some space, or choose another path."):
        write_text_atomic(path, output + "\n")


async def _score(flags: DraftFlags, examples: list[Example], untuned: int) -> tuple[ScoreTable, str]:
    """The scores, and the revision of the model or adapter they are for."""
    from ape.adapters import read_card
    from finetune.data.example import sample_evenly
    from finetune.scoring.oracle import best_selection
    from finetune.scoring.score_table import (
        drafts_with_guards,
        drafts_without_guards,
        mt_without_loops,
        post_edits_as_served,
        score_systems,
    )

    settings = flags.settings()
    made = await flags.load_or_make_drafts(examples, settings)
    label = "tuned" if flags.adapter else made.model.name
    systems = {
        label: await post_edits_as_served(made, examples),
        f"{label}, without the gate": drafts_with_guards(made, examples),
        f"{label}, without gate and guards": drafts_without_guards(made, examples),
        "best that any gate could do": best_selection(made, examples),
    }
    loops = mt_without_loops(examples)
    if loops != [example.mt for example in examples]:
        systems["loops said once, no model"] = loops
    results = score_systems(examples, systems)
    if untuned and flags.adapter:
        few = sample_evenly(examples, untuned)
        base = await flags.load_or_make_drafts(few, settings, base=True)
        systems = {
            "untuned": drafts_with_guards(base, few),
            "untuned, without guards": drafts_without_guards(base, few),
        }
        results = results.joined_with(score_systems(few, systems, of=examples))
    return results, read_card(flags.adapter).fingerprint if flags.adapter else made.model.revision


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
