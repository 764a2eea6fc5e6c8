"""`ape serve`: the HTTP service."""

from __future__ import annotations

from typing import Annotated

import typer

from ape.cli.flags import EngineFlag, ModelFlag, UrlFlag


def serve(
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
    host: Annotated[
        str | None, typer.Option(help="Address to bind to; other than loopback needs APE_API_KEYS.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 is any free one.")] = None,
) -> None:
    """Serve POST /v1/post-edit and its companions over HTTP."""
    from ape.cli.talk import error_console, fetch_with_progress
    from ape.settings import load_settings
    from serve.door import refuse_open_binding
    from serve.run import run

    settings = load_settings(engine=engine, url=url, model=model, host=host, port=port)
    refuse_open_binding(settings)
    fetch_with_progress(settings)
    console = error_console()
    run(settings, tell=lambda text: console.print(text, markup=False))
