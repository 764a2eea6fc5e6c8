"""Run `ape compare`: progress bars, printed sentences and the exit code."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial

from ape.cli.compare_output import print_comparison
from ape.cli.exit_codes import EXIT_INTERRUPTED, EXIT_NEEDS_ATTENTION
from ape.cli.job_progress import job_progress
from ape.cli.terminal import fetch_with_progress, metrics_progress, print_line
from ape.jobs.job import Job
from ape.jobs.run import open_book_engine
from ape.jobs.store import JobStore
from ape.jobs.worker import JobListener
from ape.settings import Settings
from eval.compare.comparison import SystemComparison, compare_systems
from eval.compare.comparison_folder import REPORT_FILE, write_comparison
from eval.compare.manifest import build_manifest
from eval.compare.opinions import UNCHECKED_VOTES_NOTE
from eval.compare.run import CompareRequest, PlannedComparison, count_finished_paragraphs, plan_comparison, run_models
from eval.compare.system import System


def run_comparison(request: CompareRequest, *, json_output: bool = False) -> int:
    """Run the comparison and return the exit code."""
    plan = plan_comparison(request, report=print_line)
    try:
        systems = run_models(plan, request, _TerminalProgress())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _print_how_to_resume(plan, request)
        return EXIT_INTERRUPTED
    try:
        compared, notes = _compare(plan, systems, request)
    except KeyboardInterrupt:
        print_line("Stopped. The judge's answers are saved; run the same command again to resume.")
        return EXIT_INTERRUPTED
    for note in notes:
        print_line(f"{note} Name it with --trial." if note == UNCHECKED_VOTES_NOTE else note)
    manifest = build_manifest(compared, command=["ape", *sys.argv[1:]], files=plan.files)
    write_comparison(request.output, compared, manifest)
    print_comparison(compared, json_output=json_output)
    print_line(f"The report is {request.output / REPORT_FILE}.")
    quarantined = any(system.decisions["quarantined"] for system in compared.systems)
    return EXIT_NEEDS_ATTENTION if quarantined else 0


class _TerminalProgress:
    """Progress of the models on stderr."""

    def report(self, line: str) -> None:
        print_line(line)

    def fetch_model(self, settings: Settings) -> None:
        fetch_with_progress(settings)

    def follow_job(self, store: JobStore, job: Job) -> AbstractContextManager[JobListener]:
        return job_progress(store, job)


def _compare(
    plan: PlannedComparison, systems: Sequence[System], request: CompareRequest
) -> tuple[SystemComparison, list[str]]:
    with metrics_progress(len(plan.metrics) * (len(systems) + 1)) as on_progress:
        compared = compare_systems(plan.data, systems, plan.metrics, tests=request.tests, on_progress=on_progress)
    open_judge = partial(open_book_engine, report=print_line)
    return asyncio.run(plan.opinions.add_to(compared, open_engine=open_judge))


def _print_how_to_resume(plan: PlannedComparison, request: CompareRequest) -> None:
    finished, total = count_finished_paragraphs(plan, request), len(plan.data.ids) * len(plan.models)
    print_line(
        f"Stopped. {finished:,} of {total:,} paragraphs are finished and saved. Resume with the same command:\n"
        f"  {shlex.join(['ape', *sys.argv[1:]])}"
    )
