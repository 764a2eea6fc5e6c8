"""`ape book names`: build the ledger of a book, print it, and write it to a file or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from ape.cli.terminal import print_line, table_console
from ape.files.atomic import explain_write_errors
from ape.jobs.names_update import complete_ledger
from ape.jobs.output import check_output_path
from ape.jobs.planning import open_files
from ape.ledger.build import build_ledger
from ape.ledger.entity import Entity, EntityStatus, Ledger, LedgerParagraph
from ape.ledger.files.formats import check_names_suffix, read_names, write_names
from ape.ledger.files.json_ledger import write_json_ledger
from ape.reports.job_report import check_report_path
from ape.reports.names_page import write_names_page

if TYPE_CHECKING:
    from ape.jobs.job_files import JobFiles

_MAX_ROWS = 200
_MAX_WRONG = 6


def show_names(
    files: JobFiles,
    *,
    source_language: str | None,
    target_language: str | None,
    known: Path | None,
    only_known: bool,
    output: Path | None,
    format: str | None,
    page: Path | None,
    overwrite: bool,
    json_output: bool,
) -> int:
    """Build the ledger, write the requested files, print the table or JSON, and return the exit code."""
    if output:
        check_names_suffix(output, format)
        check_output_path(
            output, inputs=(*files.paths, *([known] if known and not overwrite else [])), overwrite=overwrite
        )
    if page:
        check_report_path(page, keep=(*files.paths, *filter(None, (output, known))))
    opened = open_files(files, source_language=source_language, target_language=target_language)
    languages = {"source_language": opened.source_language, "target_language": opened.target_language}
    given = read_names(known, **languages) if known else None
    paragraphs = [LedgerParagraph(one.id, one.source, one.mt) for one in opened.pairing().pairs() if not one.skip]
    if given and only_known:
        ledger = complete_ledger(given, paragraphs)
    else:
        ledger = build_ledger(
            paragraphs, known=given, source_language=opened.source_language, target_language=opened.target_language
        )
    for note in ledger.notes:
        print_line(note)
    if output:
        with explain_write_errors(output):
            write_names(ledger, output, format=format)
        print_line(f"{output}: {len(ledger.entities):,} names. Correct it, then: ape book edit … --names {output}")
    if page:
        with explain_write_errors(page):
            write_names_page(page, ledger, paragraphs, title=f"Names of {files.mt.name}")
        print_line(f"{page}: the names in their sentences.")
    if json_output:
        typer.echo(write_json_ledger(ledger), nl=False)
    elif not output:
        _print_table(ledger)
    return 0


def _print_table(ledger: Ledger) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("source", "rendering", "kind", "gender", "paragraphs", "other renderings"):
        table.add_column(heading, justify="right" if heading == "paragraphs" else "left", overflow="fold")
    listed = [entity for entity in ledger.entities if entity.status is not EntityStatus.IGNORED]
    for entity in listed[:_MAX_ROWS]:
        table.add_row(*map(escape, _row(entity)))
    if not listed:
        print_line("No names were found.")
        return
    table_console().print(table)
    if len(listed) > _MAX_ROWS:
        print_line(f"… and {len(listed) - _MAX_ROWS:,} more; write all of them with -o names.csv.")


def _row(entity: Entity) -> tuple[str, ...]:
    right = {entity.target, *entity.short_forms}
    others = [one for one in entity.variants if one.text not in right]
    wrong = ", ".join(f"{one.text} {one.count}{'' if one.firm else '?'}" for one in others[:_MAX_WRONG])
    more = f" and {len(others) - _MAX_WRONG} more" if len(others) > _MAX_WRONG else ""
    gender = "" if entity.gender == "unknown" else str(entity.gender)
    forms = " ".join(form.text for form in entity.source_forms)
    return forms, entity.target or "?", str(entity.kind), gender, f"{entity.count:,}", wrong + more
