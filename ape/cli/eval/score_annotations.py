"""Annotations for the BlonDe metrics: `--annotation` and `--names`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ape.cli.terminal import print_line
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.corpus.corpus import Corpus
    from eval.metrics.metric import Metric


def add_annotation(
    metrics: list[Metric], corpus: Corpus, *, annotation: Path | None, names: Path | None
) -> list[Metric]:
    """Add annotations to the metrics; annotation errors are printed and ignored."""
    chosen = _with_wordings(metrics, corpus, annotation) if annotation else metrics
    return _with_names(chosen, corpus, names) if names else chosen


def _with_wordings(metrics: list[Metric], corpus: Corpus, path: Path) -> list[Metric]:
    from eval.metrics.blonde import BlondePlus
    from eval.metrics.blonde.bwb_reader import collect_wordings, read_error_lines

    if not any(isinstance(one, BlondePlus) for one in metrics):
        raise InputError("--annotation is for --metric blonde+, which is not asked for.", field="annotation")
    errors = read_error_lines(path, corpus, note=print_line)
    ambiguity, ellipsis = (collect_wordings(errors, kind) for kind in ("ambiguity", "ellipsis"))
    if not ambiguity and not ellipsis:
        raise InputError(
            f"{path.name} marks no ambiguity (1) and no ellipsis (3), with what should be there: blonde+ has nothing "
            "to measure.",
            field="annotation",
        )
    return [
        replace(one, ambiguity=ambiguity, ellipsis=ellipsis) if isinstance(one, BlondePlus) else one
        for one in metrics
    ]


def _with_names(metrics: list[Metric], corpus: Corpus, path: Path) -> list[Metric]:
    from eval.metrics.blonde import Blonde
    from eval.metrics.blonde.bwb_reader import read_names

    if not any(isinstance(one, Blonde) for one in metrics):
        raise InputError(
            "--names is for --metric blonde, dblonde and blonde+, and none is asked for.", field="names"
        )
    names = read_names(path, corpus, note=print_line)
    return [replace(one, names=names) if isinstance(one, Blonde) else one for one in metrics]
