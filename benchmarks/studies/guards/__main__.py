"""Print false and missed refusals of the guards: `python -m benchmarks.studies.guards --data DIR`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.studies.guards.faults import FAULTS, FaultTrial, collect_fault_material, run_fault_trials
from benchmarks.studies.guards.passages import (
    OTHER_PAIRS,
    PAIRS,
    HumanPostEdit,
    join_neighbours,
    missing_data,
    read_candide,
    read_english_texts,
    read_mlqe,
)
from benchmarks.studies.guards.refusals import count_by_guard, find_refusals, refused_by_other_guards


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="What the guards refuse and what they let through.")
    parser.add_argument("--data", type=Path, required=True, help="folder that contains mlqe_pe/ and par3/")
    parser.add_argument("--split", choices=("dev", "train"), default="dev", help="split of MLQE-PE")
    parser.add_argument("--skip", type=int, default=0, help="skip the first N rows of each pair")
    parser.add_argument("--list", action="store_true", help="list every human post-edit refused, with the reason")
    parser.add_argument("--missed", type=int, default=0, help="list up to N missed faults of each kind")
    options = parser.parse_args(arguments)
    if lacking := missing_data(options.data):
        parser.exit(2, f"{options.data} has no {lacking}. Give the folder that has mlqe_pe/ and par3/.\n")
    corpora = {
        pair: read_mlqe(options.data, pair, options.split)[options.skip : options.skip + 1000]
        for pair in (*PAIRS, *OTHER_PAIRS)
    }
    print_refusal_tables(corpora, read_candide(options.data), show=options.list)
    print_catch_tables(corpora, read_english_texts(options.data), missed=options.missed)


def print_refusal_tables(
    corpora: Mapping[str, Sequence[HumanPostEdit]], candide: Sequence[HumanPostEdit], *, show: bool
) -> None:
    """Print the tables of human texts refused."""
    print("Human post-edits refused")
    for pair, rows in corpora.items():
        _print_refusals(pair, rows, show=show)
        _print_refusals(f"{pair} paragraphs", join_neighbours(rows), show=False)
    _print_refusals("candide", candide, show=show)


def _print_refusals(name: str, rows: Sequence[HumanPostEdit], *, show: bool) -> None:
    found = find_refusals(rows)
    wrong = refused_by_other_guards(found)
    reasons = ", ".join(f"{guard} {count}" for guard, count in count_by_guard(found).most_common())
    mt = len(find_refusals(rows, mt=True))
    print(
        f"  {name:<18} {len(found):>4} of {len(rows)} = {len(found) / len(rows):.1%}; without the edit-rate cap "
        f"{len(wrong)} = {len(wrong) / len(rows):.1%}; the MT itself {mt}   [{reasons}]"
    )
    for refusal in found if show else ():
        for finding in refusal.findings:
            print(f"      {refusal.row.id} {finding.guard}: {finding.message}")


def print_catch_tables(corpora: Mapping[str, Sequence[HumanPostEdit]], english: Sequence[str], *, missed: int) -> None:
    """Print the tables of faults caught."""
    for name, join in (("sentences", False), ("pseudo-paragraphs", True)):
        table: dict[str, dict[str, list[FaultTrial]]] = {kind: {} for kind in FAULTS}
        for pair in PAIRS:
            rows = corpora[pair]
            stocked = collect_fault_material(rows, english)
            for trial in run_fault_trials(join_neighbours(rows) if join else rows, stocked):
                table[trial.kind].setdefault(pair, []).append(trial)
        print(f"Faults caught in {name}")
        for kind, cells in table.items():
            _print_catches(kind, cells, missed=missed)


def _print_catches(kind: str, cells: Mapping[str, Sequence[FaultTrial]], *, missed: int) -> None:
    every = [trial for trials_ in cells.values() for trial in trials_]
    if not every:
        return
    columns = "".join(
        f"  {pair} {sum(trial.caught for trial in cell):>4}/{len(cell):<4}" for pair, cell in cells.items()
    )
    rate = sum(trial.caught for trial in every) / len(every)
    print(f"  {kind:<18} {rate:>6.1%} {columns}")
    for trial in [trial for trial in every if not trial.caught][:missed]:
        print(f"      {trial.row.id}\n        MT    {trial.row.segment.mt}\n        draft {trial.text}")


if __name__ == "__main__":
    main()
