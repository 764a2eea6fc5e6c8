"""What a judge said, on a terminal: with what it failed at, where it is biased, and whether people agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval.judge import REASONS, Agreement, Judged, NoVotes, SpansJudged, Tally
from eval.judge.agreement import ELSEWHERE
from eval.judge.judgement import Why
from eval.metric import Unmeasured
from eval.preference.counted import counted

if TYPE_CHECKING:
    from eval.preference.vote import Vote
    from eval.scoring import Results

_WIDTH = 150  # of the table, where no terminal says its own
_WARNING = "A judge is a model, not a reader."


def show_pairs(judged: Judged) -> None:
    """The wins of every two systems, and what they are worth."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(_wins(judged.tallies()))
    scored = len(judged.pairs) - judged.unscored.total()
    typer.echo(f"{scored:,} of {len(judged.pairs):,} pairs have a verdict.")
    _tell_reasons(judged.unscored)
    typer.echo(_bias(judged))
    typer.echo(f"{_WARNING} {_sentence(judged.agreement)}")
    typer.echo(f"Cost: {judged.cost}.")
    typer.echo(judged.signature)


def show_spans(judged: SpansJudged, results: Results, agreed: Mapping[str, Agreement | NoVotes]) -> None:
    """The scores as of any metric, then what could not be scored."""
    from ape.cli.eval.score_show import show

    show(results)
    typer.echo(f"{sum(judged.common):,} of {len(judged.common):,} segments were marked for every system.")
    for system in judged.segments:
        unscored, dropped = judged.unscored(system), judged.dropped(system)
        if unscored or dropped:
            told = f"{unscored.total()} segments unscored, {dropped.total()} marks dropped"
            whys = ", ".join(f"{count} {why}" for why, count in (unscored + dropped).items())
            typer.echo(f"{system}: {told} ({whys})")
    for couple, one in agreed.items():
        typer.echo(f"{_WARNING} {couple}: {_sentence(one)}" if couple else f"{_WARNING} {_sentence(one)}")
    typer.echo(f"Cost: {judged.cost}.")


def agreements(judged: SpansJudged, votes: Sequence[Vote]) -> dict[str, Agreement | NoVotes]:
    """For every two systems that people voted on; where there are none, why."""
    if not counted(votes):
        return {"": NoVotes()}
    elsewhere = NoVotes(ELSEWHERE)
    found = {
        f"{one} and {other}": judged.as_pairs(one, other).beside(votes).agreement
        for one, other in combinations(judged.segments, 2)
    }
    return {name: one for name, one in found.items() if one != elsewhere} or {"": elsewhere}


def _wins(tallies: Sequence[Tally]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    table.add_column("against")
    for name in ("wins", "losses", "ties", "unscored", "share", "95% interval", "p"):
        table.add_column(name, justify="right")
    for tally in tallies:
        first, second = tally.systems
        counts = (*tally.wins, tally.ties, sum(tally.unscored.values()))
        table.add_row(Text(first), Text(second), *map(str, counts), *_share(tally))
    return table


def _share(tally: Tally) -> tuple[str, str, str]:
    share = tally.share
    if isinstance(share, Unmeasured):
        return "n/a", "", ""
    bounds = share.wilson
    return f"{share.rate:.0%}", f"[{bounds.low:.0%}, {bounds.high:.0%}]", f"{share.p_value:.2g}"


def _tell_reasons(unscored: Mapping[Why, int]) -> None:
    for why, count in unscored.items():
        typer.echo(f"  {count:,} {why}: {REASONS[why]}")


def _bias(judged: Judged) -> str:
    bias = judged.position_bias()
    if isinstance(bias, Unmeasured):
        return f"Position bias: can't be told, {bias.why}."
    flips = bias.flips_to_first + bias.flips_to_second
    return (
        f"Position bias: the text shown first was chosen {bias.share:.0%} of the time "
        f"[{bias.bounds.low:.0%}, {bias.bounds.high:.0%}], {bias.flips_to_first:,} of {flips:,} flips went to it "
        f"(p = {bias.p_value:.2g})."
    )


def _sentence(agreed: Agreement | NoVotes) -> str:
    told = f"it {agreed}." if isinstance(agreed, Agreement) else f"{agreed}."
    return told[0].upper() + told[1:]
