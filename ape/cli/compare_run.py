"""What `ape compare` does: read, begin or go on, ask the models one after the other, compare, and write the folder."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ape.cli.book_edit import NEEDS_YOU, STOPPED, lanes_of, opened_engine, with_progress
from ape.cli.compare_show import show_compared
from ape.cli.talk import error_console, fetch_with_progress, passages_progress, say
from ape.errors import InputError
from ape.jobs.job import Job, JobState, Recipe
from ape.jobs.store import Store
from ape.jobs.work import EngineFails
from ape.settings import load_settings
from eval.compare.asked import Asked, Model, parse_systems
from eval.compare.compared import Compared, Tests, compare
from eval.compare.data import Data, data_of
from eval.compare.earlier import joined, read_run
from eval.compare.folder import REPORT, WORK, begin_folder, write_run
from eval.compare.manifest import manifest_of
from eval.compare.opinion import Heard, Opinions
from eval.compare.reading import Given, read_set, ready_systems
from eval.compare.system import System
from eval.compare.work import begin, finished, job_id, require_sources, system_of
from eval.metric import Metric
from eval.metrics import STANDARD, metrics_named
from eval.reading import Rules

# What is measured where nobody says.
METRICS = (*STANDARD, "discourse")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A comparison, as it was typed."""

    output: Path
    given: Given
    wishes: Recipe
    tests: Tests
    opinions: Opinions
    systems: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    jobs: tuple[str, ...] = ()
    source_language: str = ""
    target_language: str = ""
    allow_empty: bool = False
    metrics: tuple[str, ...] = ()
    lanes: int | None = None
    failures: int = 3
    replace: bool = False

    @property
    def rules(self) -> Rules:
        """How the set is read."""
        return Rules(self.source_language, self.target_language, self.allow_empty, say)


def compare_all(wanted: Wanted, *, json_output: bool = False) -> int:
    """Compare, and give the exit code."""
    metrics = metrics_named(list(wanted.metrics or METRICS))
    if wanted.runs:
        return _compare_runs(wanted, metrics, json_output=json_output)
    asked = parse_systems(wanted.systems)
    if not asked:
        raise InputError(
            "Name at least one system to compare with doing nothing: --system NAME=MODEL.", field="system"
        )
    data = _read(wanted, asked)
    ready = ready_systems(data, asked)
    models = [one for one in asked if isinstance(one, Model)]
    if models:
        require_sources(data)
    names = [one.name for one in asked]
    heard = wanted.opinions.read(data, names, ready.values())
    begin_folder(wanted.output, data, names, replace=wanted.replace)
    made = _all_made(data, models, wanted)
    if made is None:
        return STOPPED
    systems = [(ready | made)[one.name] for one in asked]
    files = wanted.given.files(asked)
    return _finish(wanted, data, systems, metrics, heard=heard, files=files, json_output=json_output)


def _compare_runs(wanted: Wanted, metrics: list[Metric], *, json_output: bool) -> int:
    if len(wanted.runs) < 2:
        raise InputError("Name two earlier runs at least: ape compare RUN1 RUN2 -o RUN.", field="runs")
    runs = [read_run(folder) for folder in wanted.runs]
    data, systems = joined(runs)
    if not wanted.metrics:
        metrics = metrics_named(list(dict.fromkeys(name for run in runs for name in run.metrics)))
    names = [one.name for one in systems]
    heard = wanted.opinions.read(data, names, systems)
    begin_folder(wanted.output, data, names, replace=wanted.replace)
    return _finish(wanted, data, systems, metrics, heard=heard, files=[], json_output=json_output)


def _read(wanted: Wanted, asked: Sequence[Asked]) -> Data:
    from eval.reading.jobs import MT, read_jobs

    if not wanted.jobs:
        if not (wanted.given.tables or wanted.given.mt.startswith("@")):
            raise InputError(
                "Name the set: --data FILE, or --source FILE --mt @FILE, or --job ID.", field="data"
            )
        return read_set(wanted.given, asked, wanted.rules)
    if wanted.given.tables or wanted.given.source or wanted.given.mt:
        raise InputError("--job has its own source and MT: leave --data, --source and --mt out.", field="job")
    with Store(load_settings().jobs_url) as store:
        corpus = read_jobs(store, wanted.jobs, references=wanted.given.references, rules=wanted.rules)
    return data_of(corpus, MT)


def _all_made(data: Data, models: Sequence[Model], wanted: Wanted) -> dict[str, System] | None:
    """What all models make of the set, one after the other; None where somebody stops it."""
    if not models:
        return {}
    with Store(str(wanted.output / WORK)) as store:
        try:
            return {one.name: _made(store, data, one, wanted) for one in models}
        except (KeyboardInterrupt, asyncio.CancelledError):
            _tell_how_to_go_on(store, models, len(data.ids))
            return None


def _made(store: Store, data: Data, model: Model, wanted: Wanted) -> System:
    """What the model makes of the set: as it was left, and what is missing asked for."""
    fetch_with_progress(model.settings)
    job = finished(store, model, wanted.wishes)
    if job is None:
        job = asyncio.run(_work(store, data, model, wanted))
    else:
        say(f"{model.name}: all {len(data.ids):,} paragraphs were done before.")
    return system_of(store, job, model)


async def _work(store: Store, data: Data, model: Model, wanted: Wanted) -> Job:
    async with opened_engine(model.settings, lanes=wanted.lanes) as engine:
        job = await begin(store, data, model, engine, wanted.wishes)
        counts = store.counts(job.id)
        say(f"{model.name}: {counts.total - counts.waiting:,} of {counts.total:,} paragraphs are done.")
        lanes = lanes_of(model.settings, wanted.lanes)
        try:
            state = await with_progress(store, job, engine, lanes=lanes, failures=wanted.failures)
        except EngineFails as error:
            raise EngineFails(f"{model.name}: {error} Type the same command again when it works.") from error
    if state is not JobState.DONE:
        raise InputError(f"The job of {model.name} was stopped by somebody else.", field="system")
    return store.update(job.id, state=JobState.DONE)


def _finish(
    wanted: Wanted,
    data: Data,
    systems: Sequence[System],
    metrics: Sequence[Metric],
    *,
    heard: Heard,
    files: Sequence[Path],
    json_output: bool,
) -> int:
    compared = _compared(data, systems, metrics, wanted.tests)
    try:
        compared = heard.added(compared, open_engine=opened_engine, tell=say)
    except KeyboardInterrupt:
        say("Stopped. What the judge has said is kept, and the same command goes on.")
        return STOPPED
    files = [*files, *wanted.opinions.files]
    manifest = manifest_of(compared, command=["ape", *sys.argv[1:]], files=files)
    write_run(wanted.output, compared, manifest)
    show_compared(compared, json_output=json_output)
    say(f"The report is {wanted.output / REPORT}.")
    return NEEDS_YOU if any(one.decisions["quarantined"] for one in compared.systems) else 0


def _compared(data: Data, systems: Sequence[System], metrics: Sequence[Metric], tests: Tests) -> Compared:
    """With a bar on a terminal."""
    with passages_progress(error_console()) as bar:
        task = bar.add_task("counting", total=len(metrics) * (len(systems) + 1), so_far="")

        def told(metric: str, system: str) -> None:
            bar.update(task, description=f"{metric} of {system}")
            bar.advance(task)

        return compare(data, systems, metrics, tests=tests, told=told)


def _tell_how_to_go_on(store: Store, models: Sequence[Model], paragraphs: int) -> None:
    done = sum(_done(store, model) for model in models)
    say(
        f"Stopped. {done:,} of {paragraphs * len(models):,} paragraphs are finished and saved. The same command goes "
        f"on:\n  {shlex.join(['ape', *sys.argv[1:]])}"
    )


def _done(store: Store, model: Model) -> int:
    counts = store.counts(job_id(model.name))
    return counts.done + counts.skipped
