"""`ape ab serve`: serve a trial to raters, with a personal link for each."""

from __future__ import annotations

import secrets
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.ab.flags import RatersFlag, StoreFlag, TrialArgument, parse_names
from ape.errors import InputError

if TYPE_CHECKING:
    from ape.settings import Settings
    from eval.human.trial import Trial
    from eval.human.trial_store import TrialStore


def serve(
    trial: TrialArgument,
    raters: RatersFlag = None,
    store: StoreFlag = None,
    host: Annotated[
        str | None, typer.Option(help="Address to bind to; use an HTTPS proxy unless it is loopback.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 for any free port.")] = None,
    address: Annotated[
        str | None, typer.Option(metavar="URL", help="Public URL of the service, e.g. https://tests.example.org.")
    ] = None,
    new_links: Annotated[
        bool, typer.Option("--new-links", help="Give every rater a new link and revoke the old ones.")
    ] = False,
) -> None:
    """Serve a trial until Ctrl-C, and print the links for raters and results.

    Votes are stored immediately. A link is printed only once, because the store
    keeps only its hash.
    """
    from ape.network import is_loopback, url_host
    from ape.settings import load_settings
    from eval.human.trial_file import read_trial
    from eval.human.trial_store import TrialStore

    made = read_trial(trial)
    settings = load_settings(host=host, port=port, jobs=store)
    key = ""
    # Requests through a proxy may come from this machine, so the results need a key behind a proxy too.
    is_ours = is_loopback(settings.host) and (not address or is_loopback(url_host(address)))
    if not is_ours and not settings.admin_keys:
        key = secrets.token_urlsafe(16)
        settings = settings.model_copy(update={"admin_keys": load_settings(admin_keys=key).admin_keys})
    with TrialStore(settings.jobs_url) as trials:
        trials.add(made)
        people = parse_names(raters) or made.raters or tuple(rater.name for rater in trials.raters(made.id))
        if not people:
            raise InputError("There are no raters: name them with --raters anna,ben.", field="raters")
        _run(settings, trials, made, people=people, address=address, key=key, new_links=new_links)


def _run(
    settings: Settings,
    trials: TrialStore,
    trial: Trial,
    *,
    people: tuple[str, ...],
    address: str | None,
    key: str,
    new_links: bool,
) -> None:
    import asyncio
    import signal

    import uvicorn

    from ape.cli.terminal import print_line
    from serve.pages import create_pages_app
    from serve.run import address_of, listen

    with listen(settings) as listener:
        bound = _public_address(address_of(listener))
        base = (address or bound).rstrip("/")
        _invite(trials, trial, people, base=base, new_links=new_links)
        typer.echo(f"results  {base}/ab/{trial.id}/results" + (f"  (key: {key})" if key else ""))
        app = create_pages_app(settings, trials)
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, proxy_headers=False)
        server = uvicorn.Server(config)
        # Otherwise uvicorn raises the signal again after it has stopped, and the command would fail.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, server.handle_exit)
        print_line(
            f"Ready on {bound}. Press Ctrl-C to stop. Votes are saved; links work again when the trial is served again."
        )
        asyncio.run(server.serve(sockets=[listener]))
        print_line("Stopped.")


def _public_address(address: str) -> str:
    """The host name for links to a service that is bound to all addresses."""
    return address.replace("//0.0.0.0:", f"//{socket.getfqdn()}:").replace("//[::]:", f"//{socket.getfqdn()}:")


def _invite(trials: TrialStore, trial: Trial, people: tuple[str, ...], *, base: str, new_links: bool) -> None:
    """Print a link for each rater; existing links stay valid."""
    invited = {rater.name for rater in trials.raters(trial.id) if rater.invited}
    for name in people:
        if name in invited and not new_links:
            typer.echo(f"{name}  already has a link (--new-links replaces it)")
        else:
            typer.echo(f"{name}  {base}/ab/r/{trials.invite(trial.id, name)}")
