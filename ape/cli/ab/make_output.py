"""Files for raters, and the summary, of `ape ab make`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ape.errors import InputError
from ape.files.atomic import explain_write_errors

if TYPE_CHECKING:
    from eval.human.trial import Trial


def write_sheets(trial: Trial, folders: Mapping[str, Path | None]) -> None:
    """Write a file for each rater to each folder."""
    chosen = {kind: folder for kind, folder in folders.items() if folder}
    for kind, folder in chosen.items():
        for name, text in _files(trial, kind):
            with explain_write_errors(folder / name, field="output"):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")


def _files(trial: Trial, kind: str) -> Iterator[tuple[str, str]]:
    from eval.human.label_studio import build_interface, build_tasks
    from eval.human.rater_page import offline_page
    from eval.human.sheet import public_sheet
    from eval.human.vote_writer import sheet_to_csv, sheet_to_jsonl

    for rater, stem in _stems(trial.raters).items():
        match kind:
            case "offline":
                yield f"{stem}.html", offline_page(public_sheet(trial, rater))
            case "label-studio":
                yield f"{stem}.json", json.dumps(build_tasks(trial, rater), ensure_ascii=False, indent=1)
            case "csv":
                # The byte order mark tells spreadsheets that the file is UTF-8.
                yield f"{stem}.csv", "\ufeff" + sheet_to_csv(trial, rater)
            case "jsonl":
                yield f"{stem}.jsonl", sheet_to_jsonl(trial, rater)
    if kind == "label-studio":
        yield "interface.xml", build_interface(trial)


def _stems(raters: tuple[str, ...]) -> dict[str, str]:
    """File names without suffix, by rater."""
    stems = {rater: re.sub(r"[^\w.@-]+", "_", rater).strip("._") or "rater" for rater in raters}
    folded = [stem.casefold() for stem in stems.values()]
    if len(set(folded)) < len(folded):
        raise InputError("Two raters would have files of the same name: choose other names.", field="raters")
    return stems


def print_trial(trial: Trial, output: Path, folders: Mapping[str, Path | None]) -> None:
    """Print what was made, what was left out, and the next command."""
    made = dict(trial.design)
    found = {what: _counted(made[f"found_{what}s"], what) for what in ("item", "passage", "repeat")}
    tests = f"{found['repeat']} and {_counted(made['found_spam'], 'shuffled text')}"
    typer.echo(f"{found['item']} with {', '.join(trial.systems)} from {found['passage']}; also {tests}.")
    for what, unit, why in (
        ("identical", "pair", "both systems have the same text"),
        ("length", "passage", "the length is outside the window"),
        ("missing", "passage", "a system has no text"),
    ):
        if count := made[f"left_out_{what}"]:
            typer.echo(f"Left out: {_counted(count, unit)}, where {why}.")
    typer.echo(f"The trial {trial.id} is in {output}. It reveals the systems: keep it from raters.")
    for kind, folder in folders.items():
        if folder:
            typer.echo(f"For the raters ({kind}): {folder}")
    if not any(folders.values()):
        typer.echo(f"Next: ape ab serve {output} --raters anna,ben")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
