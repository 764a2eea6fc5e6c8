"""Manifest of a comparison: everything needed to reproduce it."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ape.files.hashing import hash_input, hash_text
from eval.compare.comparison import SystemComparison
from eval.compare.system import System

# Packages whose version may change a number or a text.
_PACKAGES = ("ape-books", "numpy", "scipy", "sacrebleu", "rapidfuzz", "spacy", "xllamacpp", "openai")


def build_manifest(compared: SystemComparison, *, command: Sequence[str], files: Sequence[Path]) -> dict[str, Any]:
    """Content of manifest.json. `files` are the inputs of the set and ready outputs."""
    corpus, signatures = compared.data.corpus, compared.results.signatures()
    return {
        "complete": True,
        "command": shlex.join(command),
        "arguments": list(command),
        "data": {
            "name": corpus.name,
            "caveats": list(corpus.caveats),
            "digest": compared.data.digest,
            "files": {str(path): f"sha256:{hash_input(path)}" for path in files},
            "mt": compared.data.mt,
            "documents": len(corpus.documents),
            "paragraphs": len(corpus),
            "source_language": corpus.source_language,
            "target_language": corpus.target_language,
        },
        "systems": [_system(system) for system in compared.systems],
        "metrics": {metric.name: signatures.get(metric.name) for metric in compared.results.metrics},
        "resampling": asdict(compared.results.resampling),
        "judge": _judge(compared.judged),
        "versions": _versions(),
    }


def _system(system: System) -> dict[str, Any]:
    texts = hash_text("\0".join(system.texts), errors="replace")
    return {"name": system.name, "kind": system.kind, **system.origin, "texts": f"sha256:{texts}"}


def _judge(judged: Mapping[str, Any] | None) -> dict[str, str] | None:
    return {key: judged[key] for key in ("given", "signature")} if judged else None


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
