"""Startup: `ape --help` imports no heavy modules.

Its time is compared with `python -c pass`, but without a bound: most of it is typer and rich, which print the help.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

from benchmarks.claims import Claim, measure_alternately, ratios_by_round

ROUNDS = 10
HEAVY_MODULES = frozenset(
    {"alembic", "fastapi", "lxml", "numpy", "openai", "pydantic", "sqlalchemy", "torch", "uvicorn", "xllamacpp"}
)
# Run the command as its script does, and print the imported modules to stderr.
HELP_CODE = """
import atexit, sys
from ape.cli.main import main
atexit.register(lambda: print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr))
sys.argv = ["ape", "--help"]
main()
"""


def measure() -> list[Claim]:
    """Time both commands alternately."""
    measured = measure_alternately(
        lambda: time_python(["-c", HELP_CODE]), lambda: time_python(["-c", "pass"]), rounds=ROUNDS
    )
    found = modules_imported_by_help() & HEAVY_MODULES
    quick, plain = (median(side) for side in zip(*measured, strict=True))
    note = f"{quick:.2f} s against {plain:.2f} s; ratio {median(ratios_by_round(measured)):.1f}"
    return [Claim("heavy modules that `ape --help` imports", (len(found),), 0, "at most", note)]


def time_python(arguments: Sequence[str]) -> float:
    """Seconds of a Python process, from start to end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def modules_imported_by_help() -> set[str]:
    """The top-level modules that `ape --help` imports."""
    done = subprocess.run([sys.executable, "-c", HELP_CODE], check=True, capture_output=True, text=True)
    return set(done.stderr.split())
