"""Kill a book at work, again and again, and see that nothing is lost, repeated or other than it would have been.

    python -m tests.ape.jobs.killing --paragraphs 300 --kills 20

Each run is a process of its own: the command line as it is, on the embedded engine and its real model, but for one
thing: every question that goes to the model is written down first.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ape.jobs.files import Files, job_id
from ape.jobs.row import State
from ape.jobs.store import Store
from tests.ape.books.making import make_epub
from tests.ape.books.tale import tale


@dataclass(frozen=True, slots=True)
class Pair:
    """A book and its machine translation."""

    source: Path
    mt: Path

    def command(self, output: Path, *more: str) -> list[str]:
        """As a user types it."""
        languages = ["--source-language", "fr", "--target-language", "en"]
        return ["book", "edit", str(self.source), str(self.mt), "-o", str(output), *languages, *more]


def make_pair(folder: Path, paragraphs: int, *, sentences: tuple[int, int] = (1, 2)) -> Pair:
    """An EPUB of so many paragraphs, some with italics in them, and its MT."""
    chapters = list(tale(paragraphs, sentences=sentences))
    pair = Pair(folder / "livre.epub", folder / "book.epub")
    make_epub(pair.source, paragraphs=[[told.source for told in one] for one in chapters], language="fr")
    make_epub(pair.mt, paragraphs=[[told.mt for told in one] for one in chapters], language="en")
    return pair


@dataclass
class Run:
    """One process after the other on one job, and what each asked the model for."""

    store: str
    log: Path
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[bytes]:
        """Begin, or go on."""
        environment = os.environ | {"APE_JOBS": self.store, "APE_ASKED": str(self.log)} | self.environment
        command = [sys.executable, "-m", "tests.ape.jobs.killed", *self.arguments]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def asked(self) -> list[str]:
        """The MTs that the model was asked about, in order; a line cut short by a kill is not one."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines if line.endswith('"')]


def finished(store: str, job: str) -> dict[str, str]:
    """The MT of every paragraph that has a result, and the result."""
    with Store(store) as opened:
        return {row.planned.mt: row.text for row in opened.rows(job, state=State.DONE)}


def disturb(run: Run, job: str, *, kills: int, chance: random.Random, longest: float) -> int:
    """Kill it at random moments, and give how often that was at work.

    Raises where something finished was asked for again, lost or changed.
    """
    killed = 0
    done: dict[str, str] = {}
    while killed < kills:
        seen = len(run.asked())
        process = run.start()
        try:
            process.wait(chance.uniform(0.3, longest))
            break  # it came to its end before it was killed
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            killed += 1
        again = [one for one in run.asked()[seen:] if one in done]
        assert not again, f"asked for again though finished: {again[:3]}"
        now = finished(run.store, job) if Path(run.store).exists() else {}
        assert all(now.get(mt) == text for mt, text in done.items()), (
            "a finished paragraph was lost or changed"
        )
        done = now
        print(f"kill {killed}: {len(done)} finished", file=sys.stderr, flush=True)
    return killed


def to_the_end(run: Run, *, expect: Sequence[int] = (0,)) -> str:
    """Let it finish, and give what it printed."""
    process = run.start()
    out, err = process.communicate()
    assert process.returncode in expect, err.decode()
    return out.decode()


def main() -> None:
    """The whole show, as large as one likes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paragraphs", type=int, default=300)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, required=True)
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    pair = make_pair(wanted.folder, wanted.paragraphs)
    whole = Run(str(wanted.folder / "whole.sqlite"), wanted.folder / "whole.log", [])
    whole.arguments = pair.command(wanted.folder / "whole.epub")
    began = time.monotonic()
    print(to_the_end(whole), flush=True)
    seconds = time.monotonic() - began
    print(f"undisturbed: {seconds:.0f} s", flush=True)
    broken = Run(str(wanted.folder / "broken.sqlite"), wanted.folder / "broken.log", [])
    output = wanted.folder / "broken.epub"
    broken.arguments = pair.command(output)
    job = job_id(Files(pair.source, pair.mt), output)
    chance = random.Random(wanted.seed)
    killed = disturb(broken, job, kills=wanted.kills, chance=chance, longest=2 * seconds / wanted.kills)
    print(to_the_end(broken))
    same = output.read_bytes() == (wanted.folder / "whole.epub").read_bytes()
    results = finished(broken.store, job)
    print(f"killed {killed} times; {len(results)} results; output byte-identical: {same}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
