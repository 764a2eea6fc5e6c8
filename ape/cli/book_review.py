"""`ape book review`: open the review of a book that was done on the command line."""

from __future__ import annotations

import getpass
import webbrowser

import typer

from ape.cli.extras import require_modules
from ape.cli.terminal import print_line
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.settings import load_settings


def review_job(store: JobStore, job: Job, *, port: int, name: str, browser: bool) -> None:
    """Serve the review on this machine until interrupted."""
    require_modules("fastapi", "uvicorn")
    from serve.review_app import serve_review

    def announce(address: str) -> None:
        typer.echo(address)
        print_line("Ctrl+C ends the review; all decisions are stored.")
        if browser:
            webbrowser.open(address)

    settings = load_settings().model_copy(update={"host": "127.0.0.1", "port": port, "api_keys": (), "admin_keys": ()})
    serve_review(settings, store, job, reviewer=name or getpass.getuser(), opened=announce)
