"""Notes on scores (annotation errors, unknown language), and word lists for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ape.cli.terminal import print_line

if TYPE_CHECKING:
    from eval.metrics.scoring import EvaluationResults

_SLIPS = 20  # told one by one; of the rest, how many


def print_notes(results: EvaluationResults) -> None:
    """Print notes on the texts to stderr."""
    _tell_language(results)
    _tell_slips(results)


def _tell_language(results: EvaluationResults) -> None:
    """A note if the language is unknown and a metric needs it."""
    from eval.statistics.counts import Unmeasured

    systems = (found for metric in results.counted.values() for found in metric.values())
    if results.corpus.target_language == "und" and any(isinstance(one, Unmeasured) for one in systems):
        print_line(
            "The language of the translations can't be told from so little text: say --target-language en."
        )


def _tell_slips(results: EvaluationResults) -> None:
    """Notes on malformed dropped-pronoun annotations, if they were counted."""
    from eval.corpus.pronoun_marks import find_mark_issues
    from eval.metrics.metric import reads_pronoun_marks
    from eval.statistics.counts import MetricCounts

    for metric in results.metrics:
        counted = results.counted[metric.name].values()
        if not reads_pronoun_marks(metric) or not any(isinstance(one, MetricCounts) for one in counted):
            continue
        slips = [
            f"Document {document.id!r}, segment {slip.line}, column {slip.column}: {slip.message}."
            for document in results.corpus.documents
            for slip in find_mark_issues(document.sources)
        ]
        for slip in slips[:_SLIPS]:
            print_line(slip)
        if len(slips) > _SLIPS:
            print_line(f"{len(slips) - _SLIPS:,} more marks of dropped pronouns are not as they should be.")


def word_lists(results: EvaluationResults) -> dict[str, Any]:
    """Word lists of metrics by system: inconsistent names and lost connectives."""
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.report.inconsistent_names import inconsistent_names
    from eval.report.lost_connectives import connective_tallies

    with use_annotation_cache(default_annotation_folder()):
        names = {
            system: [name.to_dict() for name in found]
            for metric in results.metrics
            for system, found in inconsistent_names(results, metric)
        }
        connectives = {
            system: {word: asdict(tally) for word, tally in found.items()}
            for metric in results.metrics
            for system, found in connective_tallies(results, metric)
        }
    return {
        name: found for name, found in (("inconsistent_names", names), ("connectives", connectives)) if found
    }
