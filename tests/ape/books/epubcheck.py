"""Check an EPUB with epubcheck, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def epubcheck(path: Path) -> str:
    """What epubcheck says of the book; skips without it."""
    jar = Path("/usr/share/java/epubcheck.jar")
    if not jar.exists() or shutil.which("java") is None:
        pytest.skip("epubcheck is not installed (Debian: apt install epubcheck)")
    # Compiling less and collecting simply halves the time of so short a run.
    flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    done = subprocess.run(["java", *flags, "-jar", str(jar), str(path)], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
