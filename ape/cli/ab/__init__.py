"""`ape ab`: make, serve and analyse blind A/B tests."""

from __future__ import annotations

from ape.cli.ab.analyse import analyse
from ape.cli.ab.make import make
from ape.cli.ab.serve import serve
from ape.cli.ab.votes import export, import_votes
from ape.cli.command import CommandGroup

app = CommandGroup()
app.command()(make)
app.command()(serve)
app.command("import")(import_votes)
app.command()(export)
app.command()(analyse)
