"""`ape eval suite`: published test suites, with the published results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.corpus_flags import parse_systems
from ape.cli.flags import JsonFlag, check_output_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ape.cli.eval.wide_table import TableLine
    from eval.suites.suite import SuiteResult, SuiteRow, SuiteTable


def suite(
    name: Annotated[str, typer.Argument(help="Name of the suite; `list` prints all suites and their data.")],
    system: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE", help="System and the file of its outputs; repeatable.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Data of the suite: a JSONL file (cai-xiong, ltcr), a chapter folder as published (bwb), or a set "
            "from `ape eval mine` (dip)."
        ),
    ] = None,
    cases: Annotated[Path | None, typer.Option(help="Write all verdicts to this JSON lines file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an HTML page with tables and figures.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Run a published test suite; without systems, score its references only."""
    import json

    from ape.cli.terminal import print_line
    from ape.errors import InputError
    from ape.files.atomic import explain_write_errors, write_text_atomic

    check_output_file(cases, flag="--cases")
    check_output_file(html, flag="--html")
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.suites import SUITES

    if name == "list":
        for known in SUITES.values():
            typer.echo(f"{known().name}: {known().paper}\n  {known().data_source}")
        return
    if name not in SUITES:
        raise InputError(f"There is no suite {name!r}. Suites: {', '.join(SUITES)}.")
    chosen = SUITES[name]()
    if data is None:
        raise InputError(f"Give the data of the suite with --data PATH. {chosen.data_source}", field="data")
    with use_annotation_cache(default_annotation_folder()):
        outcome = chosen.run(data, parse_systems(system or (), names_alone=False)[1])
        if html is not None:
            from eval.suites.page import write_page

            write_page(outcome, html)
            print_line(f"The page is in {html}.")
    if cases is not None:
        with explain_write_errors(cases):
            write_text_atomic(cases, (f"{json.dumps(case, ensure_ascii=False)}\n" for case in outcome.cases))
    if json_output:
        typer.echo(json.dumps(outcome.to_dict(), ensure_ascii=False, indent=1))
    else:
        _show(outcome)


def _show(outcome: SuiteResult) -> None:
    from ape.cli.eval.wide_table import print_wide_table
    from ape.cli.terminal import table_console

    console = table_console()
    for table in outcome.tables:
        console.print(table.title, style="bold", markup=False)
        print_wide_table(console, table.row_label, table.columns, list(_lines(table)), wrap_headings=True)
        if table.note:
            console.print(table.note, markup=False)
        console.print()
    if outcome.annotation_issues:
        console.print(f"{len(outcome.annotation_issues):,} annotation issues", style="bold", markup=False)
    for issue in outcome.annotation_issues:
        console.print(issue, markup=False, soft_wrap=True)
    for metric, signature in outcome.signatures.items():
        if signature:
            console.print(f"{metric}: {signature}", markup=False, soft_wrap=True)
    console.print(f"Published rows, marked with *, are from {outcome.paper}.", markup=False)


def _lines(table: SuiteTable) -> Iterator[TableLine]:
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine

    for row in table.rows:
        style = "dim" if row.published else ""
        name = f"{row.name} *" if row.published else row.name
        yield TableLine(Text(name, style), [Text(cell, style) for cell in _cells(table, row)])
        if row.bounds:
            yield _detail("  low–high", [_bounds(row, column) for column in table.columns])
        if any(row.undecided.values()):
            counts = (row.undecided.get(column, 0) for column in table.columns)
            yield _detail("  undecided", [str(count) if count else "" for count in counts])


def _detail(name: str, cells: list[str]) -> TableLine:
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine

    return TableLine(Text(name, "dim"), [Text(cell, "dim") for cell in cells])


def _bounds(row: SuiteRow, column: str) -> str:
    return "{:.1f}–{:.1f}".format(*row.bounds[column]) if column in row.bounds else ""


def _cells(table: SuiteTable, row: SuiteRow) -> list[str]:
    from ape.reports.number_format import format_table_value

    return [format_table_value(row.cells.get(column)) for column in table.columns]
