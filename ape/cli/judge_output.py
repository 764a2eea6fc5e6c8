"""Print judgements: wins, unscored items, position bias and agreement with people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from ape.cli.terminal import table_console
from eval.human.analysis.vote_selection import select_pair_votes
from eval.judge import UNSCORED_REASONS, JudgeAgreement, JudgeTally, NoHumanVotes, PairJudgements, SpanJudgements
from eval.judge.agreement import NO_COMMON_PAIRS
from eval.judge.judgement import UnscoredReason
from eval.statistics.counts import Unmeasured

if TYPE_CHECKING:
    from eval.human.vote import Vote
    from eval.metrics.scoring import EvaluationResults

_WARNING = "A judge is a model, not a reader."


def print_pairs(judged: PairJudgements) -> None:
    """Print the wins of each pair of systems, with bias and agreement."""
    console = table_console()
    console.print(_wins(judged.tallies()))
    scored = len(judged.pairs) - judged.unscored.total()
    typer.echo(f"{scored:,} of {len(judged.pairs):,} pairs have a verdict.")
    _print_reasons(judged.unscored)
    typer.echo(_bias(judged))
    typer.echo(f"{_WARNING} {_sentence(judged.agreement)}")
    typer.echo(f"Cost: {judged.cost}.")
    typer.echo(judged.signature)


def print_spans(
    judged: SpanJudgements, results: EvaluationResults, agreed: Mapping[str, JudgeAgreement | NoHumanVotes]
) -> None:
    """Print the scores, then the unscored segments."""
    from ape.cli.eval.score_output import print_scores

    print_scores(results)
    typer.echo(f"{sum(judged.common):,} of {len(judged.common):,} segments were marked for every system.")
    for system in judged.segments:
        unscored, dropped = judged.unscored(system), judged.dropped(system)
        if unscored or dropped:
            summary = f"{unscored.total()} segments unscored, {dropped.total()} marks dropped"
            reasons = ", ".join(f"{count} {why}" for why, count in (unscored + dropped).items())
            typer.echo(f"{system}: {summary} ({reasons})")
    for couple, agreement in agreed.items():
        typer.echo(f"{_WARNING} {couple}: {_sentence(agreement)}" if couple else f"{_WARNING} {_sentence(agreement)}")
    typer.echo(f"Cost: {judged.cost}.")


def agreement_with_votes(judged: SpanJudgements, votes: Sequence[Vote]) -> dict[str, JudgeAgreement | NoHumanVotes]:
    """Agreement for each pair of systems with votes, or the reason there is none."""
    if not select_pair_votes(votes):
        return {"": NoHumanVotes()}
    elsewhere = NoHumanVotes(NO_COMMON_PAIRS)
    found = {
        f"{first} and {second}": judged.as_pairs(first, second).with_agreement(votes).agreement
        for first, second in combinations(judged.segments, 2)
    }
    return {name: agreement for name, agreement in found.items() if agreement != elsewhere} or {"": elsewhere}


def _wins(tallies: Sequence[JudgeTally]) -> Table:
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


def _share(tally: JudgeTally) -> tuple[str, str, str]:
    share = tally.share
    if isinstance(share, Unmeasured):
        return "n/a", "", ""
    bounds = share.wilson
    return f"{share.rate:.0%}", f"[{bounds.low:.0%}, {bounds.high:.0%}]", f"{share.p_value:.2g}"


def _print_reasons(unscored: Mapping[UnscoredReason, int]) -> None:
    for why, count in unscored.items():
        typer.echo(f"  {count:,} {why}: {UNSCORED_REASONS[why]}")


def _bias(judged: PairJudgements) -> str:
    bias = judged.position_bias()
    if isinstance(bias, Unmeasured):
        return f"Position bias: unknown, {bias.why}."
    flips = bias.flips_to_first + bias.flips_to_second
    return (
        f"Position bias: the text shown first was chosen {bias.share:.0%} of the time "
        f"[{bias.bounds.low:.0%}, {bias.bounds.high:.0%}], {bias.flips_to_first:,} of {flips:,} flips went to it "
        f"(p = {bias.p_value:.2g})."
    )


def _sentence(agreed: JudgeAgreement | NoHumanVotes) -> str:
    sentence = f"it {agreed}." if isinstance(agreed, JudgeAgreement) else f"{agreed}."
    return sentence[0].upper() + sentence[1:]
