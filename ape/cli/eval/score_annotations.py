"""Annotations for the BlonDe metrics: `--annotation` and `--entities`."""

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

    if not any(isinstance(metric, BlondePlus) for metric in metrics):
        raise InputError("--annotation is for --metric blonde+, which is not selected.", field="annotation")
    errors = read_error_lines(path, corpus, note=print_line)
    ambiguity, ellipsis = (collect_wordings(errors, kind) for kind in ("ambiguity", "ellipsis"))
    if not ambiguity and not ellipsis:
        raise InputError(
            f"{path.name} marks no ambiguity (1) and no ellipsis (3) with a correction: blonde+ has nothing to "
            "measure.",
            field="annotation",
        )
    return [
        replace(metric, ambiguity=ambiguity, ellipsis=ellipsis) if isinstance(metric, BlondePlus) else metric
        for metric in metrics
    ]


def _with_names(metrics: list[Metric], corpus: Corpus, path: Path) -> list[Metric]:
    from eval.metrics.blonde import Blonde
    from eval.metrics.blonde.bwb_reader import read_names

    if not any(isinstance(metric, Blonde) for metric in metrics):
        raise InputError("--entities is for --metric blonde, dblonde and blonde+, and none is selected.", field="names")
    names = read_names(path, corpus, note=print_line)
    return [replace(metric, names=names) if isinstance(metric, Blonde) else metric for metric in metrics]
