"""Print false and missed refusals of the guards.

    python -m benchmarks.studies.guards --data DIR
    python -m benchmarks.studies.guards --data DIR --rows ROWS.jsonl --drafts DRAFTS.jsonl --base MODEL

The second form has a model's own drafts instead of human post-edits: what is refused of them, what passes (`--list`),
and which faults put into those that pass are caught. `ape finetune score --base MODEL` stores drafts.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.studies.guards.faults import FAULTS, FaultTrial, collect_fault_material, run_fault_trials
from benchmarks.studies.guards.model_drafts import read_drafts
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
    parser.add_argument("--rows", type=Path, help="rows of the drafts; with --drafts and --base")
    parser.add_argument("--drafts", type=Path, help="stored drafts of a prompted model")
    parser.add_argument("--base", help="the model that made the drafts")
    parser.add_argument("--missed", type=int, default=0, help="list up to N missed faults of each kind")
    options = parser.parse_args(arguments)
    if lacking := missing_data(options.data):
        parser.exit(2, f"{options.data} has no {lacking}. Give the folder that has mlqe_pe/ and par3/.\n")
    if options.rows or options.drafts or options.base:
        if not (options.rows and options.drafts and options.base):
            parser.exit(2, "--rows, --drafts and --base go together.\n")
        drafts = read_drafts(options.rows, options.drafts, options.base)
        print_draft_tables(drafts, read_english_texts(options.data), show=options.list, missed=options.missed)
        return
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


def print_draft_tables(
    drafts: Mapping[str, Sequence[HumanPostEdit]], english: Sequence[str], *, show: bool, missed: int
) -> None:
    """Print which drafts are refused, and the faults caught in those that pass; with `show` all that are changed."""
    print("Drafts refused")
    passed: dict[str, list[HumanPostEdit]] = {}
    for pair, rows in drafts.items():
        _print_refusals(pair, rows, show=show)
        refused = {refusal.row.id for refusal in find_refusals(rows)}
        passed[pair] = [row for row in rows if row.id not in refused]
    for row in [row for rows in passed.values() for row in rows if row.post_edit != row.segment.mt.strip()]:
        if show:
            print(f"    passes: {row.id}\n      MT    {row.segment.mt}\n      draft {row.post_edit}")
    print_catch_table("drafts that pass", passed, english, missed=missed)


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
    into_english = {pair: corpora[pair] for pair in PAIRS}
    joined = {pair: join_neighbours(rows) for pair, rows in into_english.items()}
    print_catch_table("sentences", into_english, english, missed=missed)
    print_catch_table("pseudo-paragraphs", joined, english, missed=missed)


def print_catch_table(
    name: str, corpora: Mapping[str, Sequence[HumanPostEdit]], english: Sequence[str], *, missed: int
) -> None:
    """Print how many faults of each kind are caught, by language pair."""
    table: dict[str, dict[str, list[FaultTrial]]] = {kind: {} for kind in FAULTS}
    for pair, rows in corpora.items():
        for trial in run_fault_trials(rows, collect_fault_material(rows, english)):
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
