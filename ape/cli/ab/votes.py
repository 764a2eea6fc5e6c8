"""`ape ab import` and `ape ab export`: read and write votes in several formats."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ape.cli.ab.flags import StoreFlag, TrialArgument, open_trials
from ape.cli.flags import JsonFlag
from ape.files.atomic import explain_write_errors


class VoteFileFormat(StrEnum):
    """Formats of vote files."""

    JSONL = "jsonl"
    CSV = "csv"
    LABEL_STUDIO = "label-studio"
    PEARMUT = "pearmut"


def import_votes(
    trial: TrialArgument,
    files: Annotated[
        list[Path], typer.Argument(help="Files of offline pages, CSV, JSON lines, Label Studio or Pearmut.")
    ],
    store: StoreFlag = None,
    replace: Annotated[bool, typer.Option("--overwrite", help="Replace earlier votes that differ.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Import votes from files into the store; an error imports none of them.

    Importing the same file again changes nothing.
    """
    from eval.human.trial_file import read_trial
    from eval.human.vote_reader import read_located_votes

    made = read_trial(trial)
    located = [vote for path in files for vote in read_located_votes(path, made)]
    places, votes = [place for place, _ in located], [vote for _, vote in located]
    with open_trials(store) as trials:
        trials.add(made)
        outcomes = trials.save_all(made.id, votes, replace=replace, places=places)
    counts = {what: outcomes[what] for what in ("new", "same", "replaced")}
    if json_output:
        typer.echo(json.dumps({"trial": made.id, **counts}))
        return
    raters = len({vote.rater for vote in votes})
    typer.echo(
        f"{len(votes):,} votes of {raters:,} {'rater' if raters == 1 else 'raters'}: {counts['new']:,} new, "
        f"{counts['replaced']:,} changed, {counts['same']:,} unchanged."
    )


def export(
    trial: TrialArgument,
    store: StoreFlag = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; stdout by default.")] = None,
    format: Annotated[
        VoteFileFormat, typer.Option("--to", help="JSON lines, CSV, or annotations as of Label Studio or Pearmut.")
    ] = VoteFileFormat.JSONL,
) -> None:
    """Export the votes of the store, with system names."""
    from ape.cli.terminal import print_line
    from eval.human.label_studio import export_votes as as_tasks
    from eval.human.pearmut import export_annotations
    from eval.human.trial_file import read_trial
    from eval.human.vote_writer import votes_to_csv, votes_to_jsonl

    made = read_trial(trial)
    with open_trials(store) as trials:
        votes = trials.votes(made.id)
    match format:
        case VoteFileFormat.JSONL:
            text = votes_to_jsonl(votes, made.id)
        case VoteFileFormat.CSV:
            text = votes_to_csv(votes, made.id)
        case VoteFileFormat.LABEL_STUDIO:
            text = json.dumps(as_tasks(made, votes), ensure_ascii=False, indent=1) + "\n"
        case VoteFileFormat.PEARMUT:
            text = json.dumps(export_annotations(made, votes), ensure_ascii=False, indent=1) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    with explain_write_errors(output, field="output"):
        output.write_text(text, encoding="utf-8", errors="replace", newline="")
    print_line(f"{len(votes):,} votes are in {output}.")
