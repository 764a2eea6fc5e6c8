"""Choose the default model by what the machine has: memory to run it, and disk to keep it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as remember
from pathlib import Path

from ape.models.catalogue import DEFAULT_MODEL, LARGE_MODEL, TUNED_FOLDER, TUNED_MODEL, find_model
from ape.models.store import is_cached

NEEDED_MEMORY = 3_000_000_000
_MEMORY_FILE = Path("/proc/meminfo")
_CONTROL_GROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class DefaultChoice:
    """The default model, and a sentence on what is lost if it is the small one."""

    model: str
    notice: str | None = None


def choose_default(
    *, cache: Path, memory: int | None = None, tuned: Path = TUNED_FOLDER, may_download: bool = False
) -> DefaultChoice:
    """The large model where memory and disk allow it, else the small one. `memory` defaults to what is available.

    Unless `may_download`, the large model is chosen only if it is cached: nobody fetches 1.1 GB by editing a sentence.
    """
    large = find_model(LARGE_MODEL)
    memory = available_memory() if memory is None else memory
    if memory < NEEDED_MEMORY:
        return _small(f"it needs {_gigabytes(NEEDED_MEMORY)} of memory, and {_gigabytes(memory)} are available", tuned)
    needed = (large.size or 0) + 2 * 55_000_000
    if is_cached(large, cache=cache):
        return DefaultChoice(LARGE_MODEL)
    if not may_download:
        return _small("it is not downloaded yet (1.1 GB)", tuned)
    if (free := _free_disk(cache)) < needed:
        return _small(f"it needs {_gigabytes(needed)} of disk in {cache}, and {_gigabytes(free)} are free", tuned)
    return DefaultChoice(LARGE_MODEL)


def _small(reason: str, tuned: Path) -> DefaultChoice:
    name = TUNED_MODEL if tuned.is_dir() else DEFAULT_MODEL
    return DefaultChoice(
        name,
        f"{LARGE_MODEL} is not used here: {reason}. The small model {name} leaves most faults of a translation"
        f" as they are. Set `model` to {LARGE_MODEL} to use it all the same.",
    )


@remember
def available_memory() -> int:
    """The bytes of memory that a new process can use, measured once.

    A loaded model must not change the answer: all parts of a process choose the same model.
    """
    return min(_memory_limits(), default=NEEDED_MEMORY)


def _memory_limits() -> Iterator[int]:
    yield from read_meminfo(_MEMORY_FILE)
    with suppress(OSError, ValueError):  # "max": no limit
        limit = int((_CONTROL_GROUP / "memory.max").read_text())
        yield max(0, limit - int((_CONTROL_GROUP / "memory.current").read_text()))
    if not _MEMORY_FILE.exists():
        with suppress(OSError, ValueError, AttributeError):
            yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def read_meminfo(path: Path) -> Iterator[int]:
    """The available bytes in a file like /proc/meminfo."""
    with suppress(OSError):
        if found := re.search(r"^MemAvailable:\s+(\d+) kB", path.read_text(), re.MULTILINE):
            yield int(found[1]) * 1024


def _free_disk(folder: Path) -> int:
    """The free bytes where the folder is or will be."""
    place = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(place).free


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
