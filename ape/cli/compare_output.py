"""Print a comparison: scores, decisions and identical systems."""

from __future__ import annotations

import json
from statistics import fmean

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ape.cli.eval.score_output import print_scores
from ape.cli.terminal import table_console
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING
from eval.compare.system import System


def print_comparison(compared: SystemComparison, *, json_output: bool) -> None:
    """Print the comparison as tables or JSON."""
    if json_output:
        typer.echo(json.dumps(compared.to_dict(), ensure_ascii=False, indent=1))
        return
    print_scores(compared.results)
    screen = table_console()
    screen.print()
    screen.print(_decisions_table(compared))
    for names in compared.identical_groups:
        screen.print(f"{' and '.join(names)} have the same text in every paragraph.", markup=False)
    _print_wins(screen, compared)
    _print_votes(screen, compared)


def _decisions_table(compared: SystemComparison) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("system", "edit rate", "changed", "decisions"):
        table.add_column(heading, justify="right" if heading in ("edit rate", "changed") else "left")
    for system in compared.systems:
        rates = compared.rates[system.name]
        changed = f"{sum(rate > 0 for rate in rates):,} of {len(rates):,}"
        table.add_row(Text(system.name), f"{fmean(rates):.1%}", changed, Text(_describe_decisions(system)))
    return table


def _describe_decisions(system: System) -> str:
    if system.kind != "model":
        return {"nothing": "unedited MT", "ready": "ready outputs, not checked by guards"}[system.kind]
    decisions = ", ".join(f"{count:,} {decision}" for decision, count in system.decisions.most_common())
    guards = ", ".join(f"{guard} {sum(counts.values()):,}" for guard, counts in system.findings().items())
    return decisions + (f" (guards: {guards})" if guards else "")


def _print_wins(screen: Console, compared: SystemComparison) -> None:
    """How often each system beats the unedited MT, by the leading metric."""
    matrix = compared.matrices.get(compared.leading)
    if matrix is None:
        return
    for name in compared.names[1:]:
        wins = matrix.wins.get((name, DO_NOTHING))
        if wins and wins.share is not None and wins.interval:
            low, high = wins.interval
            screen.print(
                f"{name} beats {DO_NOTHING} in {wins.share:.1%} [{low:.1%}, {high:.1%}] of the "
                f"{wins.better + wins.worse:,} {matrix.unit}s where they differ by {compared.leading}; "
                f"{wins.ties:,} {'tie' if wins.ties == 1 else 'ties'}.",
                markup=False,
            )


def _print_votes(screen: Console, compared: SystemComparison) -> None:
    """Human preferences, and the metrics that agree with them."""
    if not compared.voted:
        return
    for preference in compared.voted["preferences"]:
        if preference.get("interval"):
            low, high = preference["interval"]["low"], preference["interval"]["high"]
            screen.print(
                f"People prefer {preference['system']} to {preference['other']} in {preference['rate']:.1%} "
                f"[{low:.1%}, {high:.1%}] of {preference['wins'] + preference['losses']:,} votes.",
                markup=False,
            )
    for name, agreement in compared.voted["metrics"].items():
        accuracy = agreement.get("accuracy", agreement)
        if "value" in accuracy:
            low, high = accuracy["interval"]
            screen.print(
                f"{name} agrees with people in {accuracy['value']:.1%} [{low:.1%}, {high:.1%}] of "
                f"{agreement['votes']:,} votes.",
                markup=False,
            )
