"""`ape finetune`: build training sets; train, check and export adapters."""

from __future__ import annotations

from ape.cli.command import CommandGroup
from ape.cli.finetune.build import build
from ape.cli.finetune.check import check
from ape.cli.finetune.edit_filter import gate
from ape.cli.finetune.export import export
from ape.cli.finetune.openai import openai
from ape.cli.finetune.score import score
from ape.cli.finetune.train import train

app = CommandGroup()
app.command()(build)
app.command()(train)
app.command()(check)
app.command()(gate)
app.command()(score)
app.command()(export)
app.command()(openai)
