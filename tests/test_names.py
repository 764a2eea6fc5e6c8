"""Public class names are unique across the product, and modules are named in the words of the field."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("ape", "eval", "finetune", "prompts", "serve")
# Names that had to be learned before the code could be read.
METAPHORS = frozenset(
    "around aside asked ballot chances clash desk door errand exchange foreman gate gating hand house kept line "
    "lookout minder newcomer places roster seat shelf shown siding standing telling to_the_end told tongues wanted "
    "whoever".split()
)


def class_places(root: Path) -> dict[str, list[str]]:
    """Where each public top-level class is defined, by name."""
    places: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(path.relative_to(root)))
    return places


def repeated_classes(root: Path) -> Mapping[str, list[str]]:
    """Public class names that stand for several classes."""
    return {name: places for name, places in class_places(root).items() if len(places) > 1}


def test_a_public_class_name_stands_for_one_class() -> None:
    assert repeated_classes(ROOT) == {}


def test_a_repeated_class_name_is_found(tmp_path: Path) -> None:
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "row.py").write_text("class _Row: ...\n", encoding="utf-8")
    (tmp_path / "ape" / "job.py").write_text("class Row: ...\n", encoding="utf-8")
    (tmp_path / "eval" / "corpus.py").write_text("class Row: ...\n", encoding="utf-8")
    assert repeated_classes(tmp_path) == {"Row": ["ape/job.py", "eval/corpus.py"]}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_named_by_a_metaphor(package: str) -> None:
    # `ape finetune gate` is a command that users type; its module is called after what it does.
    names = {path.stem for path in (ROOT / package).rglob("*.py")}
    assert names & METAPHORS == set()


def defined_names(tree: ast.Module) -> set[str]:
    """The names of classes, functions and fields that a module defines."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
            names |= {target.id for target in fields if isinstance(target, ast.Name)}
    return {name.strip("_").lower() for name in names}


def test_no_class_function_or_field_is_named_by_a_metaphor() -> None:
    # These words have a literal meaning too: the line of a file, the places of a word, what is kept and what is shown.
    # `gate` is what an adapter card and a command that users type call the filter of edits.
    metaphors = METAPHORS - {"line", "places", "kept", "shown", "gate"}
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    found = {str(path): defined_names(ast.parse(path.read_text(encoding="utf-8"))) & metaphors for path in paths}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_field_that_is_named_by_a_metaphor_is_found() -> None:
    assert defined_names(ast.parse("class Job:\n    told: str\n    def _siding(self): ...")) >= {"told", "siding"}
