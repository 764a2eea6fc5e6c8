"""The folder of a comparison: it belongs to one set, is begun before any model is asked, and holds all that was found.

work.sqlite     what every model made of every paragraph, as it came
outputs.jsonl   all texts, decisions and findings, a line for each paragraph: a set by itself, too
results.json    scores, tests, wins, edit rates, guards
manifest.json   what it was made of and by, and the command that makes it again
report.html     all of it as one page
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ape.errors import Conflict, InputError
from ape.files.atomic import write_text_atomic
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet

JOB_DATABASE, OUTPUTS_FILE, RESULTS_FILE = "work.sqlite", "outputs.jsonl", "results.json"
MANIFEST_FILE, REPORT_FILE = "manifest.json", "report.html"


def prepare_folder(
    folder: Path, data: ComparisonSet, systems: Iterable[str], *, replace: bool = False
) -> None:
    """Make the folder ours, or see that it is: raises where it is another comparison's, or can't be written.

    A finished comparison of systems that are not among these stays as it is, unless it is to be replaced.
    """
    manifest = folder / MANIFEST_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if manifest.is_file():
            told = read_manifest(folder)
            _refuse_other(folder, told, data)
            if not replace:
                _refuse_to_drop(folder, told, systems)
            return
        if any(folder.iterdir()):
            raise Conflict(
                f"{folder} has other files in it. Name a folder of its own with -o.", field="output"
            )
        told = {"data": {"digest": data.digest, "name": data.corpus.name}, "complete": False}
        _write(manifest, [json.dumps(told, ensure_ascii=False)])
    except OSError as error:
        raise InputError(
            f"{folder} can't be written: {error.strerror}. Name another with -o.", field="output"
        ) from error


def write_comparison(folder: Path, compared: SystemComparison, manifest: Mapping[str, Any]) -> None:
    """All that was found. Each file is whole or as it was, and the manifest is the last."""
    from eval.compare.page import write_comparison_page

    try:
        _write(folder / OUTPUTS_FILE, (json.dumps(row, ensure_ascii=False) for row in _rows(compared)))
        _write(folder / RESULTS_FILE, [_pretty(compared.to_dict())])
        write_comparison_page(compared, folder / REPORT_FILE, manifest=manifest)
        _write(folder / MANIFEST_FILE, [_pretty(manifest)])
    except OSError as error:
        raise InputError(
            f"{folder} can't be written: {error.strerror}. Name another with -o.", field="output"
        ) from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a run says of itself; raises InputError where the folder is none of ours."""
    try:
        found = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        if isinstance(found["data"]["digest"], str):
            return dict(found)
    except OSError as error:
        raise InputError(f"{folder} is no comparison: it has no {MANIFEST_FILE}.", field="runs") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{folder / MANIFEST_FILE} is not the manifest of a comparison.", field="runs")


def _refuse_other(folder: Path, manifest: Mapping[str, Any], data: ComparisonSet) -> None:
    if manifest["data"]["digest"] != data.digest:
        raise Conflict(
            f"{folder} holds a comparison over another set ({manifest['data'].get('name') or 'unnamed'}): its source, "
            "MT or references differ from these. Name another folder with -o.",
            field="output",
        )


def _refuse_to_drop(folder: Path, manifest: Mapping[str, Any], systems: Iterable[str]) -> None:
    there = [one["name"] for one in manifest.get("systems", ()) if one["name"] != DO_NOTHING]
    if gone := [name for name in there if name not in set(systems)]:
        raise Conflict(
            f"{folder} holds a finished comparison of {', '.join(there)}, and {', '.join(gone)} would be gone from it. "
            "Name all of them, another folder with -o, or say --replace.",
            field="output",
        )


def _rows(compared: SystemComparison) -> Iterator[dict[str, Any]]:
    """A paragraph, with what every system made of it."""
    ids = iter(compared.data.ids)
    at = 0
    for document in compared.data.corpus.documents:
        for place in range(len(document)):
            outcomes = {system.name: system.outcomes[at] for system in compared.systems}
            told = {
                "id": next(ids),
                "document": document.id,
                "book": document.book,
                "references": [texts[place] for texts in document.references],
                "systems": {name: one.text for name, one in outcomes.items()},
                "decisions": {
                    name: str(one.decision) for name, one in outcomes.items() if name != DO_NOTHING
                },
                "findings": {
                    name: [asdict(finding) for finding in one.findings]
                    for name, one in outcomes.items()
                    if one.findings
                },
            }
            yield told | ({"source": document.sources[place]} if document.sources else {})
            at += 1


def _pretty(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, indent=1)


def _write(path: Path, lines: Iterable[str]) -> None:
    write_text_atomic(path, (f"{line}\n" for line in lines))
