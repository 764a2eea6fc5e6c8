"""Notes on scores (annotation errors, unknown language), and word lists for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ape.cli.terminal import print_line

if TYPE_CHECKING:
    from eval.metrics.scoring import EvaluationResults

_MAX_ISSUES = 20


def print_notes(results: EvaluationResults) -> None:
    """Print notes on the texts to stderr."""
    _print_unknown_language(results)
    _print_mark_issues(results)


def _print_unknown_language(results: EvaluationResults) -> None:
    """A note if the language is unknown and a metric needs it."""
    from eval.statistics.counts import Unmeasured

    systems = (found for metric in results.counted.values() for found in metric.values())
    if results.corpus.target_language == "und" and any(isinstance(counts, Unmeasured) for counts in systems):
        print_line("The text is too short to detect the language of the translations: use --target-language, e.g. en.")


def _print_mark_issues(results: EvaluationResults) -> None:
    """Notes on malformed dropped-pronoun annotations, if they were counted."""
    from eval.corpus.pronoun_marks import find_mark_issues
    from eval.metrics.metric import reads_pronoun_marks
    from eval.statistics.counts import MetricCounts

    for metric in results.metrics:
        counted = results.counted[metric.name].values()
        if not reads_pronoun_marks(metric) or not any(isinstance(counts, MetricCounts) for counts in counted):
            continue
        issues = [
            f"Document {document.id!r}, segment {issue.line}, column {issue.column}: {issue.message}."
            for document in results.corpus.documents
            for issue in find_mark_issues(document.sources)
        ]
        for issue in issues[:_MAX_ISSUES]:
            print_line(issue)
        if len(issues) > _MAX_ISSUES:
            print_line(f"{len(issues) - _MAX_ISSUES:,} more malformed marks of dropped pronouns.")


def word_lists(results: EvaluationResults) -> dict[str, Any]:
    """Word lists of metrics by system: inconsistent names and lost connectives."""
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.report.inconsistent_names import inconsistent_name_rows
    from eval.report.lost_connectives import connective_tallies

    with use_annotation_cache(default_annotation_folder()):
        names = {system: rows for metric in results.metrics for system, rows in inconsistent_name_rows(results, metric)}
        connectives = {
            system: {word: asdict(tally) for word, tally in found.items()}
            for metric in results.metrics
            for system, found in connective_tallies(results, metric)
        }
    return {name: found for name, found in (("inconsistent_names", names), ("connectives", connectives)) if found}
