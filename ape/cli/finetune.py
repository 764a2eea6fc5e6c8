"""`ape finetune build|train|check|export|openai`: from aligned books to an adapter that serves as it trained."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True)
