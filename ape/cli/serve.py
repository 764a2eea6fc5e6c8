"""`ape serve`: the HTTP service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.flags import EngineFlags, expand_flag_groups
from ape.errors import InputError

if TYPE_CHECKING:
    from ape.settings import Settings


@expand_flag_groups
def serve(
    engine_flags: EngineFlags,
    host: Annotated[
        str | None, typer.Option(help="Address to bind to; APE_API_KEYS is required unless it is loopback.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 for any free port.")] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option("--alias", help="Alias of a model, as NAME=MODEL, e.g. default=my-adapter; repeatable."),
    ] = None,
    vllm_flags: Annotated[
        list[str] | None, typer.Argument(metavar="-- VLLM_FLAGS", help="Flags for vLLM, after --.")
    ] = None,
) -> None:
    """Run the HTTP service.

    Requests are logged to stdout as JSON lines; everything else goes to stderr.
    """
    from ape.cli.terminal import fetch_with_progress
    from serve.middleware.auth import refuse_open_binding
    from serve.run import run

    settings = engine_flags.settings(host=host, port=port, aliases=alias or None, vllm_flags=vllm_flags or None)
    _refuse_vllm_flags(settings, vllm_flags)
    refuse_open_binding(settings)
    fetch_with_progress(settings)
    run(settings)


def _refuse_vllm_flags(settings: Settings, vllm_flags: list[str] | None) -> None:
    if vllm_flags and (settings.engine != "vllm" or settings.url):
        raise InputError(
            f"{vllm_flags[0]!r} is not a known flag. Flags after -- are for a vLLM that is started here "
            "(--engine vllm without --url).",
            field="vllm_flags",
        )
