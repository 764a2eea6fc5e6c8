"""The leaderboard as a static site: an index, a page for each suite and language pair, and the result files.

The same result files give the same bytes: nothing depends on time, machine or the order of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ape.errors import InputError
from ape.files.atomic import explain_write_errors, write_text_atomic
from ape.reports.base_page import Page
from ape.text.languages import language_name
from eval.board.published import published_files
from eval.board.result_file import BoardScore, ResultFile, merge_result_files
from eval.board.table_view import (
    best_score,
    board_metrics,
    board_rows,
    digits,
    format_fixed,
    format_gain,
    systems_everywhere,
)
from eval.report.plots import ScoreInterval, ScorePlot, score_plot

_PAGE = Page(
    "eval.board",
    "eval.report",
    styles=["scores.css", "board.css"],
    filters={"fixed": format_fixed, "gain": format_gain},
)
_PUBLISHED = "published"


def write_site(
    files: Sequence[tuple[str, ResultFile]], folder: Path, *, title: str = "Leaderboard", published: bool = True
) -> list[ResultFile]:
    """Write the site to a new or earlier folder and return its tables; pages of removed suites are deleted.

    `published` adds the rows of the papers that this project builds on. Each file comes with its name.
    """
    papers = ((f"{_PUBLISHED}/{one.key}.json", one) for one in published_files() if published)
    given = [*papers, *sorted(files, key=lambda one: one[0])]
    tables = merge_result_files(given)
    if not any(table.scores for table in tables):
        raise InputError("The result files have no scores.", field="results")
    _check_folder(folder)
    pages = {f"{table.key}.html": _suite_page(table, title) for table in tables}
    pages["index.html"] = _index_page(tables, title)
    data = {name if "/" in name else f"results/{name}": one.to_json() for name, one in given}
    with explain_write_errors(folder, field="output"):
        for name, text in (pages | data).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_text_atomic(folder / name, [text])
    for old in (*folder.glob("*.html"), *folder.glob("results/*.json"), *folder.glob(f"{_PUBLISHED}/*.json")):
        if old.relative_to(folder).as_posix() not in pages | data:
            old.unlink()
    return tables


def _check_folder(folder: Path) -> None:
    """Refuse a folder that is not an earlier site, since files that are not of the site are deleted."""
    index = folder / "index.html"
    ours = index.is_file() and 'content="ape eval board"' in index.read_text(encoding="utf-8", errors="replace")
    if folder.is_dir() and any(folder.iterdir()) and not ours:
        raise InputError(f"{folder} is not empty and not an earlier leaderboard. Name a new folder.", field="output")


def _index_page(tables: list[ResultFile], title: str) -> str:
    measured = {table.suite for table in tables if any(score.origin == "measured" for score in table.scores)}
    suites = sorted({table.suite for table in tables}, key=lambda suite: (suite not in measured, suite))
    pairs = sorted({(table.source_language, table.target_language) for table in tables}, key=_pair_name)
    by_place = {(table.suite, table.source_language, table.target_language): table for table in tables}
    titles = {table.suite: table.title for table in reversed(tables)}
    return _PAGE.render(
        "index.html",
        title=title,
        suites=[(suite, titles[suite]) for suite in suites],
        pairs=[
            (_pair_name(pair), [(table, best_score(table)) if table else None for table in row])
            for pair in pairs
            for row in [[by_place.get((suite, *pair)) for suite in suites]]
        ],
        systems=list(systems_everywhere(tables)),
        digits=lambda table: digits(table, table.metrics[0]),
        pair_name=lambda table: _pair_name((table.source_language, table.target_language)),
    )


def _suite_page(table: ResultFile, title: str) -> str:
    rows = board_rows(table)
    return _PAGE.render(
        "table_page.html",
        board=title,
        table=table,
        pair=_pair_name((table.source_language, table.target_language)),
        metrics=board_metrics(table),
        rows=rows,
        idle=[row.system for row in rows if row.system.role == "do-nothing"],
        plots=[plot for metric in table.metrics if (plot := _plot(table, metric))],
        has_groups=any(score.group for score in table.scores),
    )


def _plot(table: ResultFile, metric: str) -> ScorePlot | None:
    """The measured scores of the metric with their intervals or bounds; None if fewer than two have any."""
    own = [one for one in table.scores if one.metric == metric and one.origin == "measured"]
    spans = {one.system: _span(one) for one in own}
    if sum(span is not None and span.low < span.high for span in spans.values()) < 2:
        return None
    idle = next((one.name for one in table.systems if one.role == "do-nothing"), "")
    return score_plot(metric, spans, baseline=idle)


def _span(score: BoardScore) -> ScoreInterval | None:
    ends = score.interval or score.bounds
    if score.value is None:
        return None
    return ScoreInterval(score.value, *(ends or (score.value, score.value)))


def _pair_name(pair: tuple[str, str]) -> str:
    source, target = (language_name(code) if code != "und" else "unknown" for code in pair)
    return f"{source} to {target}"
