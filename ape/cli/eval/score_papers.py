"""Tables, figures, methods and result files of `ape eval score`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from ape.cli.extras import require_modules
from ape.cli.terminal import print_line
from ape.files.atomic import explain_write_errors, write_text_atomic

if TYPE_CHECKING:
    from eval.metrics.scoring import EvaluationResults


def write_for_papers(
    results: EvaluationResults, *, form: str, figures: Sequence[Path], methods: bool, result_file: Path | None
) -> bool:
    """Write what was asked for; returns whether something was printed instead of the usual table."""
    from eval.board.conversion import results_to_file
    from eval.paper.figure import draw_figure
    from eval.paper.methods import methods_paragraph
    from eval.paper.tables import format_table

    file = results_to_file(results)
    if result_file:
        with explain_write_errors(result_file, field="results"):
            write_text_atomic(result_file, [file.to_json()])
        print_line(f"The result file is {result_file}.")
    for path in figures:
        require_modules("matplotlib")
        draw_figure(file, path)
        print_line(f"The figure is in {path}.")
    if form != "table":
        typer.echo(format_table(file, cast(Any, form)), nl=False)
    if methods:
        typer.echo(("" if form == "table" else "\n") + methods_paragraph(results))
    return form != "table" or methods
