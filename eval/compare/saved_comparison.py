"""Saved comparisons, and their merge over the set that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ape.errors import InputError
from ape.files.rows import read_jsonl
from ape.passage.result import Finding, Severity
from eval.compare.comparison_folder import OUTPUTS_FILE, read_manifest
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet, build_comparison_set
from eval.compare.system import ParagraphOutcome, System
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules


@dataclass(frozen=True, slots=True)
class SavedComparison:
    """A comparison read from its folder."""

    folder: Path
    data: ComparisonSet
    systems: tuple[System, ...]
    """Without the unchanged MT."""
    metrics: tuple[str, ...]


def read_saved_comparison(folder: Path) -> SavedComparison:
    """Read a saved comparison. Raises InputError if it is unfinished or was modified."""
    manifest = read_manifest(folder)
    if not manifest.get("complete"):
        raise InputError(f"The comparison in {folder} is not finished. Resume it first.", field="runs")
    origin = manifest["data"]
    rules = CorpusRules(origin["source_language"], origin["target_language"], allow_empty=True)
    # Comparisons saved before caveats were kept have none.
    kept = {"name": origin["name"], "caveats": tuple(origin.get("caveats", ()))}
    corpus = replace(read_corpus(folder / OUTPUTS_FILE, rules=rules), **kept)
    data = build_comparison_set(corpus, DO_NOTHING)
    if data.digest != origin["digest"]:
        raise InputError(f"{folder / OUTPUTS_FILE} was modified after the comparison.", field="runs")
    rows = [row for _, row in read_jsonl(folder / OUTPUTS_FILE, field="runs")]
    systems = tuple(_system(entry, rows) for entry in manifest["systems"] if entry["name"] != DO_NOTHING)
    return SavedComparison(folder, replace(data, others={}, mt=origin["mt"]), systems, tuple(manifest["metrics"]))


def merge_saved_comparisons(runs: Sequence[SavedComparison]) -> tuple[ComparisonSet, list[System]]:
    """Merge comparisons over one set; different systems of the same name get the folder name added."""
    first = runs[0]
    for run in runs[1:]:
        _require_same_data(first, run)
    merged: list[System] = []
    for name in dict.fromkeys(system.name for run in runs for system in run.systems):
        same_name = [(run, system) for run in runs for system in run.systems if system.name == name]
        texts = {system.texts for _, system in same_name}
        if len(texts) == 1:
            merged.append(same_name[0][1])
        else:
            merged += [replace(system, name=f"{name} ({run.folder.name})") for run, system in same_name]
    names = [system.name for system in merged]
    if len(set(names)) < len(names):
        raise InputError("Two comparison folders have the same name: rename one.", field="runs")
    return first.data, merged


def _require_same_data(first: SavedComparison, run: SavedComparison) -> None:
    if run.data.digest == first.data.digest:
        return
    raise InputError(
        f"{first.folder} and {run.folder} are not over the same set: {_difference(first.data, run.data)}. "
        "Compare only systems over the same set.",
        field="runs",
    )


def _difference(first: ComparisonSet, other: ComparisonSet) -> str:
    if first.ids != other.ids:
        return f"they have {len(first.ids):,} and {len(other.ids):,} paragraphs, or other paragraph ids"
    ids = iter(first.ids)
    for ours, theirs in zip(first.corpus.documents, other.corpus.documents, strict=True):
        for place in range(len(ours)):
            name = next(ids)
            if ours.outputs[DO_NOTHING][place] != theirs.outputs[DO_NOTHING][place]:
                return f"paragraph {name!r} has another MT"
            if ours.sources and theirs.sources and ours.sources[place] != theirs.sources[place]:
                return f"paragraph {name!r} has another source"
    return "their references differ, or only one has a source"


def _system(entry: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> System:
    name = entry["name"]
    outcomes = tuple(
        ParagraphOutcome(
            row["systems"][name], row["decisions"][name], tuple(map(_finding, row["findings"].get(name, ())))
        )
        for row in rows
    )
    origin = {key: value for key, value in entry.items() if key not in ("name", "kind", "texts")}
    return System(name, entry["kind"], outcomes, origin)


def _finding(row: Mapping[str, Any]) -> Finding:
    return Finding(row["guard"], Severity(row["severity"]), row["message"], row["attempt"])
