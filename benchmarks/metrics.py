"""Metrics: BlonDe against a plain loop, resampling and TER against sacrebleu, and all discourse metrics twice.

The last runs `ape eval score --metric discourse` twice on 80 synthetic chapters of six systems. The second time,
annotations, word alignments and counts come from the cache, and the scores must be the same. It is measured in
processor time of the command and its child processes, which other load on the machine hardly affects.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import blonde, significance, ter
from benchmarks.claims import Claim
from benchmarks.synthetic_chapters import CHAPTERS, SENTENCES, SYSTEMS, write_chapters

_TABLE = "chapters.jsonl"
_APE = Path(sys.executable).parent / "ape"
_SCORE = (str(_APE), "eval", "score", _TABLE, "--metric", "discourse", "--json")


def missing() -> str | None:
    """Which packages are missing, as a sentence; None if none is."""
    lacking = [name for name in ("eflomal", "jieba", "sacrebleu", "textblob") if find_spec(name) is None]
    if lacking:
        return f"Metrics are not measured: they need {lacking[0]}. Type: pip install 'ape-books[eval]'"
    return None


def measure() -> list[Claim]:
    """Measure all claims about metrics."""
    return [*blonde.measure(), *significance.measure(), *ter.measure(), *measure_discourse()]


def measure_discourse(*, chapters: int = CHAPTERS, sentences: int = SENTENCES) -> list[Claim]:
    """Score twice in a temporary folder, and require that the second run only reads the cache."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_chapters(place / _TABLE, chapters=chapters, sentences=sentences)
        first, output = _score_command(place)
        cached = _cache_files(place)
        second, again = _score_command(place)
        if again != output:
            raise AssertionError("the second run has other scores than the first")
        if not cached or _cache_files(place) != cached:
            raise AssertionError("the second run was not from the cache")
    note = f"{first:.0f} s and {second:.0f} s, the same scores, nothing new in the cache"
    setting = f"discourse: {chapters} made-up chapters of {sentences} sentences, {len(SYSTEMS)} systems"
    return [Claim("all of discourse / again from the cache", (first / second,), 1.0, "at least", note, setting)]


def _score_command(folder: Path) -> tuple[float, str]:
    """Processor time and output of the command."""
    began = _seconds()
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(_SCORE, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return _seconds() - began, done.stdout


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cache_files(folder: Path) -> dict[str, int]:
    """Sizes of the files in the cache, without the temporary files of SQLite."""
    files = (path for path in (folder / "cache").rglob("*") if path.is_file())
    return {path.name: path.stat().st_size for path in files if not path.name.endswith(("-wal", "-shm"))}
