"""`ape compare`: compare models and ready outputs with the unedited MT on one set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ape.cli.corpus_flags import (
    AllowEmptyFlag,
    DocumentsFlag,
    EncodingFlag,
    JobsFlag,
    ReferencesFlag,
    ResampleFlag,
    SamplesFlag,
    parse_documents,
)
from ape.cli.flags import ContextFlag, JsonFlag, SourceLanguageFlag, TargetLanguageFlag, expand_flag_groups, option_flag
from ape.errors import InputError
from ape.passage.options import DEFAULT_CONTEXT_SIZE, DEFAULT_OPTIONS, Seed, SharedOptions

_SYSTEM = (
    "A system; repeatable. NAME=MODEL: a name of `ape models list`, default, a .gguf file, a hub id or an adapter "
    "directory. NAME=URL#MODEL: a model of a server. NAME=@FILE: ready outputs, one line per paragraph, or JSON lines "
    "with id and text. NAME=:SYSTEM: a system of the set."
)


@expand_flag_groups
def compare(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN1 RUN2", help="Folders of earlier comparisons of the same set, to merge."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(metavar="SET", help="JSON lines or TSV with source, MT and optional references; repeatable."),
    ] = None,
    system: Annotated[list[str] | None, typer.Option(metavar="NAME=MODEL", help=_SYSTEM)] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="RUN", help="Folder of the comparison.")] = ...,  # type: ignore[assignment]
    mt: Annotated[
        str, typer.Option(help="System of the set that is the MT, or @FILE; by default mt, gt or the only system.")
    ] = "",
    source: Annotated[Path | None, typer.Option(help="Source, one segment per line, without --data.")] = None,
    reference: ReferencesFlag = None,
    job: JobsFlag = None,
    documents: DocumentsFlag = "auto",
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric of `ape eval score`; repeatable; by default BLEU, chrF, TER and discourse."),
    ] = None,
    judge: Annotated[str | None, typer.Option(metavar="MODEL", help="Judge model, as MODEL or URL#MODEL.")] = None,
    judge_items: Annotated[int, typer.Option(min=1, help="Number of random paragraphs of each system to judge.")] = 50,
    votes: Annotated[
        Path | None, typer.Option(help="File of human votes on these systems, as `ape ab` writes it.")
    ] = None,
    trial: Annotated[
        Path | None, typer.Option(help="Trial of those votes; the judge is then shown the same texts.")
    ] = None,
    context: ContextFlag = DEFAULT_CONTEXT_SIZE,
    *,
    options: SharedOptions,
    seed: Annotated[
        int, option_flag(Seed, "--seed", help="Seed of the models, the resampling and the judge's sample.")
    ] = DEFAULT_OPTIONS.seed,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Paragraphs edited concurrently; the engine's capacity by default.")
    ] = None,
    failures: Annotated[
        int, typer.Option(min=1, help="How many times a paragraph may fail before it is quarantined.")
    ] = 3,
    replace: Annotated[
        bool, typer.Option("--overwrite", help="Drop systems of a finished comparison in RUN that are not named now.")
    ] = False,
    samples: SamplesFlag = 1000,
    resample: ResampleFlag = None,
    allow_empty: AllowEmptyFlag = False,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Compare systems on the same set, always including the unedited MT.

    The same command again resumes an interrupted comparison. RUN gets
    results.json, outputs.jsonl, manifest.json and report.html. The exit code is 3
    if paragraphs were quarantined and kept their MT.
    """
    from ape.cli.compare_run import run_comparison
    from ape.cli.extras import require_modules
    from ape.jobs.job import JobRecipe
    from ape.passage.options import check_bounds, option_values
    from ape.text.languages import language_code
    from eval.compare.comparison import ComparisonResampling
    from eval.compare.opinions import OpinionSources
    from eval.compare.run import CompareRequest
    from eval.compare.set_reader import ComparisonInputs

    require_modules("scipy")  # the tests, after hours of work by the models
    if runs and (data or system or mt or source or reference or job):
        raise InputError(
            "Earlier runs have their own set and systems. Leave out --data, --system, --mt, --source, --reference "
            "and --job.",
            field="runs",
        )
    if not (runs or system):
        raise InputError("Name at least one system to compare with the MT: --system NAME=MODEL.", field="system")
    if not (runs or data or job or mt.startswith("@")):
        raise InputError("Name the set: --data FILE, --source FILE --mt @FILE, or --job ID.", field="data")
    recipe = JobRecipe(context=context, **option_values(options))
    check_bounds(recipe)
    request = CompareRequest(
        output=output,
        runs=tuple(runs or ()),
        inputs=ComparisonInputs(
            tuple(data or ()), mt, source, tuple(reference or ()), parse_documents(documents), encoding
        ),
        jobs=tuple(job or ()),
        systems=tuple(system or ()),
        source_language=language_code(source_language) if source_language else "",
        target_language=language_code(target_language) if target_language else "",
        allow_empty=allow_empty,
        metrics=tuple(metric or ()),
        tests=ComparisonResampling(samples, seed, resample or ""),
        recipe=recipe,
        concurrency=concurrency,
        max_failures=failures,
        replace=replace,
        opinions=OpinionSources(judge or "", judge_items, votes, trial, seed),
    )
    raise typer.Exit(run_comparison(request, json_output=json_output))
