"""The figure of a result file: scores with their intervals, as SVG or PDF, with the same bytes each time."""

from __future__ import annotations

from pathlib import Path

from ape.errors import InputError
from ape.files.atomic import explain_write_errors
from eval.board.result_file import ResultFile
from eval.board.table_view import board_metrics, board_rows

FIGURE_FORMATS = (".svg", ".pdf")
_MOST_COLUMNS = 3
_COLORS = {"system": "#2f6b5b", "do-nothing": "#a4452c", "human": "#4a5f96"}


def draw_figure(file: ResultFile, path: Path) -> None:
    """Write the measured scores to an .svg or .pdf file. Needs matplotlib."""
    if path.suffix.lower() not in FIGURE_FORMATS:
        raise InputError(f"A figure is {' or '.join(FIGURE_FORMATS)}, not {path.name}.", field="figure")
    import matplotlib
    from matplotlib.figure import Figure

    metrics = board_metrics(file)
    rows = [row for row in reversed(board_rows(file)) if row.origin == "measured"]
    if not rows:
        raise InputError("There are no measured scores to draw.", field="figure")
    across = min(_MOST_COLUMNS, len(metrics))
    down = -(-len(metrics) // across)
    # Text stays text, and identifiers depend on the content alone.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": file.key, "pdf.fonttype": 42, "font.size": 8}):
        figure = Figure(figsize=(2.6 * across + 1.2, (0.24 * len(rows) + 0.7) * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharey=True)
        for place, plot in enumerate(axes.flat):
            if place >= len(metrics):
                plot.set_visible(False)
                continue
            plot.set_title(f"{metrics[place].name} {'↑' if metrics[place].better == 'higher' else '↓'}")
            for height, row in enumerate(rows):
                score = row.cells[place].score
                if score is None:
                    continue
                color = _COLORS[row.system.role]
                if ends := score.interval or score.bounds:
                    plot.plot(ends, [height, height], color=color, linewidth=2.5, alpha=0.4, solid_capstyle="butt")
                if score.value is not None:
                    plot.plot([score.value], [height], "o", color=color, markersize=4)
            plot.set_yticks(range(len(rows)), [row.system.name for row in rows])
            plot.grid(axis="x", linewidth=0.3)
            plot.spines[["top", "right"]].set_visible(False)
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"CreationDate": None}
        with explain_write_errors(path, field="figure"):
            figure.savefig(path, metadata=metadata)
