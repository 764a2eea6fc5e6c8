"""`ape finetune gate`: fit the filter of uncertain edits of an adapter or of a prompted model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import require_modules
from ape.cli.finetune.draft_flags import DraftFlags
from ape.cli.flags import expand_flag_groups

if TYPE_CHECKING:
    from ape.edits.filter import EditFilter
    from finetune.training.edit_filter import FittedEditFilter


@expand_flag_groups
def gate(
    flags: DraftFlags,
    split: Annotated[str, typer.Option(help="Split to fit on; must not be the training split.")] = "dev",
    seed: Annotated[int, typer.Option(help="Seed of the cross-validation folds.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Profile to write for a prompted model; MODEL.profile.json by default."),
    ] = None,
) -> None:
    """Fit the edit filter on drafts of held-out examples.

    It is written to the adapter's card, or for a prompted model (--base alone) to a profile, which is read if it is
    next to the .gguf file under the same name. The weights of a prompted model's present filter are the starting point.
    """
    import asyncio
    import json

    require_modules("datasets")
    from finetune.training.edit_filter import NO_PRIOR, DraftedExample, fit_edit_filter

    examples, what = flags.examples(split)
    made = asyncio.run(flags.load_or_make_drafts(examples, flags.settings()))
    drafted = [DraftedExample(example, made.draft(example)) for example in examples]
    prior = NO_PRIOR if flags.adapter else made.model.edit_filter or NO_PRIOR
    fitted = fit_edit_filter(drafted, seed=seed, joins_neighbours=not flags.adapter, prior=prior)
    path = _write(flags, fitted.edit_filter.model_copy(update={"fitted_on": what}), made.model.format, output)
    if flags.json_output:
        results = {
            "threshold": fitted.edit_filter.threshold,
            "kept": fitted.edits_kept,
            "edits": fitted.edits,
            "won": fitted.words_gained,
            "words": fitted.words,
            "loops": fitted.loops_gained,
            "cuts_loops": fitted.edit_filter.cuts_loops,
            "restores_names": fitted.edit_filter.restores_names,
            "kinds": {kind: asdict(counts) for kind, counts in fitted.kinds.items()},
        }
        typer.echo(json.dumps(results))
    else:
        _show(fitted)
        typer.echo(f"The filter was written to {path}.")


def _write(flags: DraftFlags, edit_filter: EditFilter, prompt_format: str, output: Path | None) -> Path:
    """Write the filter to the card of the adapter, or to a profile."""
    from ape.adapters import amend_card
    from ape.files.atomic import explain_write_errors, write_text_atomic
    from ape.models.profile import PROFILE_SUFFIX, ModelProfile

    if flags.adapter:
        amend_card(flags.adapter, {"gate": edit_filter.model_dump(mode="json")})
        return flags.adapter
    path = output or Path(f"{flags.base_name}{PROFILE_SUFFIX}")
    profile = ModelProfile(format=prompt_format, edit_filter=edit_filter)
    with explain_write_errors(path, remedy="Free some space, or choose another path."):
        write_text_atomic(path, profile.model_dump_json(indent=2) + "\n")
    return path


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
    typer.echo(
        "By kind of edit: how many bring the MT closer, and how many take it away, of all and of those that pass:"
    )
    for kind, one in fitted.kinds.items():
        off = ", refused" if kind in fitted.edit_filter.refused_kinds else ""
        passed = f"{one.passed:,} pass (+{one.passed_helped:,} -{one.passed_harmed:,})"
        typer.echo(f"  {kind}: {one.edits:,} (+{one.helped:,} -{one.harmed:,}), {passed}{off}")
