"""`ape studio`: the service on this machine, and its pages in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from ape.cli.flags import EngineFlags, expand_flag_groups


@expand_flag_groups
def studio(
    engine_flags: EngineFlags,
    port: Annotated[int | None, typer.Option(help="Port; 0 for any free port.")] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address to open.")
    ] = True,
) -> None:
    """Open the studio: upload books, check names, watch them, review and download them.

    The service answers on this machine only, and only to the browser that opens its one-time address.
    """
    import secrets
    import webbrowser

    from ape.cli.terminal import fetch_with_progress
    from serve.run import run

    settings = engine_flags.settings(host="127.0.0.1", port=port)
    settings = settings.model_copy(update={"api_keys": (), "admin_keys": ()})
    fetch_with_progress(settings)
    token = secrets.token_urlsafe(24)

    def announce(address: str) -> None:
        entry = f"{address}/enter/{token}"
        typer.echo(f"Open {entry}", err=True)
        if browser:
            webbrowser.open(entry)

    run(settings, entry_token=token, opened=announce)
