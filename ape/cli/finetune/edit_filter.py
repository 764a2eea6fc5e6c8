"""`ape finetune gate`: fit the filter of uncertain edits of an adapter."""

from __future__ import annotations

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
    from finetune.training.edit_filter import FittedEditFilter


def gate(
    adapter: AdapterArgument,
    data: DataFlag = None,
    split: Annotated[str, typer.Option(help="Split to fit on; must not be the training split.")] = "dev",
    rows: RowsFlag = None,
    drafts: DraftsFlag = None,
    base: BaseFlag = None,
    threads: ThreadsFlag = None,
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation folds.")] = 1,
    json_output: JsonFlag = False,
) -> None:
    """Fit the edit filter on drafts of held-out examples, and write it to the adapter's card."""
    import asyncio
    import json

    require_modules("datasets")
    from ape.adapters import amend_card
    from ape.settings import load_settings
    from finetune.training.edit_filter import DraftedExample, fit_edit_filter

    require_card(adapter)
    examples, what = chosen_examples(adapter, data, split, rows)
    settings = load_settings(threads=threads, model=base)
    made = asyncio.run(load_or_make_drafts(adapter, examples, drafts or adapter / DRAFTS_FILE, settings))
    fitted = fit_edit_filter([DraftedExample(example, made.draft(example)) for example in examples], seed=seed)
    amend_card(adapter, {"gate": fitted.edit_filter.model_dump(mode="json") | {"fitted_on": what}})
    if json_output:
        output = {
            "threshold": fitted.edit_filter.threshold,
            "kept": fitted.edits_kept,
            "edits": fitted.edits,
            "won": fitted.words_gained,
            "words": fitted.words,
            "loops": fitted.loops_gained,
            "cuts_loops": fitted.edit_filter.cuts_loops,
        }
        typer.echo(json.dumps(output))
    else:
        _show(fitted)


def _show(fitted: FittedEditFilter) -> None:
    typer.echo(f"{fitted.edits:,} edits were found; the threshold is {fitted.edit_filter.threshold:g}.")
    typer.echo(
        f"In cross-validation, {fitted.edits_kept:,} edits pass, with the threshold of the other folds. Gain in words "
        "of distance to the human translation:"
    )
    for pair, won in fitted.words_gained.items():
        typer.echo(f"  {pair}: {won:+,g} of {fitted.words[pair]:,} words")
    if fitted.loops_gained:
        gains = ", ".join(f"{pair} {won:+,g}" for pair, won in fitted.loops_gained.items())
        loops = "are" if fitted.edit_filter.cuts_loops else "are not"
        typer.echo(f"Loops of the MT that drafts leave {loops} cut; the gain of cutting them: {gains}.")
