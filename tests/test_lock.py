"""The lock file has hashes of the versions that the tests passed with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_LOCKED = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {name: version for name, version, _ in _LOCKED.findall(text)}
    assert len(locked) == text.count("=="), "an entry without a hash"
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert locked.items() <= {canonical(name): version for name, version in pinned.items()}.items()


def test_the_lock_has_every_dependency() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {canonical(re.split(r"[^A-Za-z0-9._-]", needed)[0]) for needed in project["dependencies"]}
    assert names <= {name for name, *_ in _LOCKED.findall(text)}
