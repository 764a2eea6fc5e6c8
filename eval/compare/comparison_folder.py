"""Folder of a comparison. It belongs to one set and is created before any model runs.

work.sqlite     outputs of every model, stored as they arrive
outputs.jsonl   texts, decisions and findings, one line per paragraph; usable as a set
results.json    scores, tests, wins, edit rates, guards
manifest.json   inputs, versions, and the command that reproduces the comparison
report.html     the report
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ape.errors import Conflict, InputError
from ape.files.atomic import write_text_atomic
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet

JOB_DATABASE, OUTPUTS_FILE, RESULTS_FILE = "work.sqlite", "outputs.jsonl", "results.json"
MANIFEST_FILE, REPORT_FILE = "manifest.json", "report.html"


def prepare_folder(folder: Path, data: ComparisonSet, systems: Iterable[str], *, replace: bool = False) -> None:
    """Create the folder, or check that it belongs to this comparison.

    Raises Conflict for another comparison, and for a finished one with other systems unless `replace`.
    """
    manifest = folder / MANIFEST_FILE
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if manifest.is_file():
            existing = read_manifest(folder)
            _require_same_set(folder, existing, data)
            if not replace:
                _require_all_systems(folder, existing, systems)
            return
        if any(folder.iterdir()):
            raise Conflict(f"{folder} contains other files. Choose an empty output folder.", field="output")
        initial = {"data": {"digest": data.digest, "name": data.corpus.name}, "complete": False}
        _write(manifest, [json.dumps(initial, ensure_ascii=False)])


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn errors of the file system into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder} can't be written: {error.strerror}. Choose another output folder.", field="output"
        ) from error


def write_comparison(folder: Path, compared: SystemComparison, manifest: Mapping[str, Any]) -> None:
    """Write all files atomically, the manifest last."""
    from eval.compare.page import write_comparison_page

    with _writing(folder):
        _write(folder / OUTPUTS_FILE, (json.dumps(row, ensure_ascii=False) for row in _rows(compared)))
        _write(folder / RESULTS_FILE, [_pretty(compared.to_dict())])
        write_comparison_page(compared, folder / REPORT_FILE, manifest=manifest)
        _write(folder / MANIFEST_FILE, [_pretty(manifest)])


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a comparison. Raises InputError if there is none."""
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        if isinstance(manifest["data"]["digest"], str):
            return dict(manifest)
    except OSError as error:
        raise InputError(f"{folder} is not a comparison: it has no {MANIFEST_FILE}.", field="runs") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{folder / MANIFEST_FILE} is not the manifest of a comparison.", field="runs")


def _require_same_set(folder: Path, manifest: Mapping[str, Any], data: ComparisonSet) -> None:
    if manifest["data"]["digest"] != data.digest:
        raise Conflict(
            f"{folder} holds a comparison over another set ({manifest['data'].get('name') or 'unnamed'}): its source, "
            "MT or references differ. Choose another output folder.",
            field="output",
        )


def _require_all_systems(folder: Path, manifest: Mapping[str, Any], systems: Iterable[str]) -> None:
    names = [system["name"] for system in manifest.get("systems", ())]
    existing = [name for name in names if name != DO_NOTHING]
    if lost := [name for name in existing if name not in set(systems)]:
        raise Conflict(
            f"{folder} holds a finished comparison of {', '.join(existing)}, which would lose {', '.join(lost)}. "
            "Name all systems, choose another output folder, or replace the comparison explicitly.",
            field="replace",
        )


def _rows(compared: SystemComparison) -> Iterator[dict[str, Any]]:
    """One row per paragraph, with the texts of all systems."""
    places = zip(compared.data.ids, compared.data.corpus.segments(), strict=True)
    for at, (name, (_, document, place)) in enumerate(places):
        outcomes = {system.name: system.outcomes[at] for system in compared.systems}
        row = {
            "id": name,
            "document": document.id,
            "book": document.book,
            "references": [texts[place] for texts in document.references],
            "systems": {name: outcome.text for name, outcome in outcomes.items()},
            "decisions": {name: str(outcome.decision) for name, outcome in outcomes.items() if name != DO_NOTHING},
            "findings": {
                name: [asdict(finding) for finding in outcome.findings]
                for name, outcome in outcomes.items()
                if outcome.findings
            },
        }
        yield row | ({"source": document.sources[place]} if document.sources else {})


def _pretty(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1)


def _write(path: Path, lines: Iterable[str]) -> None:
    write_text_atomic(path, (f"{line}\n" for line in lines))
