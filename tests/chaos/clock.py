"""A wall clock that jumps under a running process, by a preloaded library that gcc builds."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import time
from pathlib import Path

# From a step of a daylight saving time to that of a machine whose battery is empty.
_JUMPS = (-3 * 365 * 86_400, -86_400, -3_600, -5, 5, 3_600, 86_400, 3 * 365 * 86_400)


def has_compiler() -> bool:
    """Whether the library can be built here."""
    return shutil.which("gcc") is not None


class JumpingClock:
    """The shift of a clock in seconds, in a file that processes with `environment` read."""

    def __init__(self, folder: Path) -> None:
        library, self.file = folder / "clock.so", folder / "clock"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        self.file.write_bytes(struct.pack("q", 0))
        self.environment = {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self.file)}

    def shift(self, seconds: int) -> None:
        """Set the shift; all processes see it at once."""
        with self.file.open("r+b") as file:
            file.write(struct.pack("q", seconds))

    def jump_while_running(self, process: subprocess.Popen[bytes], *, chance: random.Random) -> int:
        """Jump to and fro until the process ends; return how often."""
        jumps = 0
        while process.poll() is None:
            self.shift(chance.choice(_JUMPS))
            jumps += 1
            time.sleep(chance.uniform(0.05, 0.5))
        return jumps
