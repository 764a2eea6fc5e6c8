"""Mined sets (`ape eval mine`) as a suite: consistency, connectives and pronouns, as in Tables 6, 7 and 9 of DiP.

The paper's rows are of its own sets, which were mined from other systems' outputs: they show what such numbers look
like, and are no baseline. Its pronoun score is a trained model's, and has a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ape.errors import InputError
from eval.annotate.protocol import Annotator
from eval.dip.consistency import VERDICTS
from eval.dip.mined import PHENOMENA, MinedSet, Phenomenon, read_mined
from eval.dip.mined_scores import score_mined
from eval.dip.pronouns import FATES
from eval.metric import Counted, Numbers, Unmeasured
from eval.reading.read import cut_lines
from eval.suites.by_id import read_by_id
from eval.suites.dip.paper import PAIRS, PUBLISHED
from eval.suites.outputs import REFERENCES, check_outputs
from eval.suites.suite import Outcome, Row, Table, published

Outputs = Mapping[str, Sequence[str]]
"""By the id of an item, a text for each of its source segments."""
_TITLES: Mapping[Phenomenon, str] = {
    "consistency": "Lexical consistency in % (as in Table 6)",
    "connectives": "Connectives in % (as in Table 7)",
    "pronouns": "Pronouns in % (beside Table 9)",
}
# Columns and the parts of the score; without a name, the score itself; None where only the paper has a number.
_COLUMNS: Mapping[Phenomenon, Mapping[str, str | None]] = {
    "consistency": {"%Con": "con", "%Full": "full"},
    "connectives": {"Acc": "acc", "ANY": "any"},
    "pronouns": {"right": "", "wrong": "mismatch", "lost": "lost", "their score ↓": None},
}


@dataclass(frozen=True, slots=True)
class DipSuite:
    """A set of passages that systems were seen to fail at, into English."""

    annotator: Annotator | None = None
    name: str = "dip"
    paper: str = "DiP benchmark tests: evaluation benchmarks for discourse phenomena in MT"
    where: str = "It is a file that `ape eval mine` writes from the outputs of systems and a reference."

    def run(self, data: Path, systems: Mapping[str, Path]) -> Outcome:
        """Score the outputs: a line for each source segment of each item, or JSONL with "id" and "output"."""
        mined = read_mined(data)
        if not mined.items:
            raise InputError(f"{data} has no items: no system failed at what was mined.", field="data")
        if REFERENCES in systems:
            raise InputError(
                f"A system can't be called {REFERENCES!r}: that row is the suite's own.", field="system"
            )
        outputs: dict[str, Outputs] = {name: read_outputs(path, mined) for name, path in systems.items()}
        outputs[REFERENCES] = {item.id: item.references for item in mined.items}
        counted = {
            name: score_mined(mined, texts, annotator=self.annotator) for name, texts in outputs.items()
        }
        tables = tuple(_table(phenomenon, mined, counted) for phenomenon in PHENOMENA if mined.of(phenomenon))
        signatures = {
            str(name): found.signature for name, found in counted[REFERENCES].items() if mined.of(name)
        }
        return Outcome(self.name, tables, signatures, self.paper, tuple(_cases(mined, outputs, counted)))


def read_outputs(path: Path, mined: MinedSet) -> Outputs:
    """What a system wrote for each item, in the order of the set or, in a .jsonl file, by id."""
    lengths = {item.id: len(item.sources) for item in mined.items}
    if path.suffix == ".jsonl":
        parts = read_by_id(path, lengths, of="item")
    else:
        parts = cut_lines(path, list(lengths.values()), whole="the set")
    check_outputs(parts, str(mined.manifest.get("target_language", "en")))
    texts = (tuple(text or "" for text in part.texts) for part in parts)
    return {item.id: found for item, found in zip(mined.items, texts, strict=True)}


# --- tables ----------------------------------------------------------------------------------------------------------


def _table(
    phenomenon: Phenomenon,
    mined: MinedSet,
    counted: Mapping[str, Mapping[Phenomenon, Counted | Unmeasured]],
) -> Table:
    columns = _COLUMNS[phenomenon]
    rows = [Row(name, _cells(found[phenomenon], columns)) for name, found in counted.items()]
    pair = f"{mined.manifest.get('source_language')}-{mined.manifest.get('target_language')}"
    rows += [
        row
        for known in ([pair] if pair in PAIRS else PAIRS)
        for row in published(
            {f"{name} {known}": cells for name, cells in PUBLISHED[phenomenon][known].items()}, tuple(columns)
        )
    ]
    items = len(mined.of(phenomenon))
    return Table(
        _TITLES[phenomenon],
        tuple(columns),
        tuple(rows),
        f"Ours are of the {items:,} items of this set; the published ones of the paper's own set.",
    )


def _cells(found: Counted | Unmeasured, columns: Mapping[str, str | None]) -> dict[str, float | None]:
    """Each part by itself: %Full says something also where no item is decided and %Con does not."""
    cells: dict[str, float | None] = dict.fromkeys(columns)
    if isinstance(found, Counted):
        folds = {"": found.fold, **found.parts}
        for column, part in columns.items():
            value = float("nan") if part is None else float(folds[part](found.rows.sum(axis=0)))
            cells[column] = None if isnan(value) else value
    return cells


def _cases(
    mined: MinedSet,
    outputs: Mapping[str, Outputs],
    counted: Mapping[str, Mapping[Phenomenon, Counted | Unmeasured]],
) -> Iterator[Mapping[str, Any]]:
    for name, texts in outputs.items():
        for phenomenon, found in counted[name].items():
            rows = found.rows if isinstance(found, Counted) else ()
            for item, row in zip(mined.of(phenomenon), rows, strict=True):
                yield {
                    "system": name,
                    "id": item.id,
                    "phenomenon": phenomenon,
                    "word": item.word,
                    "references": list(item.references),
                    "output": list(texts[item.id]),
                    "verdict": _verdict(phenomenon, row),
                }


def _verdict(phenomenon: Phenomenon, row: Numbers) -> str:
    if phenomenon == "connectives":
        return "same" if row[1] else "another" if row[2] else "lost"
    told = VERDICTS if phenomenon == "consistency" else FATES
    return told[int(row.argmax())]
