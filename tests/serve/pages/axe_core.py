"""axe-core, which audits a page for people with screen readers and keyboards. Used by tests only, never shipped.

It is fetched once, with `npm pack`, into the user's cache; where that can't be done, the tests that need it are skipped
and say why.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from ape.files.hashing import hash_file
from tests.ape.reports.browser import Tab

VERSION = "4.10.3"
_SHA256 = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
_MEMBER = "package/axe.min.js"
# The rules of WCAG 2.2 AA, and what is good practice beyond them.
_RUN = """axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations.map(
  ({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.slice(0, 5).map((one) => one.html) })))"""


def find_axe() -> str:
    """The script; the test is skipped where it can't be had."""
    kept = Path(platformdirs.user_cache_dir("ape-tests")) / "npm" / f"axe-core-{VERSION}.js"
    if not kept.exists() and (why := _fetch(kept)):
        pytest.skip(f"axe-core {VERSION} can't be fetched: {why}")
    assert hash_file(kept) == _SHA256, f"{kept} is not axe-core {VERSION}; delete it to fetch it again"
    return kept.read_text(encoding="utf-8")


@cache
def _fetch(kept: Path) -> str:
    """Fetch the package once; return the reason of a failure, or ""."""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm here"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        command = [npm, "pack", f"axe-core@{VERSION}", "--silent"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "it takes too long"
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            return done.stderr.decode()[:200].strip() or "npm pack failed"
        with tarfile.open(packed) as archive:
            archive.extract(_MEMBER, folder, filter="data")
        (Path(folder) / _MEMBER).rename(kept)
    return ""


def serious_findings(tab: Tab, axe: str) -> list[dict[str, Any]]:
    """What the audit calls serious or critical on the page as it is shown."""
    tab.run(f"{axe}; 1")
    found: list[dict[str, Any]] = tab.run(_RUN)
    return [one for one in found if one["impact"] in ("serious", "critical")]
