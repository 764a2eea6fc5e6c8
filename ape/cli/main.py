"""The command `ape`: all commands, and the only place where errors become exit codes.

Commands import what they need when they run, so that `ape --help` is quick and needs no extra.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import cache
from typing import Any, NoReturn

import typer

from ape.cli import batch, book, compare, demo, edit, finetune, judge, models, serve, settings, studio
from ape.cli.ab import app as ab_app
from ape.cli.command import CommandGroup
from ape.cli.errors import describe_error, describe_package_conflict
from ape.cli.eval import app as eval_app
from ape.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED
from ape.cli.extras import missing_module_message
from ape.errors import ApeError, InputError

app = CommandGroup(
    name="ape",
    help="Post-edit machine-translated books with language models, and measure the result.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(edit.edit)
app.add_typer(book.app, name="book", help="Post-edit whole books.")
app.add_typer(batch.app, name="batch", help="Post-edit many books, on this machine or a Ray cluster.")
app.command()(serve.serve)
app.command()(studio.studio)
app.add_typer(finetune.app, name="finetune", help="Build training sets; train, check and export adapters.")
app.add_typer(eval_app, name="eval", help="Score translations by general and discourse metrics.")
app.add_typer(judge.app, name="judge", help="Have a language model judge translations.")
app.add_typer(models.app, name="models", help="List and download models.")
app.command()(compare.compare)
app.add_typer(ab_app, name="ab", help="Make, serve and analyse blind A/B tests.")
app.command()(settings.settings)
app.command()(demo.demo)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from importlib import metadata

        typer.echo(metadata.version("ape-books"))
        raise typer.Exit


@cache
def root_command() -> Any:
    """The click command `ape`, whose types typer keeps private. It takes a tenth of a second to build."""
    return typer.main.get_command(app)


def main() -> NoReturn:
    """Run the command line; a failure is a sentence on stderr and the exit code of its error."""
    if conflict := describe_package_conflict():
        _fail(conflict, 1)
    _end_as_by_interrupt()
    try:
        root_command()()
    except ApeError as error:
        _fail(describe_error(error, root_command(), sys.argv[1:]), error.exit_code)
    except ModuleNotFoundError as error:
        if message := missing_module_message(error):
            _fail(message, InputError.exit_code)
        raise
    except KeyboardInterrupt:
        _fail("Stopped.", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Without this, Python complains at exit that it can't flush standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_BROKEN_PIPE)
    sys.exit(0)


def _end_as_by_interrupt() -> None:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does: work is left so that it can be resumed.

    A signal that is ignored stays ignored, as under nohup. The service has handlers of its own.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(*_: object) -> None:
    # A shell script starts its background commands with SIGINT ignored.
    if not callable(signal.getsignal(signal.SIGINT)):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _fail(message: str, exit_code: int) -> NoReturn:
    typer.echo(f"ape: {message}", err=True)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
