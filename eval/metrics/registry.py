"""The metrics by name. A metric's module is imported when the metric is created."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from ape.errors import InputError
from eval.metrics.metric import Metric

METRICS: Mapping[str, str | tuple[str, Mapping[str, object]]] = {
    "bleu": "eval.metrics.sacrebleu:Bleu",
    # For scores of single segments, which may be shorter than four words.
    "sentence-bleu": ("eval.metrics.sacrebleu:Bleu", {"effective_order": True, "name": "sentence-bleu"}),
    "d-bleu": ("eval.metrics.sacrebleu:Bleu", {"whole_documents": True, "name": "d-bleu"}),
    "chrf": "eval.metrics.sacrebleu:Chrf",
    "chrf++": ("eval.metrics.sacrebleu:Chrf", {"word_order": 2, "name": "chrf++"}),
    "ter": "eval.metrics.sacrebleu:Ter",
    "meteor": "eval.metrics.meteor:Meteor",
    "bertscore": "eval.metrics.bertscore:BertScore",
    "comet": "eval.metrics.comet:Comet",
    "cometkiwi": (
        "eval.metrics.comet:Comet",
        {"checkpoint": "Unbabel/wmt22-cometkiwi-da", "with_references": False, "name": "cometkiwi"},
    ),
    "xcomet": ("eval.metrics.comet:Comet", {"checkpoint": "Unbabel/XCOMET-XL", "name": "xcomet"}),
    "metricx": "eval.metrics.metricx:MetricX",
    "doc-comet": ("eval.metrics.comet:Comet", {"context": 2, "name": "doc-comet"}),
    "bleurt": "eval.metrics.bleurt:Bleurt",
    "blonde": "eval.metrics.blonde:Blonde",
    "dblonde": "eval.metrics.blonde:DiscourseBlonde",
    "blonde+": "eval.metrics.blonde:BlondePlus",
    "ltcr": "eval.metrics.ltcr:Ltcr",
    "dip-consistency": "eval.metrics.dip:DipConsistency",
    "dip-connectives": "eval.metrics.dip:DipConnectives",
    # A match with the reference; the next one is DiP's own evaluation, a scorer trained on pairs.
    "dip-pronouns": "eval.metrics.dip:DipPronouns",
    "dip-pronoun-scorer": "eval.metrics.dip:DipPronounScorer",
    "dip-coherence": "eval.metrics.dip:DipCoherence",
    "entities": "eval.metrics.entities:EntityMatch",
    "name-consistency": "eval.metrics.name_consistency:NameConsistency",
    "gender-accuracy": "eval.metrics.gender_accuracy:GenderAccuracy",
    "coreference": "eval.metrics.coreference:CoreferenceMatch",
    "kp": "eval.metrics.centering:KpCoherence",
    "zero-pronouns": "eval.metrics.zero_pronouns:ZeroPronouns",
}
"""The class of each metric as "module:class", with the arguments of a variant."""

DEFAULT_METRICS = ("bleu", "chrf", "ter")
DISCOURSE_METRICS = (
    *("blonde", "dblonde", "ltcr", "dip-consistency", "dip-connectives", "dip-pronouns", "dip-coherence"),
    *("entities", "name-consistency", "gender-accuracy", "kp", "zero-pronouns"),
)
"""Metrics of discourse, selected together as "discourse"."""


def create_metric(name: str) -> Metric:
    """The metric of this name."""
    if name not in METRICS:
        raise InputError(
            f"There is no metric called {name!r}. There are: {', '.join(METRICS)}; and discourse for all metrics of "
            "discourse.",
            field="metric",
        )
    entry = METRICS[name]
    path, settings = (entry, {}) if isinstance(entry, str) else entry
    module, _, attribute = path.partition(":")
    metric_class: Any = getattr(import_module(module), attribute)
    metric: Metric = metric_class(**settings)
    return metric


def create_metrics(names: Iterable[str]) -> list[Metric]:
    """The metrics of these names, each once; "discourse" selects all of DISCOURSE_METRICS."""
    expanded = [one for name in names for one in (DISCOURSE_METRICS if name == "discourse" else (name,))]
    return [create_metric(name) for name in dict.fromkeys(expanded)]
