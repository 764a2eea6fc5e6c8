"""`ape finetune gate`: learn which of an adapter's edits to let through, from passages it was not trained on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import needs
from ape.cli.flags import JsonFlag

if TYPE_CHECKING:
    from finetune.gating import Fitted


def gate(
    adapter: Annotated[Path, typer.Argument(help="The adapter, exported to GGUF.")],
    data: Annotated[Path | None, typer.Option(help="What `ape finetune build` wrote.")] = None,
    split: Annotated[
        str, typer.Option(help="The examples to learn from; not those it was trained on.")
    ] = "dev",
    rows: Annotated[
        list[Path] | None, typer.Option(help="Instead: files of rows, taken whole; may be repeated.")
    ] = None,
    drafts: Annotated[
        Path | None, typer.Option(help="Where drafts are kept as they come; beside the adapter if left out.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Of the embedded engine; all cores but one.")] = None,
    seed: Annotated[int, typer.Option(help="Of the folds.")] = 1,
    json_output: JsonFlag = False,
) -> None:
    """Draft the examples, fit the gate on what helped, and write it into the adapter's card."""
    import asyncio
    import json

    with needs("train"):
        import datasets  # noqa: F401
    from ape.adapters import amend_card, read_card
    from ape.cli.finetune.drafts import chosen_examples, drafted
    from ape.settings import load_settings
    from finetune.gating import Drafted, fit

    read_card(adapter)  # a sentence now rather than after an hour of drafting
    examples = chosen_examples(data, split, rows or [])
    settings = load_settings(threads=threads)
    made = asyncio.run(drafted(adapter, examples, drafts or adapter / "drafts.jsonl", settings))
    fitted = fit([Drafted(example, made.draft(example)) for example in examples], seed=seed)
    amend_card(adapter, {"gate": fitted.gate.model_dump(mode="json")})
    if json_output:
        told = {
            "threshold": fitted.gate.threshold,
            "kept": fitted.kept,
            "edits": fitted.edits,
            "won": fitted.won,
        }
        typer.echo(json.dumps(told))
    else:
        _show(fitted)


def _show(fitted: Fitted) -> None:
    typer.echo(
        f"{fitted.edits:,} edits were found, and {fitted.kept:,} would be let through (threshold "
        f"{fitted.gate.threshold:g}). In cross-validation, words of distance to the human text won:"
    )
    for pair, won in fitted.won.items():
        typer.echo(f"  {pair}: {won:+,g} of {fitted.words[pair]:,} words")
