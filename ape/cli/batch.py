"""`ape batch`: plan, run and put together a library of books, on Ray."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.command import CommandGroup
from ape.cli.flags import (
    AdapterFlag,
    ContextFlag,
    EngineFlag,
    GlossaryFlag,
    InstructionsFlag,
    JsonFlag,
    ModelFlag,
    engine_settings,
    expand_flag_groups,
    parse_glossary_flags,
)
from ape.passage.options import DEFAULT_CONTEXT_SIZE, SharedOptions

if TYPE_CHECKING:
    from ape.cli.flags import EngineName
    from ape.settings import Settings

app = CommandGroup()

FolderArgument = Annotated[
    str, typer.Argument(metavar="FOLDER", help="Folder of the batch, or its URL, as s3://bucket/batch.")
]
UrlsFlag = Annotated[
    list[str] | None,
    typer.Option("--url", help="URL of an OpenAI-compatible server; repeatable, to share the work between several."),
]


class RedoGroup(StrEnum):
    """What to do again."""

    QUARANTINED = "quarantined"


@app.command()
@expand_flag_groups
def plan(
    manifest: Annotated[
        Path,
        typer.Argument(
            metavar="MANIFEST",
            help="CSV or JSONL with the columns mt and output; also source, source_language, target_language, adapter, "
            "names, encoding, format.",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Folder of the batch, or its URL.")] = ...,  # type: ignore[assignment]
    glossary: GlossaryFlag = None,
    instructions: InstructionsFlag = "",
    context: ContextFlag = DEFAULT_CONTEXT_SIZE,
    *,
    options: SharedOptions,
    names: Annotated[
        str, typer.Option("--names", help="Names to repair in books without their own: auto, none, or a file.")
    ] = "",
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out the books that can't be edited, instead of refusing the manifest.")
    ] = False,
    engine: EngineFlag = None,
    url: UrlsFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Read all books of a manifest and write their stretches, sorted by adapter and book.

    Plan again after a change: what has not changed is not edited again.
    """
    from ape.cli.batch_run import make_plan
    from ape.jobs.job import JobRecipe
    from ape.passage.options import check_bounds, option_values

    recipe = JobRecipe(
        **option_values(options),
        context=context,
        glossary=tuple(sorted(parse_glossary_flags(glossary).items())),
        instructions=instructions,
    )
    check_bounds(recipe)
    settings, urls = _settings(engine, url, model, adapter)
    raise typer.Exit(
        make_plan(manifest, output, recipe, settings, urls, names=names, skip=skip, json_output=json_output)
    )


@app.command()
@expand_flag_groups
def run(
    folder: FolderArgument,
    address: Annotated[
        str | None, typer.Option("--address", help="Address of a Ray cluster; Ray runs on this machine by default.")
    ] = None,
    actors: Annotated[int, typer.Option("--actors", min=1, help="Actors, each with engines of its own.")] = 1,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, help="Stretches that an actor edits at once; its engine's by default."),
    ] = None,
    cpus: Annotated[float, typer.Option("--cpus", min=0.0, help="CPUs that each actor reserves.")] = 1.0,
    gpus: Annotated[float, typer.Option("--gpus", min=0.0, help="GPUs that each actor reserves.")] = 0.0,
    failures: Annotated[
        int, typer.Option("--failures", min=1, help="How many times a paragraph may fail before it is quarantined.")
    ] = 3,
    patience: Annotated[
        float, typer.Option("--patience", min=0.0, help="Seconds without any engine before the run stops.")
    ] = 300.0,
    redo: Annotated[RedoGroup | None, typer.Option("--redo", help="Edit again: the paragraphs in quarantine.")] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Use the processor of ray.data.llm: paragraphs alone, one draft each, no ledger and no edit filter.",
        ),
    ] = False,
    *,
    engine: EngineFlag = None,
    url: UrlsFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
) -> None:
    """Edit what the plan has and the results have not. Run the same command again to resume.

    The exit code is 3 if stretches are in quarantine.
    """
    from ape.batch.run import Cluster
    from ape.cli.batch_run import run_plan

    settings, urls = _settings(engine, url, model, adapter)
    cluster = Cluster(address, actors, cpus, gpus)
    raise typer.Exit(
        run_plan(
            folder,
            settings,
            urls,
            cluster,
            concurrency=concurrency,
            max_failures=failures,
            patience=patience,
            redo_quarantined=redo is not None,
            plain=plain,
        )
    )


@app.command()
def assemble(
    folder: FolderArgument,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace output files that the batch did not write.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Write the finished books, each in the format of its MT, and name what is missing.

    The books become jobs: `ape book review`, `report` and `export` work on them. The exit code is 3 if a book is
    missing or needs attention.
    """
    from ape.cli.batch_run import assemble_plan

    raise typer.Exit(assemble_plan(folder, overwrite=overwrite, json_output=json_output))


@app.command()
def status(folder: FolderArgument, json_output: JsonFlag = False) -> None:
    """Show how far each book of the batch is."""
    from ape.cli.batch_run import print_status

    raise typer.Exit(print_status(folder, json_output=json_output))


def _settings(
    engine: EngineName | None, urls: list[str] | None, model: str | None, adapter: list[str] | None
) -> tuple[Settings, tuple[str, ...]]:
    """The settings of the flags, with the first URL, and all URLs."""
    settings = engine_settings(engine=engine, url=urls[0] if urls else None, model=model, adapter=adapter)
    others = tuple(engine_settings(engine=engine, url=one, model=model, adapter=None).url or "" for one in urls or ())
    return settings, others or ((settings.url,) if settings.url else ())
