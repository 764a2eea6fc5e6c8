"""`ape finetune build|train|check|export|openai`: from aligned books to an adapter that serves as it trained."""

from __future__ import annotations

import typer

from ape.cli.finetune_build import build
from ape.cli.finetune_check import check
from ape.cli.finetune_export import export
from ape.cli.finetune_gate import gate
from ape.cli.finetune_openai import openai
from ape.cli.finetune_score import score
from ape.cli.finetune_train import train

app = typer.Typer(no_args_is_help=True)
app.command()(build)
app.command()(train)
app.command()(check)
app.command()(gate)
app.command()(score)
app.command()(export)
app.command()(openai)
