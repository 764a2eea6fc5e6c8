"""Run a comparison: read and check the inputs, run the models one by one, compare, and write the folder.

The command line takes these steps one by one; interrupted, it resumes with the same request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ape.errors import InputError
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.run import book_concurrency, open_book_engine, run_job
from ape.jobs.store import JobStore
from ape.jobs.stretch_editor import EngineOutage
from ape.jobs.worker import JobListener
from ape.settings import Settings, load_settings
from eval.compare.comparison import ComparisonResampling
from eval.compare.comparison_folder import JOB_DATABASE, prepare_folder
from eval.compare.comparison_set import ComparisonSet, build_comparison_set
from eval.compare.model_job import begin_model_job, find_finished_job, require_sources, system_from_job, system_job_id
from eval.compare.opinions import LoadedOpinions, OpinionSources
from eval.compare.saved_comparison import merge_saved_comparisons, read_saved_comparison
from eval.compare.set_reader import ComparisonInputs, read_comparison_set, read_ready_systems
from eval.compare.system import System
from eval.compare.system_spec import ModelSystemSpec, SystemSpec, parse_systems
from eval.corpus.validation import CorpusRules
from eval.metrics.metric import Metric
from eval.metrics.registry import DEFAULT_METRICS, create_metrics

COMPARISON_METRICS = (*DEFAULT_METRICS, "discourse")


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Systems and a set to compare them on, or folders of earlier comparisons to merge, and the output folder."""

    output: Path
    inputs: ComparisonInputs
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


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """The checked inputs: the set, the names of the systems in order, ready outputs, and models to run."""

    data: ComparisonSet
    names: Sequence[str]
    ready: dict[str, System]
    models: Sequence[ModelSystemSpec]
    metrics: Sequence[Metric]
    opinions: LoadedOpinions
    files: Sequence[Path]


class ComparisonProgress(Protocol):
    """Shows the progress of the models."""

    def report(self, line: str, /) -> None:
        """Show a sentence."""

    def fetch_model(self, settings: Settings, /) -> None:
        """Download a model, if necessary."""

    def follow_job(self, store: JobStore, job: Job, /) -> AbstractContextManager[JobListener]:
        """Follow the job of a model; the context gives its listener."""


def plan_comparison(request: CompareRequest, *, report: Callable[[str], None]) -> PlannedComparison:
    """Read and check all inputs and prepare the folder before any model runs. Raises InputError."""
    metrics = create_metrics(list(request.metrics or COMPARISON_METRICS))
    plan = _plan_merge(request, metrics) if request.runs else _plan_systems(request, metrics, report)
    prepare_folder(request.output, plan.data, plan.names, replace=request.replace)
    return plan


def run_models(plan: PlannedComparison, request: CompareRequest, progress: ComparisonProgress) -> list[System]:
    """Run or resume the models one by one; return all systems in order."""
    systems = dict(plan.ready)
    if plan.models:
        with JobStore(str(request.output / JOB_DATABASE)) as store:
            for model in plan.models:
                systems[model.name] = _run_model(store, plan.data, model, request, progress)
    return [systems[name] for name in plan.names]


def count_finished_paragraphs(plan: PlannedComparison, request: CompareRequest) -> int:
    """Number of paragraphs of all models that are saved and will not run again."""
    with JobStore(str(request.output / JOB_DATABASE)) as store:
        counts = [store.counts(system_job_id(model.name)) for model in plan.models]
    return sum(count.done + count.skipped for count in counts)


def _plan_systems(
    request: CompareRequest, metrics: Sequence[Metric], report: Callable[[str], None]
) -> PlannedComparison:
    specs = parse_systems(request.systems)
    if not specs:
        raise InputError("There is no system to compare with the unedited MT.", field="system")
    data = _read_set(request, specs, report)
    ready = read_ready_systems(data, specs)
    models = [spec for spec in specs if isinstance(spec, ModelSystemSpec)]
    if models:
        require_sources(data)
    names = [spec.name for spec in specs]
    opinions = request.opinions.read(data, names, ready.values())
    files = [*request.inputs.files(specs), *request.opinions.files]
    return PlannedComparison(data, names, ready, models, metrics, opinions, files)


def _plan_merge(request: CompareRequest, metrics: Sequence[Metric]) -> PlannedComparison:
    if len(request.runs) < 2:
        raise InputError("A merge needs at least two earlier comparisons.", field="runs")
    runs = [read_saved_comparison(folder) for folder in request.runs]
    data, systems = merge_saved_comparisons(runs)
    if not request.metrics:
        metrics = create_metrics(list(dict.fromkeys(name for run in runs for name in run.metrics)))
    ready = {system.name: system for system in systems}
    opinions = request.opinions.read(data, list(ready), systems)
    return PlannedComparison(data, list(ready), ready, (), metrics, opinions, request.opinions.files)


def _read_set(request: CompareRequest, specs: Sequence[SystemSpec], report: Callable[[str], None]) -> ComparisonSet:
    from eval.corpus.job_reader import MT_SYSTEM, read_jobs

    inputs = request.inputs
    rules = CorpusRules(request.source_language, request.target_language, request.allow_empty, report)
    if not request.jobs:
        if not (inputs.tables or inputs.mt.startswith("@")):
            raise InputError("There is no set: give a table, files of source and MT, or a job.", field="data")
        return read_comparison_set(inputs, specs, rules)
    if inputs.tables or inputs.source or inputs.mt:
        raise InputError("A job has its own source and MT; do not give a set or files as well.", field="job")
    with JobStore(load_settings().jobs_url) as store:
        corpus = read_jobs(store, request.jobs, references=inputs.references, rules=rules)
    return build_comparison_set(corpus, MT_SYSTEM)


def _run_model(
    store: JobStore, data: ComparisonSet, model: ModelSystemSpec, request: CompareRequest, progress: ComparisonProgress
) -> System:
    progress.fetch_model(model.settings)
    job = find_finished_job(store, model, request.recipe)
    if job is None:
        job = asyncio.run(_run_job(store, data, model, request, progress))
    else:
        progress.report(f"{model.name}: all {len(data.ids):,} paragraphs were done before.")
    return system_from_job(store, job, model)


async def _run_job(
    store: JobStore, data: ComparisonSet, model: ModelSystemSpec, request: CompareRequest, progress: ComparisonProgress
) -> Job:
    opened = open_book_engine(model.settings, concurrency=request.concurrency, report=progress.report)
    async with opened as engine:
        job = await begin_model_job(store, data, model, engine, request.recipe)
        counts = store.counts(job.id)
        done = counts.total - counts.waiting
        progress.report(f"{model.name}: {done:,} of {counts.total:,} paragraphs are done.")
        concurrency = book_concurrency(model.settings, request.concurrency)
        try:
            with progress.follow_job(store, job) as listen:
                job = await run_job(
                    store, job, engine, concurrency=concurrency, max_failures=request.max_failures, listen=listen
                )
        except EngineOutage as error:
            raise EngineOutage(f"{model.name}: {error} Run the comparison again to resume it.") from error
    if job.state is not JobState.DONE:
        raise InputError(f"The job of {model.name} was stopped by another process.", field="system")
    return store.update(job.id, state=JobState.DONE)
