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
        str | None,
        typer.Option(metavar="URL", help="Public URL of the service, e.g. https://tests.example.org."),
    ] = None,
    new_links: Annotated[
        bool,
        typer.Option("--new-links", help="Give every rater a new link and revoke the old ones."),
    ] = False,
) -> None:
    """Serve a trial until Ctrl-C, and print the links for raters and results.

    Votes are in the store as soon as they are made. A link is shown once: only its hash is kept.
    """
    from ape.network import is_loopback, url_host
    from ape.settings import load_settings
    from eval.human.trial_file import read_trial
    from eval.human.trial_store import TrialStore

    made = read_trial(trial)
    settings = load_settings(host=host, port=port, jobs=store)
    key = ""
    # A proxy may ask for everyone by this machine's own name, so behind one the results need a key too.
    is_ours = is_loopback(settings.host) and (not address or is_loopback(url_host(address)))
    if not is_ours and not settings.admin_keys:
        key = secrets.token_urlsafe(16)
        settings = settings.model_copy(update={"admin_keys": load_settings(admin_keys=key).admin_keys})
    with TrialStore(settings.jobs_url) as trials:
        trials.add(made)
        people = parse_names(raters) or made.raters or tuple(one.name for one in trials.raters(made.id))
        if not people:
            raise InputError(
                "Nobody is there to vote: name the raters with --raters anna,ben.", field="raters"
            )
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
        bound = _reached(address_of(listener))
        base = (address or bound).rstrip("/")
        _invite(trials, trial, people, base=base, new_links=new_links)
        typer.echo(f"results  {base}/ab/{trial.id}/results" + (f"  (key: {key})" if key else ""))
        app = create_pages_app(settings, trials)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, proxy_headers=False
        )
        server = uvicorn.Server(config)
        # Once it has stopped, uvicorn raises the signal that stopped it again: but to stop when told to is success.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, server.handle_exit)
        print_line(
            f"Ready on {bound}. Ctrl-C stops. Votes are kept, and links work again once it is served there again."
        )
        asyncio.run(server.serve(sockets=[listener]))
        print_line("Stopped.")


def _reached(address: str) -> str:
    """The host name for links to a service that is bound to all addresses."""
    return address.replace("//0.0.0.0:", f"//{socket.getfqdn()}:").replace(
        "//[::]:", f"//{socket.getfqdn()}:"
    )


def _invite(trials: TrialStore, trial: Trial, people: tuple[str, ...], *, base: str, new_links: bool) -> None:
    """Print a link for each rater; existing links stay valid."""
    there = {rater.name for rater in trials.raters(trial.id) if rater.invited}
    for name in people:
        if name in there and not new_links:
            typer.echo(f"{name}  has a link already (--new-links gives another, and ends that one)")
        else:
            typer.echo(f"{name}  {base}/ab/r/{trials.invite(trial.id, name)}")
