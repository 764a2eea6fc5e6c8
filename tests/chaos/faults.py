"""Faults of every kind against books, jobs and the service; each returns what was tried and what went wrong."""

from __future__ import annotations

import asyncio
import io
import os
import random
import resource
import subprocess
import sys
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docx

from ape.books.formats import open_book
from ape.errors import InputError
from ape.jobs.job_files import JobFiles, job_id
from tests.ape.books.book_factory import make_epub
from tests.ape.books.test_hostile_patterns import MARKDOWN, OTHERS
from tests.ape.jobs.kill_study import Run, disturb, finished, make_pair, run_until_done, wait_while_running
from tests.ape.jobs.postgres import missing, running_postgres
from tests.chaos.clock import JumpingClock, has_compiler

Counts = Counter[str]
KILLED = "tests.ape.jobs.killed_process"
_ENCODINGS = (b"idna", b"hex", b"utf-16", b"utf-7", b"zlib", b"shift_jis", b"cp1252")
SAMPLES = {
    ".txt": b"Chapter 1\n\nHe came in and sat down.\n\nShe said nothing.\n",
    ".md": b"# One\n\nHe *came* in & sat [down](x).\n\n- a `b`\n",
    ".html": b'<html><head><meta charset="utf-8"></head><body><p>He <i>came</i> &amp; sat.</p></body></html>',
    ".xhtml": b'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><p>He.</p></html>',
    ".jsonl": b'{"source": "Il vint.", "mt": "He came."}\n{"source": "Non.", "mt": "No."}\n',
    ".tsv": b'source\tmt\nIl vint.\t"He ""came""."\nNon.\tNo.\n',
    ".tmx": b'<?xml version="1.0"?><tmx version="1.4"><header srclang="fr"/><body><tu><tuv xml:lang="fr"><seg>Oui'
    b'</seg></tuv><tuv xml:lang="en"><seg>Yes</seg></tuv></tu></body></tmx>',
    ".xlf": b'<?xml version="1.0" encoding="utf-8"?><xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" '
    b'srcLang="fr" trgLang="en"><file id="f"><unit id="u"><segment><source>Il <pc id="1">vint</pc>.</source>'
    b'<target>He <pc id="1">came</pc>.</target></segment></unit></file></xliff>',
}
_PACKED = (".epub", ".docx")
_PATTERNS: list[Callable[[int], str]] = [*MARKDOWN.values(), *(pattern for _, _, pattern in OTHERS.values())]


def kill_jobs(folder: Path, url: str, *, kills: int, paragraphs: int, seed: int) -> Counts:
    """Kill book jobs at random moments, and compare their outputs with one that was left alone.

    How many kills fit into a job depends on the machine: more jobs are begun until there were enough.
    """
    pair, chance, counts = make_pair(folder, paragraphs), random.Random(seed), Counts()
    flags = ("--url", url, "--concurrency", "3")
    whole = folder / "whole.epub"
    began = time.monotonic()
    run_until_done(Run(str(folder / "a.sqlite"), folder / "a.log", pair.command(whole, *flags)))
    seconds = time.monotonic() - began
    while counts["kills"] < kills:
        counts["killed_jobs"] += 1
        assert counts["killed_jobs"] <= 4 * kills, "the jobs end before they can be killed"
        output = folder / f"broken-{counts['killed_jobs']}.epub"
        run = Run(str(output.with_suffix(".sqlite")), output.with_suffix(".log"), pair.command(output, *flags))
        # Some kills at any moment from the start, which may take long, and the others while paragraphs are worked on.
        is_first = counts["kills"] < kills // 4
        counts += _kill_job(
            run,
            job_id(JobFiles(pair.source, pair.mt), output),
            kills=(kills // 4 or 1) if is_first else kills - counts["kills"],
            chance=chance,
            longest=seconds if is_first else 1.5,
            from_first_request=not is_first,
        )
        counts["bytes_lost"] += _differing_bytes(whole, output)
    counts["paragraphs_lost"] += paragraphs * counts["killed_jobs"] - counts.pop("paragraphs_done")
    counts["files_left"] = len(list(folder.glob(".ape-*")))
    return counts


def _kill_job(
    run: Run, job: str, *, kills: int, chance: random.Random, longest: float, from_first_request: bool
) -> Counts:
    killed = disturb(run, job, kills=kills, chance=chance, longest=longest, from_first_request=from_first_request)
    run_until_done(run)
    repeated = [mt for mt, count in Counter(run.requested()).items() if count > 1 + killed]
    return Counts(kills=killed, requests_repeated=len(repeated), paragraphs_done=len(finished(run.store, job)))


def _differing_bytes(one: Path, other: Path) -> int:
    first, second = one.read_bytes(), other.read_bytes()
    return sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))


def fill_disk(folder: Path, url: str) -> Counts:
    """Run a job whose output does not fit on the disk; after room was made, it goes on without another request."""
    pair = make_pair(folder, 20)
    output = folder / "out.epub"
    run = Run(str(folder / "jobs.sqlite"), folder / "log", pair.command(output, "--url", url, "--concurrency", "3"))
    run_until_done(run)
    output.unlink()
    asked = len(run.requested())
    full = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "_", sys.executable, "-m", KILLED, *run.arguments],
        env=os.environ | {"APE_JOBS": run.store, "APE_ASKED": str(run.log)},
        capture_output=True,
        check=False,
    )
    refused = full.returncode != 0 and not output.exists()
    run_until_done(run)
    return Counter(full_disks=1, full_disks_unnoticed=int(not refused), requests_repeated=len(run.requested()) - asked)


def restart_database(folder: Path, url: str) -> Counts:
    """Restart PostgreSQL under a working command."""
    if missing():
        return Counter()
    pair = make_pair(folder, 30)
    output = folder / "out.epub"
    with running_postgres() as server:
        run = Run(server.fresh("chaos"), folder / "log", pair.command(output, "--url", url, "--concurrency", "1"))
        job = job_id(JobFiles(pair.source, pair.mt), output)
        process = run.start()
        wait_while_running(lambda: len(run.requested()) > 5, process)
        server.stop()
        server.start()
        process.communicate()
        return Counter(
            database_restarts=1,
            commands_that_died=int(process.returncode != 0),
            paragraphs_lost=30 - len(finished(run.store, job)),
            requests_repeated=max(0, len(run.requested()) - 31),
        )


def jump_clock(folder: Path, url: str, *, seed: int, paragraphs: int = 30) -> Counts:
    """Edit a book with two processes while the wall clock jumps by seconds to years, and compare the output."""
    if not has_compiler():
        return Counter()
    pair, clock = make_pair(folder, paragraphs), JumpingClock(folder)
    whole, output = folder / "whole.epub", folder / "out.epub"
    flags = ("--url", url, "--concurrency", "2")
    run_until_done(Run(str(folder / "a.sqlite"), folder / "a.log", pair.command(whole, *flags)))
    run = Run(str(folder / "b.sqlite"), folder / "b.log", pair.command(output, *flags), clock.environment)
    job = job_id(JobFiles(pair.source, pair.mt), output)
    process = run.start()
    wait_while_running(lambda: len(run.requested()) > 0, process)
    helper = Run(run.store, run.log, ["book", "work", job, "--url", url], clock.environment).start()
    jumps = clock.jump_while_running(process, chance=random.Random(seed))
    helper.communicate()
    process.communicate()
    return Counter(
        clock_jumps=jumps,
        commands_that_died=(process.returncode != 0) + (helper.returncode != 0),
        bytes_lost=int(not output.exists() or whole.read_bytes() != output.read_bytes()),
        paragraphs_lost=paragraphs - len(finished(run.store, job)),
        requests_repeated=len(run.requested()) - len(set(run.requested())),
    )


def fuzz_readers(folder: Path, *, count: int, seed: int) -> Counts:
    """Read mutated books of all formats: each is read or refused, and nothing else."""
    chance, counts = random.Random(seed), Counts()
    make_epub(folder / "good.epub", paragraphs=[["One", "He <i>came</i> in."]], language="en")
    document = docx.Document()
    document.add_paragraph("He ").add_run("came").italic = True
    document.save(str(folder / "good.docx"))
    samples = SAMPLES | {suffix: (folder / f"good{suffix}").read_bytes() for suffix in _PACKED}
    for _ in range(count):
        suffix = chance.choice(list(samples))
        path = folder / f"bad{suffix}"
        path.write_bytes(mutate(samples[suffix], chance, packed=suffix in _PACKED))
        counts["bad_inputs"] += 1
        try:
            for _ in open_book(path).paragraphs():
                pass
        except InputError:
            counts["refused"] += 1
        except Exception:
            counts["unexpected_errors"] += 1
            traceback.print_exc()
            path.rename(folder / f"failure-{counts['unexpected_errors']}{suffix}")
    return counts


def mutate(data: bytes, chance: random.Random, *, packed: bool) -> bytes:
    """Delete, repeat, insert and re-encode parts of a file at random."""
    if packed and chance.random() < 0.8:
        return _mutate_entry(data, chance)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(changed) + 1)
        match chance.randrange(6):
            case 0:
                del changed[place : place + chance.randint(1, 30)]
            case 1:
                changed[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
            case 2:
                changed[place:place] = changed[: chance.randint(1, 40)] * chance.randint(1, 50)
            case 3:
                changed = bytearray(bytes(changed).replace(b"utf-8", chance.choice(_ENCODINGS)))
            case 4:
                other = chance.choice(["utf-16", "utf-8", "utf-32"])
                changed = bytearray(bytes(changed).decode("latin-1").encode(other))
                del changed[len(changed) - chance.randint(0, 3) :]
            case _:
                changed[place:place] = chance.choice(_PATTERNS)(chance.randint(10, 500)).encode()
    return bytes(changed) or b"\0"


def _mutate_entry(data: bytes, chance: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as changed:
        entries = archive.namelist()
        victim = chance.choice(entries)
        for name in entries:
            content = archive.read(name)
            changed.writestr(name, mutate(content, chance, packed=False) if name == victim else content)
    return out.getvalue()


async def stall_clients(address: tuple[str, int], *, stalled: int, honest: int) -> Counts:
    """Open connections that never send their request, and as many that do; the latter must be served."""
    counts = Counts()
    half = b"POST /v1/post-edit HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "
    writers = []
    for _ in range(stalled):
        _, writer = await asyncio.open_connection(*address)
        writer.write(half)
        writers.append(writer)

    async def ask() -> None:
        try:
            async with asyncio.timeout(60):
                reader, writer = await asyncio.open_connection(*address)
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                answer = await reader.read()
                writer.close()
        except (OSError, TimeoutError):
            answer = b""
        counts["honest_served"] += answer.startswith(b"HTTP/1.1 200")
        counts["5xx"] += answer.startswith(b"HTTP/1.1 5")

    await asyncio.gather(*(ask() for _ in range(honest)))
    for writer in writers:
        writer.close()
    counts["honest_refused"] = honest - counts["honest_served"]
    counts["stalled_clients"] = stalled
    return counts


@contextmanager
def many_files(count: int) -> Iterator[None]:
    """Allow this process more open files for the length of the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, count), hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
