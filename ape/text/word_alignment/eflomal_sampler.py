"""Run eflomal's program with a seed.

It has no seed option: it reads eight bytes from /dev/urandom for each direction. So a patched copy that reads them from
a given file is run. The same seed then gives the same links with the same build and one thread, as threads share one
generator. The directions are two processes with their own seeds. A build that does not name /dev/urandom exactly once
runs unpatched, and `accepts_seed` reports it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

from ape.errors import InputError, ModelError

_SYSTEM = b"\0/dev/urandom\0"
# As long as the original, so that no offset in the program changes.
_OURS = b"\0./seed.bytes\0"
_DIRECTIONS = {"forward": "-f", "backward": "-r"}
NULL_PRIOR = 0.2


@dataclass(frozen=True, slots=True)
class EflomalSampler:
    """The options of the program, as in eflomal's Python code, plus the seed."""

    samplers: int
    iterations: float
    """Factor of eflomal's default number of iterations, which falls with the size of the text."""
    seed: int
    program: Path

    def links(self, sources: Sequence[str], targets: Sequence[str]) -> list[list[str]]:
        """For each direction, one line of links for each sentence, as "0-0 1-2"."""
        import eflomal

        with TemporaryDirectory() as folder:
            here = Path(folder)
            with (here / "sources").open("wb") as ours, (here / "targets").open("wb") as theirs:
                eflomal.Aligner().prepare_files(sources, ours, targets, theirs, None, None)
            program = self._program(here)
            flags = self._flags(here, len(sources))
            with ThreadPoolExecutor(len(_DIRECTIONS)) as both:
                return list(both.map(lambda way: self._run(here / way, [program, *flags]), _DIRECTIONS))

    def _program(self, folder: Path) -> str:
        if not accepts_seed(self.program):
            return str(self.program)
        copy = folder / "eflomal"
        copy.write_bytes(self.program.read_bytes().replace(_SYSTEM, _OURS))
        copy.chmod(0o700)
        return str(copy)

    def _flags(self, folder: Path, sentences: int) -> list[str]:
        first, second, third = iteration_counts(sentences, self.iterations)
        return [
            *("-m", "3", "-s", str(folder / "sources"), "-t", str(folder / "targets")),
            *("-n", str(self.samplers), "-N", str(NULL_PRIOR), "-q"),
            *("-1", str(first), "-2", str(second), "-3", str(third)),
        ]

    def _run(self, folder: Path, command: Sequence[str]) -> list[str]:
        folder.mkdir()
        (folder / "seed.bytes").write_bytes(shake_256(f"{self.seed}/{folder.name}".encode()).digest(1 << 10))
        try:
            subprocess.run(  # noqa: S603  # the installed program
                [*command, _DIRECTIONS[folder.name], "links"],
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                check=True,
                capture_output=True,
                text=True,
            )
        except OSError as error:
            raise ModelError(
                f"eflomal can't be run: {error}. If programs may not be run in the folder of temporary files, "
                "set TMPDIR to another folder."
            ) from error
        except subprocess.CalledProcessError as error:
            raise ModelError(f"eflomal failed ({error.returncode}): {error.stderr.strip()}") from error
        return (folder / "links").read_text(encoding="ascii").removesuffix("\n").split("\n")


def iteration_counts(sentences: int, times: float) -> tuple[int, int, int]:
    """The iterations of its three models, as in its Python code."""
    last = max(2, round(times * 5000 / sqrt(sentences)))
    quarter = max(1, last // 4)
    return max(2, quarter), quarter, last


def find_eflomal() -> Path:
    """The program of the installed package."""
    found = find_spec("eflomal")
    if found is None or found.origin is None:
        raise InputError("Words are aligned by eflomal, which is not installed. Type: pip install 'ape-books[eval]'")
    return Path(found.origin).parent / "bin" / "eflomal"


@lru_cache(maxsize=8)
def accepts_seed(program: Path) -> bool:
    """Whether this build can be seeded."""
    try:
        return program.read_bytes().count(_SYSTEM) == 1
    except OSError:
        return False
