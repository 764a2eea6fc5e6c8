"""How many threads the embedded engine uses: as many as there are cores that no other process needs.

llama.cpp's threads wait for each other after every operation, so one that shares its core delays all: beside another
busy process two threads on two cores were several times slower than one. On a quiet machine one thread of two halves
the speed.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

# How long other processes are observed before the engine starts, and how often the choice is reviewed afterwards.
START_SECONDS = 0.3
REVIEW_SECONDS = 60.0
# Other processes' use of a core from which it counts as theirs. A core is taken back at the lower share and given up at
# the higher one, so that a load between the two changes nothing.
_TAKEN = 0.5
_GIVEN_UP = 0.75
_TAKEN_BACK = 0.25
_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
_STAT = Path("/proc/stat")


@dataclass(frozen=True, slots=True)
class ProcessorTimes:
    """Processor seconds used until a moment: by all processes on our cores, and by this one."""

    moment: float
    all_processes: float
    this_process: float

    def cores_used_by_others(self, later: ProcessorTimes) -> float:
        """The average number of cores that other processes used between two moments."""
        elapsed = later.moment - self.moment
        if elapsed <= 0:
            return 0.0
        others = (later.all_processes - self.all_processes) - (later.this_process - self.this_process)
        return max(0.0, others / elapsed)


def available_cores(quota: Path = _CPU_MAX) -> int:
    """The cores that this process may use, by its affinity and the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    try:
        allowed, period = quota.read_text(encoding="ascii").split()
        return max(1, min(cores, int(allowed) // int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no container, or one without a quota ("max")
        return cores


def read_processor_times(stat: Path = _STAT) -> ProcessorTimes | None:
    """The processor times until now; None where the system does not tell them as Linux does."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    ticks = 0
    try:
        for line in stat.read_text(encoding="ascii").splitlines():
            name, *fields = line.split()
            if name in ours:
                user, nice, system, _idle, _iowait, *interrupts = map(int, fields[:8])
                ticks += user + nice + system + sum(interrupts)
    except (OSError, ValueError):
        return None
    return ProcessorTimes(time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), time.process_time())


def choose_threads(cores: int, others: float | None) -> int:
    """The threads to start with beside processes that use `others` cores; one fewer than the cores if unknown."""
    return _cores_left(cores, 1.0 if others is None else others, share=_TAKEN)


def review_threads(current: int, cores: int, others: float) -> int:
    """The threads to go on with; a load between the borders of two choices keeps the current one."""
    fewest = _cores_left(cores, others, share=_TAKEN_BACK)
    most = _cores_left(cores, others, share=_GIVEN_UP)
    return min(max(current, fewest), most)


def _cores_left(cores: int, others: float, *, share: float) -> int:
    """The cores that are left, at least one, if `share` of a core counts as a whole one."""
    return max(1, cores - int(others + 1 - share))
