"""Imports point one way: between the packages, and between the parts of each package."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What each package may import besides itself. `ape.cli` joins the parts and may import all of them.
ALLOWED: Mapping[str, frozenset[str]] = {
    "prompts": frozenset(),
    "ape": frozenset({"prompts"}),
    "finetune": frozenset({"ape", "prompts"}),
    "eval": frozenset({"ape", "prompts"}),
    "serve": frozenset({"ape", "prompts", "eval"}),  # the pages about evaluation
}
OURS = frozenset(ALLOWED) | {"tests", "benchmarks"}
Edge = tuple[str, str, str]


def modules_of(root: Path, package: str) -> Iterator[tuple[str, ast.Module]]:
    """Every module of a package by its dotted name, parsed."""
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__"), ast.parse(path.read_text(encoding="utf-8"))


def imported_by(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What a module imports, also inside functions and for type checkers, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide where they point"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def part_of(module: str) -> str:
    """The sub-package of a module, or the module itself where it lies at the root of its package."""
    return ".".join(module.split(".")[:2])


def package_violations(root: Path) -> list[str]:
    """Imports from one package into another that the direction forbids."""
    return [
        f"{module}:{line} imports {name}"
        for package, allowed in ALLOWED.items()
        for module, tree in modules_of(root, package)
        if part_of(module) != "ape.cli"
        for name, line in imported_by(tree)
        if (top := name.split(".")[0]) in OURS and top != package and top not in allowed
    ]


def two_way_parts(root: Path, package: str) -> list[str]:
    """Pairs of parts of a package that import each other, with one import of each direction."""
    known = {name for name, _ in modules_of(root, package)}
    edges: dict[tuple[str, str], str] = {}
    for module, tree in modules_of(root, package):
        for name, line in imported_by(tree):
            target = name if name in known else name.rpartition(".")[0]
            here, there = part_of(module), part_of(target)
            if target in known and here != there and package not in (here, there):
                edges.setdefault((here, there), f"{module}:{line}")
    parts = sorted({part for edge in edges for part in edge})
    return [
        f"{one} <-> {other}: {edges[one, other]}, {edges[other, one]}"
        for one, other in combinations(parts, 2)
        if (one, other) in edges and (other, one) in edges
    ]


def test_packages_import_in_one_direction() -> None:
    assert package_violations(ROOT) == []


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_no_two_parts_of_a_package_import_each_other(package: str) -> None:
    assert two_way_parts(ROOT, package) == []


def write_package(root: Path, files: Mapping[str, str]) -> None:
    for package in ALLOWED:
        (root / package).mkdir()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_an_import_against_the_direction_is_found(tmp_path: Path) -> None:
    write_package(tmp_path, {"ape/jobs/run.py": "def start():\n    from serve.app import create_app\n"})
    assert package_violations(tmp_path) == ["ape.jobs.run:2 imports serve.app.create_app"]


def test_the_command_line_may_import_everything(tmp_path: Path) -> None:
    write_package(tmp_path, {"ape/cli/serve.py": "from serve.run import run\n"})
    assert package_violations(tmp_path) == []


def test_two_parts_that_import_each_other_are_found(tmp_path: Path) -> None:
    write_package(
        tmp_path,
        {
            "ape/jobs/run.py": "from ape.reports.page import write\n",
            "ape/reports/page.py": "from ape.jobs.run import Job\n",
        },
    )
    assert two_way_parts(tmp_path, "ape") == ["ape.jobs <-> ape.reports: ape.jobs.run:1, ape.reports.page:1"]
