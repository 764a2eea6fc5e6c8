"""`ape`: the commands, and the one place where errors become exit codes.

Commands import their parts inside, so that `ape --help` is quick and a missing extra is a clear sentence.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from ape.cli import book, compare, demo, edit, finetune, judge, models, serve, settings
from ape.cli.ab import app as ab_app
from ape.cli.eval import app as eval_app
from ape.errors import ApeError

app = typer.Typer(
    name="ape",
    help="Repairs machine-translated literature with language models, or keeps it and says why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(edit.edit)
app.add_typer(book.app, name="book", help="Post-edit whole books: plan, edit, look, export.")
app.command()(serve.serve)
app.add_typer(
    finetune.app, name="finetune", help="From aligned books to a LoRA adapter that serves as it trained."
)
app.add_typer(eval_app, name="eval", help="Measure translations, and what of a text they keep together.")
app.add_typer(judge.app, name="judge", help="Ask a model which translation is better, or what is wrong.")
app.add_typer(models.app, name="models", help="The models we know, and which are on this machine.")
app.command()(compare.compare)
app.add_typer(
    ab_app, name="ab", help="Blind A/B tests: make them, serve them to raters, tell what the votes say."
)
app.command()(settings.settings)
app.command()(demo.demo)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from importlib import metadata

        typer.echo(metadata.version("ape-books"))
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; a failure is a sentence on stderr and the exit code of its error."""
    try:
        app()
    except ApeError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("Stopped.")
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone (`ape … | head`): leave without a word, and without Python's own complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    sys.exit(0)


def _say(message: str) -> None:
    typer.echo(f"ape: {message}", err=True)


if __name__ == "__main__":
    main()
