"""Run `ape compare`: read the set, run the models one by one, compare, and write the folder."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ape.cli.compare_output import print_comparison
from ape.cli.exit_codes import EXIT_INTERRUPTED, EXIT_NEEDS_ATTENTION
from ape.cli.job_progress import job_progress
from ape.cli.terminal import error_console, fetch_with_progress, passages_progress, print_line
from ape.errors import InputError
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.run import book_concurrency, open_book_engine, run_job
from ape.jobs.store import JobStore
from ape.jobs.worker import EngineOutage
from ape.settings import load_settings
from eval.compare.comparison import ComparisonResampling, SystemComparison, compare_systems
from eval.compare.comparison_folder import JOB_DATABASE, REPORT_FILE, prepare_folder, write_comparison
from eval.compare.comparison_set import ComparisonSet, build_comparison_set
from eval.compare.manifest import build_manifest
from eval.compare.model_job import (
    begin_model_job,
    find_finished_job,
    require_sources,
    system_from_job,
    system_job_id,
)
from eval.compare.opinions import UNCHECKED_VOTES_NOTE, LoadedOpinions, OpinionSources
from eval.compare.saved_comparison import merge_saved_comparisons, read_saved_comparison
from eval.compare.set_reader import ComparisonInputs, read_comparison_set, read_ready_systems
from eval.compare.system import System
from eval.compare.system_spec import ModelSystemSpec, SystemSpec, parse_systems
from eval.corpus.validation import CorpusRules
from eval.metrics.metric import Metric
from eval.metrics.registry import DEFAULT_METRICS, create_metrics

# What is measured where nobody says.
METRICS = (*DEFAULT_METRICS, "discourse")


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """The options of `ape compare`."""

    output: Path
    given: ComparisonInputs
    recipe: JobRecipe
    tests: ComparisonResampling
    opinions: OpinionSources
    systems: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    jobs: tuple[str, ...] = ()
    source_language: str = ""
    target_language: str = ""
    allow_empty: bool = False
    metrics: tuple[str, ...] = ()
    concurrency: int | None = None
    max_failures: int = 3
    replace: bool = False

    @property
    def rules(self) -> CorpusRules:
        """Rules for reading the set."""
        return CorpusRules(self.source_language, self.target_language, self.allow_empty, print_line)


def run_comparison(wanted: CompareRequest, *, json_output: bool = False) -> int:
    """Run the comparison and return the exit code."""
    metrics = create_metrics(list(wanted.metrics or METRICS))
    if wanted.runs:
        return _compare_runs(wanted, metrics, json_output=json_output)
    asked = parse_systems(wanted.systems)
    if not asked:
        raise InputError(
            "Name at least one system to compare with doing nothing: --system NAME=MODEL.", field="system"
        )
    data = _read(wanted, asked)
    ready = read_ready_systems(data, asked)
    models = [one for one in asked if isinstance(one, ModelSystemSpec)]
    if models:
        require_sources(data)
    names = [one.name for one in asked]
    heard = wanted.opinions.read(data, names, ready.values())
    prepare_folder(wanted.output, data, names, replace=wanted.replace)
    made = _all_made(data, models, wanted)
    if made is None:
        return EXIT_INTERRUPTED
    systems = [(ready | made)[one.name] for one in asked]
    files = wanted.given.files(asked)
    return _finish(wanted, data, systems, metrics, heard=heard, files=files, json_output=json_output)


def _compare_runs(wanted: CompareRequest, metrics: list[Metric], *, json_output: bool) -> int:
    if len(wanted.runs) < 2:
        raise InputError("Name two earlier runs at least: ape compare RUN1 RUN2 -o RUN.", field="runs")
    runs = [read_saved_comparison(folder) for folder in wanted.runs]
    data, systems = merge_saved_comparisons(runs)
    if not wanted.metrics:
        metrics = create_metrics(list(dict.fromkeys(name for run in runs for name in run.metrics)))
    names = [one.name for one in systems]
    heard = wanted.opinions.read(data, names, systems)
    prepare_folder(wanted.output, data, names, replace=wanted.replace)
    return _finish(wanted, data, systems, metrics, heard=heard, files=[], json_output=json_output)


def _read(wanted: CompareRequest, asked: Sequence[SystemSpec]) -> ComparisonSet:
    from eval.corpus.job_reader import MT_SYSTEM, read_jobs

    if not wanted.jobs:
        if not (wanted.given.tables or wanted.given.mt.startswith("@")):
            raise InputError(
                "Name the set: --data FILE, or --source FILE --mt @FILE, or --job ID.", field="data"
            )
        return read_comparison_set(wanted.given, asked, wanted.rules)
    if wanted.given.tables or wanted.given.source or wanted.given.mt:
        raise InputError("--job has its own source and MT: leave --data, --source and --mt out.", field="job")
    with JobStore(load_settings().jobs_url) as store:
        corpus = read_jobs(store, wanted.jobs, references=wanted.given.references, rules=wanted.rules)
    return build_comparison_set(corpus, MT_SYSTEM)


def _all_made(
    data: ComparisonSet, models: Sequence[ModelSystemSpec], wanted: CompareRequest
) -> dict[str, System] | None:
    """Run all models one by one; None if interrupted."""
    if not models:
        return {}
    with JobStore(str(wanted.output / JOB_DATABASE)) as store:
        try:
            return {one.name: _made(store, data, one, wanted) for one in models}
        except (KeyboardInterrupt, asyncio.CancelledError):
            _tell_how_to_go_on(store, models, len(data.ids))
            return None


def _made(store: JobStore, data: ComparisonSet, model: ModelSystemSpec, wanted: CompareRequest) -> System:
    """Run or resume the job of one model."""
    fetch_with_progress(model.settings)
    job = find_finished_job(store, model, wanted.recipe)
    if job is None:
        job = asyncio.run(_work(store, data, model, wanted))
    else:
        print_line(f"{model.name}: all {len(data.ids):,} paragraphs were done before.")
    return system_from_job(store, job, model)


async def _work(store: JobStore, data: ComparisonSet, model: ModelSystemSpec, wanted: CompareRequest) -> Job:
    async with open_book_engine(model.settings, concurrency=wanted.concurrency, report=print_line) as engine:
        job = await begin_model_job(store, data, model, engine, wanted.recipe)
        counts = store.counts(job.id)
        print_line(
            f"{model.name}: {counts.total - counts.waiting:,} of {counts.total:,} paragraphs are done."
        )
        count = book_concurrency(model.settings, wanted.concurrency)
        try:
            with job_progress(store, job) as listen:
                job = await run_job(
                    store, job, engine, concurrency=count, max_failures=wanted.max_failures, listen=listen
                )
        except EngineOutage as error:
            raise EngineOutage(f"{model.name}: {error} Run the same command again when it works.") from error
    if job.state is not JobState.DONE:
        raise InputError(f"The job of {model.name} was stopped by somebody else.", field="system")
    return store.update(job.id, state=JobState.DONE)


def _finish(
    wanted: CompareRequest,
    data: ComparisonSet,
    systems: Sequence[System],
    metrics: Sequence[Metric],
    *,
    heard: LoadedOpinions,
    files: Sequence[Path],
    json_output: bool,
) -> int:
    compared = _compared(data, systems, metrics, wanted.tests)
    try:
        opener = partial(open_book_engine, report=print_line)
        compared, notes = asyncio.run(heard.add_to(compared, open_engine=opener))
    except KeyboardInterrupt:
        print_line("Stopped. What the judge has said is kept, and the same command goes on.")
        return EXIT_INTERRUPTED
    for note in notes:
        print_line(f"{note} Name it with --trial." if note == UNCHECKED_VOTES_NOTE else note)
    files = [*files, *wanted.opinions.files]
    manifest = build_manifest(compared, command=["ape", *sys.argv[1:]], files=files)
    write_comparison(wanted.output, compared, manifest)
    print_comparison(compared, json_output=json_output)
    print_line(f"The report is {wanted.output / REPORT_FILE}.")
    return EXIT_NEEDS_ATTENTION if any(one.decisions["quarantined"] for one in compared.systems) else 0


def _compared(
    data: ComparisonSet, systems: Sequence[System], metrics: Sequence[Metric], tests: ComparisonResampling
) -> SystemComparison:
    """Measure with a progress bar."""
    with passages_progress(error_console()) as bar:
        task = bar.add_task("counting", total=len(metrics) * (len(systems) + 1), so_far="")

        def told(metric: str, system: str) -> None:
            bar.update(task, description=f"{metric} of {system}")
            bar.advance(task)

        return compare_systems(data, systems, metrics, tests=tests, on_progress=told)


def _tell_how_to_go_on(store: JobStore, models: Sequence[ModelSystemSpec], paragraphs: int) -> None:
    done = sum(_done(store, model) for model in models)
    print_line(
        f"Stopped. {done:,} of {paragraphs * len(models):,} paragraphs are finished and saved. The same command goes "
        f"on:\n  {shlex.join(['ape', *sys.argv[1:]])}"
    )


def _done(store: JobStore, model: ModelSystemSpec) -> int:
    counts = store.counts(system_job_id(model.name))
    return counts.done + counts.skipped
