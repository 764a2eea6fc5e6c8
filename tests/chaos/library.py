"""A library on two raylets, killed at random: `python -m tests.chaos.library --books 200 --kills 10`.

Generated books are edited by two actors over scripted engines with a delay, while driver, actor, raylet and head are
killed with -9. Counts what was lost, and what was asked again although it was finished, and compares each book with
`ape book edit`. Then one book job asks one engine with as many requests under way, for the throughput.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ape.batch.assembly import planned_books
from ape.batch.folder import RECORDS, RESULTS, BatchFolder
from ape.batch.planning import read_plan
from ape.batch.records import StretchProgress
from ape.batch.rows import results_from_json
from benchmarks.delayed_server import run_delayed_server
from tests.ape.batch.library import LibraryBook, make_library, write_manifest
from tests.chaos.cluster import RayCluster

ACTORS = 2
VICTIMS = ("actor", "driver", "node", "head")
FAILURES = ("lost", "finished_asked_again", "different")


@dataclass
class LibraryRun:
    """A batch in progress, and what was finished at each kill."""

    folder: Path
    urls: Sequence[str]
    log: Path
    concurrency: int
    cluster: RayCluster | None = None
    finished: list[tuple[float, set[str]]] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        """A command of `ape batch` with the engines."""
        urls = [part for url in self.urls for part in ("--url", url)]
        return [sys.executable, "-m", "ape.cli.main", "batch", *arguments, *urls]

    def environment(self) -> dict[str, str]:
        """The environment of the commands."""
        own = self.cluster.environment if self.cluster else os.environ
        return {**own, "APE_JOBS": str(self.folder / "jobs.sqlite")}

    def start(self) -> subprocess.Popen[bytes]:
        """Start or resume the run."""
        assert self.cluster
        options = ["--address", self.cluster.address, "--actors", str(ACTORS), "--concurrency", str(self.concurrency)]
        command = self.command("run", str(self.folder / "batch"), *options)
        with (self.folder / "run.log").open("ab") as log:
            return subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log, start_new_session=True)

    def note_finished(self) -> int:
        """Note the MTs of the paragraphs that are kept by now, and return how many paragraphs these are."""
        folder, now = BatchFolder(str(self.folder / "batch")), time.time()
        plan = read_plan(folder)
        texts = _texts(folder, plan.stretch_folder)
        kept = set()
        for stretch in folder.ids(RECORDS):
            progress = StretchProgress.read(folder, f"{RECORDS}/{stretch}.json")
            kept |= {(stretch, name) for name in (progress.results if progress else ())}
        for name in folder.committed_results():
            rows = zip(
                folder.column(f"{RESULTS}/{name}", "id"), folder.column(f"{RESULTS}/{name}", "results"), strict=True
            )
            kept |= {(stretch, one.id) for stretch, results in rows for one in results_from_json(results)}
        self.finished.append((now, {texts[key] for key in kept if key in texts}))
        return len(kept)

    def asked(self) -> list[tuple[float, str]]:
        """The requests: when each came, and the MT in it."""
        if not self.log.exists():
            return []
        found = (json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines() if line.endswith("]"))
        return [(when, mt) for when, mt in found]

    def asked_again(self) -> int:
        """Requests for paragraphs that were finished at an earlier kill."""
        asked = self.asked()
        return sum(sum(after > when and mt in finished for after, mt in asked) for when, finished in self.finished)


def _texts(folder: BatchFolder, place: str) -> dict[tuple[str, str], str]:
    """The MT as the model sees it, by stretch and paragraph."""
    texts = dict[tuple[str, str], str]()
    for name in folder.names(place):
        ids, paragraphs = folder.column(f"{place}/{name}", "id"), folder.column(f"{place}/{name}", "paragraphs")
        for stretch, rows in zip(ids, paragraphs, strict=True):
            texts |= {(stretch, one["id"]): one["mt"].strip() for one in json.loads(rows)}
    return texts


def run_study(
    folder: Path,
    *,
    books: int,
    paragraphs: int,
    kills: int,
    delay: float,
    concurrency: int,
    seed: int,
    victims: Sequence[str],
) -> Counter[str]:
    """Edit the library under kills, and return the figures."""
    chance, counts = random.Random(seed), Counter[str]()
    library = make_library(folder, books, paragraphs=paragraphs)
    manifest = write_manifest(folder / "manifest.csv", library)
    with ExitStack() as stack:
        log = folder / "asked.jsonl"
        urls = [stack.enter_context(run_delayed_server(delay, log)) for _ in range(ACTORS)]
        run = LibraryRun(folder, urls, log, concurrency)
        subprocess.run(
            run.command("plan", str(manifest), "-o", str(folder / "batch")), env=run.environment(), check=True
        )
        plan = read_plan(BatchFolder(str(folder / "batch")))
        run.cluster = stack.enter_context(RayCluster())
        began = time.monotonic()
        done = _run_under_kills(run, plan.paragraphs, kills, chance, counts, victims)
        counts["seconds"] = round(time.monotonic() - began)
        counts["lost"] = plan.paragraphs - run.note_finished()
        counts["requests"] = len(run.asked())
        counts["paragraphs"] = plan.paragraphs
        counts["unfinished_asked_again"] = counts["requests"] - len({mt for _, mt in run.asked()})
        counts["finished_asked_again"] = run.asked_again()
        counts["exit"] = done
        # Putting the books together and comparing them takes long; these figures are not lost if it is stopped.
        print(_figures(counts), flush=True)
        subprocess.run(
            [sys.executable, "-m", "ape.cli.main", "batch", "assemble", str(folder / "batch")], env=run.environment()
        )
        counts["books"] = len(list(planned_books(BatchFolder(str(folder / "batch")), plan)))
        counts["different"] = _count_different(folder, library)
    return counts


def _run_under_kills(
    run: LibraryRun, total: int, kills: int, chance: random.Random, counts: Counter[str], victims: Sequence[str]
) -> int:
    """Run to the end, with kills spread over the work; returns the exit code of the last run."""
    assert run.cluster
    process = run.start()
    for number in range(kills):
        wanted = total * (number + chance.uniform(0.3, 0.9)) / kills
        while len({mt for _, mt in run.asked()}) < wanted:
            if process.poll() is not None:
                counts["runs_that_stopped"] += 1
                process = run.start()
            time.sleep(1)
        victim = victims[number % len(victims)]
        _kill(run, process, victim, chance)
        run.note_finished()
        counts[f"killed_{victim}"] += 1
        print(f"{time.strftime('%H:%M:%S')} killed {victim} after {len(run.finished[-1][1]):,} paragraphs", flush=True)
        if victim == "node":
            time.sleep(5)
            run.cluster.start(victim)
    while process.wait() not in (0, 3):
        counts["runs_that_stopped"] += 1
        process = run.start()
    return process.returncode


def _kill(run: LibraryRun, process: subprocess.Popen[bytes], victim: str, chance: random.Random) -> None:
    assert run.cluster
    if victim == "driver":
        process.kill()
        process.wait(60)
    elif victim == "actor" and (actors := run.cluster.actors()):
        chance.choice(actors).kill()
    elif victim == "head":
        # The node can't live without the head: it is started again too.
        run.cluster.kill("node")
        run.cluster.kill("head")
        run.cluster.start("head")
        run.cluster.start("node")
        # Its driver may not notice, and is stopped as its user would.
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait(60)
    elif victim == "node":
        run.cluster.kill("node")


def _count_different(folder: Path, library: Sequence[LibraryBook]) -> int:
    """Books that are not those of `ape book edit`, byte by byte."""
    from ape.jobs.run import edit_book
    from ape.settings import load_settings

    different = 0
    with run_delayed_server(0.0) as url:
        settings = load_settings(url=url, concurrency=16, jobs=str(folder / "alone.sqlite"))
        for book in library:
            output = folder / f"alone-{book.output.name}"
            edit_book(book.source, book.mt, output, source_language="fr", target_language="en", settings=settings)
            different += not book.output.exists() or output.read_bytes() != book.output.read_bytes()
    return different


def _figures(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


def main() -> None:
    """Parse the arguments, run, and fail where something was lost, repeated or different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=int, default=200)
    parser.add_argument("--paragraphs", type=int, default=100)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=16, help="stretches under way in each of the two actors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, default=VICTIMS[:3])
    arguments = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        counts = run_study(Path(folder), **arguments)
    print(_figures(counts))
    failed = {name: counts[name] for name in FAILURES if counts[name]}
    print(f"Failed: {failed}" if failed else "Nothing was lost, asked again or different.")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
