"""`ape eval`: score translations by general and discourse metrics."""

from __future__ import annotations

from ape.cli.command import CommandGroup
from ape.cli.eval import coherence
from ape.cli.eval.agree import agree
from ape.cli.eval.board import board
from ape.cli.eval.coreference import coreference
from ape.cli.eval.mine import mine
from ape.cli.eval.score import score
from ape.cli.eval.suite import suite

app = CommandGroup()
app.command()(score)
app.command()(suite)
app.command()(mine)
app.command()(agree)
app.command()(board)
app.command()(coreference)
app.add_typer(coherence.app, name="coherence", help="Train and inspect coherence scorers.")
