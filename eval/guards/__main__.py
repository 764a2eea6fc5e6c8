"""The tables of what the guards refuse and let through: `python -m eval.guards --data DIR`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.guards.faults import FAULTS, Trial, stock, trials
from eval.guards.refusals import by_guard, faulty, refusals
from eval.guards.rows import (
    OTHER_PAIRS,
    PAIRS,
    Row,
    missing,
    paragraphs,
    read_candide,
    read_english,
    read_mlqe,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="What the guards refuse and what they let through.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that has mlqe_pe/ and par3/")
    parser.add_argument("--split", choices=("dev", "train"), default="dev", help="which rows of MLQE-PE")
    parser.add_argument("--skip", type=int, default=0, help="rows of each pair to leave out first")
    parser.add_argument(
        "--list", action="store_true", help="list every human post-edit refused, with the reason"
    )
    parser.add_argument("--missed", type=int, default=0, help="list so many missed faults of each kind")
    options = parser.parse_args(arguments)
    if lacking := missing(options.data):
        parser.exit(2, f"{options.data} has no {lacking}. Give the folder that has mlqe_pe/ and par3/.\n")
    corpora = {
        pair: read_mlqe(options.data, pair, options.split)[options.skip : options.skip + 1000]
        for pair in (*PAIRS, *OTHER_PAIRS)
    }
    print_refused(corpora, read_candide(options.data), show=options.list)
    print_caught(corpora, read_english(options.data), missed=options.missed)


def print_refused(corpora: Mapping[str, Sequence[Row]], candide: Sequence[Row], *, show: bool) -> None:
    """The tables of what is refused of what humans made."""
    print("Human post-edits refused")  # noqa: T201
    for pair, rows in corpora.items():
        _print_refused(pair, rows, show=show)
        _print_refused(f"{pair} paragraphs", paragraphs(rows), show=False)
    _print_refused("candide", candide, show=show)


def _print_refused(name: str, rows: Sequence[Row], *, show: bool) -> None:
    found = refusals(rows)
    wrong = faulty(found)
    reasons = ", ".join(f"{guard} {count}" for guard, count in by_guard(found).most_common())
    mt = len(refusals(rows, mt=True))
    print(  # noqa: T201
        f"  {name:<18} {len(found):>4} of {len(rows)} = {len(found) / len(rows):.1%}; without the edit-rate cap "
        f"{len(wrong)} = {len(wrong) / len(rows):.1%}; the MT itself {mt}   [{reasons}]"
    )
    for refusal in found if show else ():
        for finding in refusal.findings:
            print(f"      {refusal.row.id} {finding.guard}: {finding.message}")  # noqa: T201


def print_caught(corpora: Mapping[str, Sequence[Row]], english: Sequence[str], *, missed: int) -> None:
    """The tables of faults caught."""
    for name, join in (("sentences", False), ("pseudo-paragraphs", True)):
        table: dict[str, dict[str, list[Trial]]] = {kind: {} for kind in FAULTS}
        for pair in PAIRS:
            rows = corpora[pair]
            stocked = stock(rows, english)
            for trial in trials(paragraphs(rows) if join else rows, stocked):
                table[trial.kind].setdefault(pair, []).append(trial)
        print(f"Faults caught in {name}")  # noqa: T201
        for kind, cells in table.items():
            _print_caught(kind, cells, missed=missed)


def _print_caught(kind: str, cells: Mapping[str, Sequence[Trial]], *, missed: int) -> None:
    every = [trial for trials_ in cells.values() for trial in trials_]
    if not every:
        return
    columns = "".join(
        f"  {pair} {sum(trial.caught for trial in cell):>4}/{len(cell):<4}" for pair, cell in cells.items()
    )
    rate = sum(trial.caught for trial in every) / len(every)
    print(f"  {kind:<18} {rate:>6.1%} {columns}")  # noqa: T201
    for trial in [trial for trial in every if not trial.caught][:missed]:
        print(f"      {trial.row.id}\n        MT    {trial.row.segment.mt}\n        draft {trial.text}")  # noqa: T201


if __name__ == "__main__":
    main()
