"""Tables of a result file as LaTeX, CSV or Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Literal, TypeAlias

from eval.board.result_file import BoardScore, ResultFile
from eval.board.table_view import BoardMetric, BoardRow, board_metrics, board_rows, format_fixed

TableFormat: TypeAlias = Literal["latex", "csv", "markdown"]
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}
_CSV = (
    "suite", "source_language", "target_language", "system", "role", "metric", "value", "low", "high", "interval",
    "better", "group", "origin", "signature",
)  # fmt: skip


def format_table(file: ResultFile, form: TableFormat) -> str:
    """The table: a row for each system as LaTeX (booktabs) or Markdown, a row for each score as CSV."""
    return {"latex": _latex, "csv": _csv, "markdown": _markdown}[form](file)


def _csv(file: ResultFile) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV, lineterminator="\n")
    writer.writeheader()
    for row in board_rows(file):
        for cell in row.cells:
            if cell.score is not None:
                writer.writerow(_csv_row(file, row, cell.score))
    return text.getvalue()


def _csv_row(file: ResultFile, row: BoardRow, score: BoardScore) -> dict[str, object]:
    ends = score.interval or score.bounds or ("", "")
    kind = "95%" if score.interval else "bounds" if score.bounds else ""
    return {
        "suite": file.suite,
        "source_language": file.source_language,
        "target_language": file.target_language,
        "system": score.system,
        "role": row.system.role,
        "metric": score.metric,
        "value": "" if score.value is None else score.value,
        "low": ends[0],
        "high": ends[1],
        "interval": kind,
        "better": score.better,
        "group": score.group or "",
        "origin": score.origin,
        "signature": score.signature,
    }


def _markdown(file: ResultFile) -> str:
    metrics = board_metrics(file)
    heads = ["system", *(f"{one.name} {'↑' if one.better == 'higher' else '↓'}" for one in metrics)]
    lines = [[_name(row), *_cells(row, metrics)] for row in board_rows(file)]
    rows = [heads, ["---", *["---:"] * len(metrics)], *lines]
    table = "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)
    return table + "".join(f"\n{note}\n" for note in _notes(file)) + _signature_lines(metrics)


def _signature_lines(metrics: tuple[BoardMetric, ...]) -> str:
    known = [f"- {one.name}: `{signature}`\n" for one in metrics for signature in one.signatures]
    return f"\n{''.join(known)}" if known else ""


def _latex(file: ResultFile) -> str:
    metrics = board_metrics(file)
    arrows = {"higher": r"$\uparrow$", "lower": r"$\downarrow$"}
    heads = ["System", *(f"{_escape(one.name)} {arrows[one.better]}" for one in metrics)]
    best = [_best(file, one) for one in metrics]
    body = []
    for row in board_rows(file):
        cells = [
            rf"\textbf{{{_escape(text)}}}" if cell.score is not None and cell.score is top else _escape(text)
            for text, cell, top in zip(_cells(row, metrics), row.cells, best, strict=True)
        ]
        body.append(" & ".join([_escape(_name(row)), *cells]) + r" \\")
    notes = " ".join(_escape(note) for note in _notes(file))
    lines = [
        "% needs booktabs",
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_escape(file.title)}. {notes}}}",
        rf"\label{{tab:{file.key}}}",
        r"\end{table}",
        *(f"% {one.name}: {signature}" for one in metrics for signature in one.signatures),
    ]
    return "\n".join(lines) + "\n"


def _best(file: ResultFile, metric: BoardMetric) -> BoardScore | None:
    """The best measured score of a machine; it is set in bold."""
    people = {system.name for system in file.systems if system.role == "human"}
    sign = 1 if metric.better == "higher" else -1
    own = [
        (sign * score.value, score)
        for score in file.scores
        if score.metric == metric.name
        and score.value is not None
        and score.origin == "measured"
        and score.system not in people
    ]
    return max(own, key=lambda one: one[0])[1] if own else None


def _name(row: BoardRow) -> str:
    words: list[str] = [row.system.role] if row.system.role != "system" else []
    words += ["published"] if row.origin == "published" else []
    return f"{row.system.name} ({', '.join(words)})" if words else row.system.name


def _cells(row: BoardRow, metrics: tuple[BoardMetric, ...]) -> Iterator[str]:
    for cell, metric in zip(row.cells, metrics, strict=True):
        yield _cell(cell.score, metric.digits) if cell.score else ""


def _cell(score: BoardScore, digits: int) -> str:
    value = "" if score.value is None else format_fixed(score.value, digits)
    ends = [format_fixed(end, digits) for end in score.interval or score.bounds or ()]
    if not ends:
        return value or "n/a"
    return f"{value} [{', '.join(ends)}]" if score.interval else f"{value} ({'–'.join(ends)})".strip()


def _notes(file: ResultFile) -> list[str]:
    measured = [score for score in file.scores if score.origin == "measured"]
    notes = ["Brackets: 95% intervals."] if any(score.interval for score in measured) else []
    notes += ["Parentheses: lowest and highest value."] if any(score.bounds for score in measured) else []
    return [*notes, *file.notes]


def _escape(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text).replace("−", "$-$").replace("–", "--")
