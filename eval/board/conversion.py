"""Result files from scores: from measured results, and from the JSON of `ape eval score` and `ape eval suite`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ape.errors import InputError
from ape.files.rows import read_utf8
from eval.board.groups import describe_groups, significance_groups
from eval.board.result_file import BoardScore, BoardSystem, ResultFile, parse_result_file
from eval.metrics.scoring import EvaluationResults
from eval.suites import ltcr
from eval.suites.cai_xiong import suite as cai_xiong

# The language pairs of the suites; those of the other suites are in the titles of their tables.
SUITE_LANGUAGES: Mapping[str, tuple[str, str]] = {
    "cai-xiong": cai_xiong.LANGUAGES,
    "ltcr": ltcr.LANGUAGES,
    "bwb": ("zh", "en"),
}
DO_NOTHING = ("do-nothing", "mt")
"""Names of systems that are the text as it was."""
LOWER_IS_BETTER = frozenset({"TER", "ter", "model score"})
_PAIR = re.compile(r"\b([a-z]{2})-([a-z]{2})\b")


def results_to_file(
    results: EvaluationResults,
    *,
    suite: str = "",
    title: str = "",
    systems: Sequence[BoardSystem] = (),
    notes: Sequence[str] = (),
) -> ResultFile:
    """The result file of measured scores, with significance groups from tests of all pairs of systems."""
    groups = {metric.name: significance_groups(results, metric.name) for metric in results.metrics}
    values = results.to_dict()
    file = scores_to_file(values, suite=suite or slug(results.corpus.name or "scores"), title=title, groups=groups)
    tested = describe_groups(results) if any(groups.values()) else ""
    return file.model_copy(
        update={
            "groups_by": tested,
            "systems": tuple(systems) or file.systems,
            "notes": (*notes, *results.corpus.caveats),
        }
    )


def scores_to_file(
    values: Mapping[str, Any], *, suite: str, title: str = "", groups: Mapping[str, Mapping[str, int]] | None = None
) -> ResultFile:
    """The result file of the JSON of `ape eval score`."""
    corpus = values["corpus"]
    names = dict.fromkeys(row["system"] for row in values["scores"])
    described = tuple(BoardSystem(name=name, role="do-nothing") for name in names if name in DO_NOTHING)
    scores = (
        BoardScore(
            system=row["system"],
            metric=row["metric"],
            value=_rounded(row["score"]),
            interval=_rounded_ends(row.get("interval")),
            better=row["better"],
            signature=values["signatures"].get(row["metric"], ""),
            group=(groups or {}).get(row["metric"], {}).get(row["system"]),
            why=row.get("not_applicable", ""),
        )
        for row in values["scores"]
    )
    return ResultFile(
        suite=suite,
        title=title or corpus["name"] or suite,
        source_language=corpus["source_language"],
        target_language=corpus["target_language"],
        notes=tuple(values.get("caveats", ())),
        systems=described[:1],
        scores=tuple(scores),
    )


def suite_to_file(values: Mapping[str, Any], *, published: bool = True) -> ResultFile:
    """The result file of the JSON of `ape eval suite`, with or without the published rows."""
    titles = " ".join(table["title"] for table in values["tables"])
    found = _PAIR.search(titles)
    languages = SUITE_LANGUAGES.get(values["suite"]) or ((found[1], found[2]) if found else ("und", "und"))
    found_scores = (score for table in values["tables"] for score in _table_scores(values, table))
    scores = [score for score in found_scores if score.value is not None or score.bounds]
    kept = [score for score in scores if published or score.origin == "measured"]
    return ResultFile(
        suite=slug(values["suite"]),
        title=values["paper"].partition(",")[0] or values["suite"],
        source_language=languages[0],
        target_language=languages[1],
        paper=values["paper"],
        notes=tuple(dict.fromkeys(table["note"] for table in values["tables"] if table["note"])),
        scores=tuple({(one.system, one.metric, one.origin): one for one in kept}.values()),
    )


def _table_scores(values: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[BoardScore]:
    several = len(values["tables"]) > 1
    short = table["title"].partition(" (")[0].removesuffix(" in %")
    for row in table["rows"]:
        name = next(value for key, value in row.items() if key not in ("published", "cells", "undecided", "bounds"))
        origin: Literal["published", "measured"] = "published" if row["published"] else "measured"
        for column in table["columns"]:
            yield BoardScore(
                system=str(name),
                metric=f"{short}, {column}" if several else column,
                value=_rounded(row["cells"].get(column)),
                bounds=_rounded_ends(row["bounds"].get(column)),
                better="lower" if column in LOWER_IS_BETTER else "higher",
                signature="" if row["published"] else _signature(values["signatures"], column, short),
                origin=origin,
            )


def _signature(signatures: Mapping[str, str], column: str, table: str) -> str:
    """The signature of a column, of its first seed, or of its table."""
    seeds = (text for name, text in signatures.items() if name.startswith(f"{column}, seed"))
    return signatures.get(column) or next(seeds, "") or signatures.get(table, "") or signatures.get(table.lower(), "")


def _rounded(value: float | None) -> float | None:
    """A score without the digits that differ between machines."""
    return None if value is None else round(value, 5)


def _rounded_ends(ends: Sequence[float] | None) -> tuple[float, float] | None:
    return None if ends is None else (round(ends[0], 5), round(ends[1], 5))


def slug(name: str) -> str:
    """A name as it is written in file names and addresses."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "scores"


def read_results(path: Path) -> ResultFile:
    """Read a result file, or the JSON of `ape eval score` or `ape eval suite`."""
    try:
        values = json.loads(read_utf8(path, field="results"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON.", field="results") from error
    if not isinstance(values, dict):
        raise InputError(f"{path.name} is not a result file: it is not a JSON object.", field="results")
    try:
        if {"corpus", "resampling", "scores"} <= values.keys():
            return scores_to_file(values, suite=slug(path.stem))
        if {"suite", "tables", "signatures"} <= values.keys():
            return suite_to_file(values)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path.name} was changed after it was written: {error}.", field="results") from error
    return parse_result_file(values, place=path.name)


def read_folder(paths: Sequence[Path]) -> list[tuple[str, ResultFile]]:
    """Read result files by name; a folder stands for the .json files in it."""
    files = [one for path in paths for one in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if not files:
        raise InputError("There are no result files: name .json files, or a folder that has some.", field="results")
    names = [path.name for path in files]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InputError(f"Two result files are called {twice}. Rename one.", field="results")
    return [(path.name, read_results(path)) for path in files]
