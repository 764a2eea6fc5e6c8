"""Many books on Ray: memory of the plan, and throughput against one engine alone: `python -m benchmarks.library`.

Not among the benchmarks of `make bench`: it takes about half an hour on a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.delayed_server import run_delayed_server
from tests.ape.batch.library import make_library, write_manifest

ACTORS = 2


def plan_megabytes(folder: Path, books: int, url: str) -> float:
    """The peak memory of planning that many short books, in a process of its own."""
    library = make_library(folder, books, paragraphs=6, formats=("txt",))
    manifest = write_manifest(folder / "manifest.csv", library)
    command = [sys.executable, "-m", "benchmarks.library", "--plan-only", str(manifest), url]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _plan_only(manifest: Path, url: str) -> float:
    from ape.settings import load_settings
    from tests.ape.batch.sink import plan

    asyncio.run(plan(manifest.parent / "batch", manifest, load_settings(url=url)))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def batch_rate(folder: Path, *, books: int, delay: float, concurrency: int) -> float:
    """Paragraphs a second of a batch with two actors, each with an engine, without the start of Ray."""
    library = make_library(folder, books, formats=("txt",))
    manifest = write_manifest(folder / "manifest.csv", library)
    log = folder / "asked.jsonl"
    # Ray's workers are nice by default, and the engine alone is not.
    environment = os.environ | {"RAY_raylet_start_wait_time_s": "600", "RAY_worker_niceness": "0"}
    with run_delayed_server(delay, log) as first, run_delayed_server(delay, log) as second:
        ape = [sys.executable, "-m", "ape.cli.main", "batch"]
        urls, place = ["--url", first, "--url", second], str(folder / "batch")
        subprocess.run([*ape, "plan", str(manifest), "-o", place, *urls], check=True, env=environment)
        work = ["--actors", str(ACTORS), "--concurrency", str(concurrency), "--cpus", "0.5"]
        subprocess.run([*ape, "run", place, *urls, *work], check=True, env=environment)
    return _rate(log, delay)


def alone_rate(folder: Path, *, paragraphs: int, delay: float, concurrency: int) -> float:
    """Paragraphs a second of one book job on one engine, with as much under way."""
    from ape.jobs.run import edit_book
    from ape.settings import load_settings

    (book,) = make_library(folder, 1, paragraphs=paragraphs, formats=("txt",))
    log = folder / "asked.jsonl"
    with run_delayed_server(delay, log) as url:
        settings = load_settings(url=url, concurrency=concurrency, jobs=str(folder / "jobs.sqlite"))
        edit_book(book.source, book.mt, book.output, source_language="fr", target_language="en", settings=settings)
    return _rate(log, delay)


def _rate(log: Path, delay: float) -> float:
    times = [float(json.loads(line)[0]) for line in log.read_text(encoding="utf-8").splitlines()]
    return len(times) / (max(times) - min(times) + delay)


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan-only", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--memory", type=int, nargs=2, default=(1_000, 10_000), help="books of the two plans")
    parser.add_argument("--books", type=int, default=200, help="books of the batch, of 100 paragraphs")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=16, help="stretches under way in each of the two actors")
    parser.add_argument("--only", choices=("memory", "throughput"))
    given = parser.parse_args()
    if given.plan_only:
        print(_plan_only(Path(given.plan_only[0]), given.plan_only[1]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if given.only != "throughput":
            with run_delayed_server(0.0) as url:
                few, many = (plan_megabytes(folder / f"plan-{count}", count, url) for count in given.memory)
            sizes = " and ".join(f"{count:,}" for count in given.memory)
            print(f"memory of the plan of {sizes} books: {few:.0f} and {many:.0f} MB: {many / few:.2f}", flush=True)
        if given.only != "memory":
            delay, each = given.delay, given.concurrency
            batch = batch_rate(folder / "batch", books=given.books, delay=delay, concurrency=each)
            alone = alone_rate(folder / "alone", paragraphs=100 * given.books, delay=delay, concurrency=ACTORS * each)
            most = ACTORS * each / delay
            print(f"paragraphs a second: batch {batch:.1f}, one engine alone {alone:.1f}: {batch / alone:.2f}")
            print(f"with so many under way at most {most:.1f}: batch {batch / most:.2f}, alone {alone / most:.2f}")


if __name__ == "__main__":
    main()
