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
