"""Markers by what a test needs besides Python: a model, a browser, PostgreSQL, torch, Ray, processes of its own, vLLM.

A test gets its markers from the fixtures it uses, from its module (`pytestmark`, `SLOW_MODULES`) or from a decorator.
`make quick` runs the tests that need none of them. A test that starts a process, or a quick run that imports torch,
fails without the marker, so the quick tests stay quick.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Generator, Mapping
from functools import cache
from pathlib import Path

import pytest

MARKERS: Mapping[str, str] = {
    "model": "loads a real language model",
    "browser": "opens pages in chromium",
    "postgresql": "starts a PostgreSQL server",
    "torch": "imports torch",
    "ray": "starts Ray",
    "subprocess": "starts processes",
    "vllm": "needs a real vLLM",
    "slow": "takes more than two seconds, or is in a module that takes more than five",
}
FIXTURE_MARKERS: Mapping[str, str] = {
    "browser": "browser",
    "postgres": "postgresql",
    "run": "subprocess",
    "smollm2": "model",
}
# Modules that take five seconds or more in all, by `--durations`, and whose subject has quicker tests elsewhere:
# measurements, studies of published data, and tests of whole commands and of books in the service.
SLOW_MODULES = (
    "ape/batch/test_batch.py",
    "ape/books/test_aligner.py",
    "ape/books/test_hostile_packages.py",
    "ape/books/test_hostile_patterns.py",
    "ape/cli/finetune/test_gate_and_score.py",
    "ape/cli/test_compare.py",
    "ape/engines/test_embedded_adapters.py",
    "benchmarks/studies",
    "eval/linguistics/word_alignment/test_aligners.py",
    "eval/metrics/dip/test_shared_data.py",
    "eval/metrics/metamorphic",
    "eval/metrics/test_batched_ter.py",
    "eval/metrics/test_bertscore.py",
    "eval/metrics/test_human_correlation.py",
    "finetune/data/test_build.py",
    "finetune/export/test_gguf_lora.py",
    "finetune/training/test_edit_filter.py",
    "serve/middleware/test_connections.py",
    "serve/routes/test_batches.py",
    "serve/routes/test_books.py",
    "serve/routes/test_jobs.py",
    "serve/routes/test_names.py",
    "serve/routes/test_openapi.py",
    "serve/test_faults.py",
)
STARTS_PROCESSES = frozenset({"browser", "postgresql", "ray", "subprocess", "vllm"})
_MODULE_MARKERS = re.compile(r"^pytestmark = .*", re.MULTILINE)
# Started by `platform`, by matplotlib for its fonts, by the word aligner, and once to fetch the schemas of formats.
_QUICK_PROGRAMS = frozenset({"uname", "fc-list", "eflomal", "apt-get", "dpkg-deb", "dpkg"})
_SLOW_PATHS = tuple(Path(__file__).parent / name for name in SLOW_MODULES)
_processes: list[str] = []
_torch_importers: list[str] = []


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and Path(str(arguments[0])).name not in _QUICK_PROGRAMS:
        _processes.append(str(arguments[0]))
    elif event in ("os.fork", "os.posix_spawn"):
        _processes.append(event)
    elif event == "import" and arguments[0] == "torch":
        _torch_importers.append("torch")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and watch for processes and torch."""
    if missing := [path for path in _SLOW_PATHS if not path.exists()]:
        raise pytest.UsageError(f"SLOW_MODULES of tests/needs.py has {missing[0]}, which does not exist.")
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    sys.addaudithook(_audit)


@cache
def _is_slow(path: Path) -> bool:
    return any(path.is_relative_to(slow) for slow in _SLOW_PATHS)


def _markers_left_out(config: pytest.Config) -> frozenset[str]:
    """The markers of tests that this run leaves out, as `make quick` does."""
    found = re.fullmatch(r"not \(([\w ]+)\)", config.option.markexpr or "")
    return frozenset(found.group(1).split(" or ")) if found else frozenset()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import modules whose tests are all left out."""
    left_out = _markers_left_out(config)
    if not left_out or collection_path.suffix != ".py":
        return None
    if "slow" in left_out and _is_slow(collection_path):
        return True
    line = _MODULE_MARKERS.search(collection_path.read_text(encoding="utf-8"))
    return True if line and left_out.intersection(re.findall(r"mark\.(\w+)", line.group())) else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep torch out of the collection of a run without it, and what was imported out of garbage collections."""
    if "torch" in _markers_left_out(session.config) and "torch" in sys.modules:
        raise pytest.UsageError("A module without the marker `torch` imports torch when it is collected.")
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures and modules."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker("slow")
        for fixture in getattr(item, "fixturenames", ()):
            if marker := FIXTURE_MARKERS.get(fixture):
                item.add_marker(marker)
        if "postgresql" in getattr(getattr(item, "callspec", None), "params", {}).values():
            item.add_marker("postgresql")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that starts a process, or imports torch, without saying so."""
    _processes.clear()
    _torch_importers.clear()
    result = yield
    if _processes and not any(item.get_closest_marker(name) for name in STARTS_PROCESSES):
        pytest.fail(f"This test starts a process ({_processes[0]}): mark it with `subprocess`.", pytrace=False)
    if _torch_importers and "torch" in _markers_left_out(item.config):
        pytest.fail("This test imports torch: mark it with `torch`.", pytrace=False)
    return result
