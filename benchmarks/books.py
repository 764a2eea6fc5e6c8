"""Whole books: little time between answers, constant memory, and a quick second run.

Runs the command line on an EPUB and its MT, with a model server that answers after a fixed delay. Times are of the
whole command: start, pairing, every answer, writing, and reading back.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.claims import Claim
from benchmarks.delayed_server import run_delayed_server
from tests.ape.books.book_factory import make_epub
from tests.ape.books.sample_book import tale

WORDS = 100_000
# For a short run, to test the benchmark itself.
QUICK = 4_000
# Average number of words in a paragraph of the tale.
PARAGRAPH = 54
DELAY = 1.0
COMMAND_CODE = "from ape.cli.main import main; main()"
CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class CommandCost:
    """Time and memory of a command."""

    seconds: float
    peak_kilobytes: int


@dataclass(frozen=True, slots=True)
class BenchmarkBook:
    """A book and its MT, with the number of paragraphs and words."""

    source: Path
    mt: Path
    paragraphs: int
    words: int


def measure(words: int = WORDS) -> list[Claim]:
    """Measure all claims about books, in about six minutes."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        short, long = make_book(place, words), make_book(place, 10 * words)
        with run_delayed_server(DELAY) as url:
            cold = edit_book(short, place / "a.epub", url=url, store=place / "a.sqlite", concurrency=CONCURRENCY)
            again = edit_book(short, place / "a.epub", url=url, store=place / "a.sqlite", concurrency=CONCURRENCY)
        with run_delayed_server(0.0) as url:
            one = edit_book(short, place / "b.epub", url=url, store=place / "b.sqlite", concurrency=CONCURRENCY)
            ten = edit_book(long, place / "c.epub", url=url, store=place / "c.sqlite", concurrency=CONCURRENCY)
    ideal = short.paragraphs * DELAY / CONCURRENCY
    setting = (
        f"books: {short.paragraphs:,} paragraphs, {short.words:,} words; the long one {long.paragraphs:,} and "
        f"{long.words:,}; {CONCURRENCY} in flight, {DELAY:g} s an answer"
    )
    return [
        Claim(
            "the ideal of that delay and concurrency over the wall time of a book",
            (ideal / cold.seconds,),
            0.9,
            note=f"{ideal:.1f} s ideal, {cold.seconds:.1f} s",
            setting=setting,
        ),
        Claim(
            "peak memory of a million words over that of a hundred thousand",
            (ten.peak_kilobytes / one.peak_kilobytes,),
            1.3,
            "at most",
            note=f"{ten.peak_kilobytes / 1024:.0f} MB, {one.peak_kilobytes / 1024:.0f} MB; {ten.seconds:.0f} s, "
            f"{one.seconds:.0f} s",
            setting=setting,
        ),
        Claim(
            "a cold run over the same command when all is done",
            (cold.seconds / again.seconds,),
            50,
            note=f"{cold.seconds:.1f} s, {again.seconds:.2f} s",
            setting=setting,
        ),
    ]


def make_book(folder: Path, words: int) -> BenchmarkBook:
    """Write an EPUB of about `words` words, in chapters of 40 paragraphs, and its MT."""
    paragraphs = words // PARAGRAPH
    source, mt = folder / f"{words}.fr.epub", folder / f"{words}.en.epub"
    chapters = list(tale(paragraphs, sentences=(3, 7), chapter=40))
    make_epub(source, paragraphs=[[one.source for one in chapter] for chapter in chapters], language="fr")
    make_epub(mt, paragraphs=[[one.mt for one in chapter] for chapter in chapters], language="en")
    count = sum(len(one.mt.split()) for chapter in chapters for one in chapter)
    return BenchmarkBook(source, mt, sum(map(len, chapters)), count)


def edit_book(book: BenchmarkBook, output: Path, *, url: str, store: Path, concurrency: int) -> CommandCost:
    """Run `ape book edit` in its own process."""
    words = [
        "book",
        "edit",
        str(book.source),
        str(book.mt),
        "-o",
        str(output),
        "--url",
        url,
        "--concurrency",
        str(concurrency),
    ]
    languages = ["--source-language", "fr", "--target-language", "en"]
    command = [sys.executable, "-c", COMMAND_CODE, *words, *languages]
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=os.environ | {"APE_JOBS": str(store)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return CommandCost(time.perf_counter() - began, usage.ru_maxrss)
