"""Mined sets as a suite: consistency, connectives and pronouns, as in Tables 6, 7 and 9 of DiP.

The paper's rows are of its own sets, mined from other systems: they show typical numbers and are not a baseline. Its
pronoun score is a trained model's, in a separate column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ape.errors import InputError
from eval.corpus.reader import read_output_lines
from eval.linguistics.annotators.protocol import Annotator
from eval.metrics.dip.consistency import CONSISTENCY_VERDICTS
from eval.metrics.dip.pronouns import PRONOUN_OUTCOMES
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured
from eval.suites.dip.mined_set import MINED_PHENOMENA, MinedPhenomenon, MinedSet, read_mined_set
from eval.suites.dip.mined_set_scores import score_mined_set
from eval.suites.dip.published import LANGUAGE_PAIRS, PUBLISHED
from eval.suites.outputs import REFERENCES_LABEL, check_outputs
from eval.suites.outputs_by_id import read_outputs_by_id
from eval.suites.suite import SuiteResult, SuiteRow, SuiteTable, published_rows

MinedOutputs = Mapping[str, Sequence[str]]
"""By item id, one text for each source segment."""
_TITLES: Mapping[MinedPhenomenon, str] = {
    "consistency": "Lexical consistency in % (as in Table 6)",
    "connectives": "Connectives in % (as in Table 7)",
    "pronouns": "Pronouns in % (compare Table 9)",
}
# Columns and the parts of the score; an empty name is the score itself, None a column only of the paper.
_COLUMNS: Mapping[MinedPhenomenon, Mapping[str, str | None]] = {
    "consistency": {"%Con": "con", "%Full": "full"},
    "connectives": {"Acc": "acc", "ANY": "any"},
    "pronouns": {"right": "", "wrong": "mismatch", "lost": "lost", "their score ↓": None},
}


@dataclass(frozen=True, slots=True)
class DipSuite:
    """A mined set, into English."""

    annotator: Annotator | None = None
    name: str = "dip"
    paper: str = "DiP benchmark tests: evaluation benchmarks for discourse phenomena in MT"
    data_source: str = "Mine a set from the outputs of systems and a reference."

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs: one line for each source segment of each item, or JSONL with "id" and "output"."""
        mined = read_mined_set(data)
        if not mined.items:
            raise InputError(f"{data} has no items: no system failed at what was mined.", field="data")
        if REFERENCES_LABEL in systems:
            raise InputError(
                f"The system name {REFERENCES_LABEL!r} is reserved for a row of the suite.", field="system"
            )
        outputs: dict[str, MinedOutputs] = {name: read_mined_outputs(path, mined) for name, path in systems.items()}
        outputs[REFERENCES_LABEL] = {item.id: item.references for item in mined.items}
        counted = {name: score_mined_set(mined, texts, annotator=self.annotator) for name, texts in outputs.items()}
        tables = tuple(
            _table(phenomenon, mined, counted) for phenomenon in MINED_PHENOMENA if mined.items_of(phenomenon)
        )
        signatures = {
            str(name): found.signature for name, found in counted[REFERENCES_LABEL].items() if mined.items_of(name)
        }
        return SuiteResult(self.name, tables, signatures, self.paper, tuple(_cases(mined, outputs, counted)))


def read_mined_outputs(path: Path, mined: MinedSet) -> MinedOutputs:
    """Read a system's outputs in the order of the set or, from a .jsonl file, by id."""
    lengths = {item.id: len(item.sources) for item in mined.items}
    if path.suffix == ".jsonl":
        parts = read_outputs_by_id(path, lengths, case_noun="item")
    else:
        parts = read_output_lines(path, list(lengths.values()), whole="the set")
    check_outputs(parts, str(mined.manifest.get("target_language", "en")))
    texts = (tuple(text or "" for text in part.texts) for part in parts)
    return {item.id: found for item, found in zip(mined.items, texts, strict=True)}


# --- tables ----------------------------------------------------------------------------------------------------------


def _table(
    phenomenon: MinedPhenomenon,
    mined: MinedSet,
    counted: Mapping[str, Mapping[MinedPhenomenon, MetricCounts | Unmeasured]],
) -> SuiteTable:
    columns = _COLUMNS[phenomenon]
    rows = [SuiteRow(name, _cells(found[phenomenon], columns)) for name, found in counted.items()]
    pair = f"{mined.manifest.get('source_language')}-{mined.manifest.get('target_language')}"
    rows += [
        row
        for known in ([pair] if pair in LANGUAGE_PAIRS else LANGUAGE_PAIRS)
        for row in published_rows(
            {f"{name} {known}": cells for name, cells in PUBLISHED[phenomenon][known].items()}, tuple(columns)
        )
    ]
    items = len(mined.items_of(phenomenon))
    return SuiteTable(
        _TITLES[phenomenon],
        tuple(columns),
        tuple(rows),
        f"Ours are of the {items:,} items of this set; the published ones of the paper's own set.",
    )


def _cells(found: MetricCounts | Unmeasured, columns: Mapping[str, str | None]) -> dict[str, float | None]:
    """Each part separately: %Full is defined even if no item is decided and %Con is not."""
    cells: dict[str, float | None] = dict.fromkeys(columns)
    if isinstance(found, MetricCounts):
        folds = {"": found.fold, **found.parts}
        for column, part in columns.items():
            value = float("nan") if part is None else float(folds[part](found.rows.sum(axis=0)))
            cells[column] = None if isnan(value) else value
    return cells


def _cases(
    mined: MinedSet,
    outputs: Mapping[str, MinedOutputs],
    counted: Mapping[str, Mapping[MinedPhenomenon, MetricCounts | Unmeasured]],
) -> Iterator[Mapping[str, Any]]:
    for name, texts in outputs.items():
        for phenomenon, found in counted[name].items():
            rows = found.rows if isinstance(found, MetricCounts) else ()
            for item, row in zip(mined.items_of(phenomenon), rows, strict=True):
                yield {
                    "system": name,
                    "id": item.id,
                    "phenomenon": phenomenon,
                    "word": item.word,
                    "references": list(item.references),
                    "output": list(texts[item.id]),
                    "verdict": _verdict(phenomenon, row),
                }


def _verdict(phenomenon: MinedPhenomenon, row: FloatArray) -> str:
    if phenomenon == "connectives":
        return "same" if row[1] else "another" if row[2] else "lost"
    outcomes = CONSISTENCY_VERDICTS if phenomenon == "consistency" else PRONOUN_OUTCOMES
    return outcomes[int(row.argmax())]
