"""The rows and cells of a suite's table, as the pages and the tables for papers show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval.board.result_file import BoardScore, BoardSystem, ResultFile, ScoreOrigin


@dataclass(frozen=True, slots=True)
class BoardCell:
    """A score with its difference from the do-nothing row of the same origin; None if the system has no score."""

    metric: str
    score: BoardScore | None
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A system's row; a system that a paper and we measured has two rows."""

    system: BoardSystem
    origin: ScoreOrigin
    cells: tuple[BoardCell, ...]


@dataclass(frozen=True, slots=True)
class BoardMetric:
    """A column: its direction and the signatures of its measured scores."""

    name: str
    better: str
    digits: int
    signatures: tuple[str, ...]


def board_metrics(file: ResultFile) -> tuple[BoardMetric, ...]:
    """The columns of the table."""
    found = []
    for name in file.metrics:
        own = [score for score in file.scores if score.metric == name]
        signatures = tuple(dict.fromkeys(score.signature for score in own if score.signature))
        found.append(BoardMetric(name, own[0].better, digits(file, name), signatures))
    return tuple(found)


def digits(file: ResultFile, metric: str) -> int:
    """Decimals of a metric's scores: three for shares, otherwise two."""
    values = (abs(one.value) for one in file.scores if one.metric == metric and one.value is not None)
    return 3 if max(values, default=100.0) <= 1 else 2


def format_fixed(value: float, digits: int) -> str:
    """A number with so many decimals and a typographic minus."""
    return f"{value:,.{digits}f}".replace("-", "−")


def format_gain(value: float, digits: int) -> str:
    """The same with its sign."""
    return f"{value:+,.{digits}f}".replace("-", "−")


def board_rows(file: ResultFile) -> tuple[BoardRow, ...]:
    """The rows: measured before published, each from the best to the worst by the first metric that it has."""
    described = {system.name: system for system in file.systems}
    idle = {name for name, system in described.items() if system.role == "do-nothing"}
    scores = {(one.system, one.metric, one.origin): one for one in file.scores}
    origins: tuple[ScoreOrigin, ...] = ("measured", "published")
    rows = [
        BoardRow(
            described.get(name, BoardSystem(name=name)),
            origin,
            tuple(
                BoardCell(metric, score, _difference(score, _idle_score(scores, idle, metric, origin)))
                for metric in file.metrics
                for score in (scores.get((name, metric, origin)),)
            ),
        )
        for origin in origins
        for name in file.system_names
        if any((name, metric, origin) in scores for metric in file.metrics)
    ]
    return tuple(sorted(rows, key=_rank))


def _idle_score(
    scores: dict[tuple[str, str, ScoreOrigin], BoardScore], idle: set[str], metric: str, origin: ScoreOrigin
) -> BoardScore | None:
    return next((scores[key] for name in sorted(idle) if (key := (name, metric, origin)) in scores), None)


def _difference(score: BoardScore | None, idle: BoardScore | None) -> float | None:
    if score is None or idle is None or score.system == idle.system or score.value is None or idle.value is None:
        return None
    return score.value - idle.value


def _rank(row: BoardRow) -> tuple[bool, bool, int, float, str]:
    known = [(place, _worth(cell.score)) for place, cell in enumerate(row.cells) if cell.score]
    place, worth = next(((place, worth) for place, worth in known if worth is not None), (len(row.cells), 0.0))
    return (row.origin == "published", row.system.role == "human", place, -worth, row.system.name)


def _worth(score: BoardScore) -> float | None:
    """The value, or the middle of the bounds, so that more is better."""
    value = score.value if score.value is not None else sum(score.bounds) / 2 if score.bounds else None
    return value if value is None or score.better == "higher" else -value


def best_score(file: ResultFile) -> BoardScore | None:
    """The best score of a machine by the first metric, measured or published."""
    metric = file.metrics[0] if file.metrics else ""
    people = {system.name for system in file.systems if system.role == "human"}
    own = [one for one in file.scores if one.metric == metric and one.system not in people and one.value is not None]
    return max(own, key=lambda one: (_worth(one) or 0.0, one.system), default=None)


def systems_everywhere(files: list[ResultFile]) -> Iterator[tuple[str, list[tuple[ResultFile, BoardScore]]]]:
    """Each system with its score by the first metric of every suite that has it, by name."""
    found: dict[str, list[tuple[ResultFile, BoardScore]]] = {}
    for file in files:
        for score in file.scores:
            if score.metric == file.metrics[0]:
                found.setdefault(score.system, []).append((file, score))
    yield from sorted(found.items(), key=lambda one: one[0].casefold())
