"""Manifest of a training set: inputs, filter counts and outputs, without a time stamp."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

from ape.files.hashing import hash_input
from finetune.data.build import TrainingSet
from finetune.data.example import Example
from finetune.data.inputs import BuildInputs
from finetune.data.recipe import DataRecipe
from finetune.data.sentence_bleu import bleu_signature
from finetune.data.token_counter import TokenCounter

_LIBRARIES = ("ape-books", "datasets", "numpy", "py3langid", "sacrebleu", "sentence-transformers", "transformers")


def make_manifest(
    built: TrainingSet,
    *,
    inputs: BuildInputs,
    recipe: DataRecipe,
    counter: TokenCounter,
    licences: Sequence[str],
    alignment: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Make the manifest. Files have no folders, so that the same build elsewhere has the same manifest.

    `alignment` is the summary of aligned raw books.
    """
    targets = [one.target_language for examples in built.splits.values() for one in examples]
    return {
        "version": 1,
        "inputs": [{"file": path.name, "sha256": hash_input(path)} for path in inputs.files],
        "licences": list(licences),
        "settings": json.loads(recipe.model_dump_json(exclude={"books"})),
        "books": [_book(book.model_dump(mode="json", exclude_none=True)) for book in inputs.books],
        **({"alignment": alignment} if alignment else {}),
        "tokens": counter.describe(),
        "bleu": bleu_signature(targets),
        "read": built.read,
        "filters": [
            {
                "filter": step.name,
                "of": step.side,
                "came": step.came,
                "dropped": step.dropped,
                "left": step.left,
                "dropped_by_pair": step.dropped_by_pair,
            }
            for step in built.funnel.steps
        ],
        "splits": {side: _split(examples) for side, examples in built.splits.items() if examples},
        "remarks": list(built.remarks),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _book(book: dict[str, Any]) -> dict[str, Any]:
    return {
        **book,
        "source": _name(book["source"]),
        "mt": _name(book["mt"]),
        "humans": {name: _name(path) for name, path in book["humans"].items()},
    }


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _split(examples: Sequence[Example]) -> dict[str, Any]:
    pairs = Counter(example.pair for example in examples)
    return {
        "examples": len(examples),
        "kinds": dict(sorted(Counter(one.kind for one in examples).items())),
        "languages": dict(sorted(pairs.items())),
        "books": sorted({one.book for one in examples}),
        "sha256": hash_examples(examples),
    }


def hash_examples(examples: Sequence[Example]) -> str:
    """Hash of the examples' content, independent of storage."""
    digest = hashlib.sha256()
    for one in examples:
        digest.update(json.dumps(asdict(one), ensure_ascii=False, sort_keys=True).encode(errors="replace") + b"\n")
    return digest.hexdigest()


def _versions() -> Mapping[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
