"""What is told beside the scores: slips, or a language that nobody knows, on stderr; and lists of words, in JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ape.cli.talk import say

if TYPE_CHECKING:
    from eval.scoring import Results

_SLIPS = 20  # told one by one; of the rest, how many


def tell_notes(results: Results) -> None:
    """What a user should know of texts that were measured nevertheless."""
    _tell_language(results)
    _tell_slips(results)


def _tell_language(results: Results) -> None:
    """That nobody knows it, where a metric may have needed to."""
    from eval.metric import Unmeasured

    systems = (found for metric in results.counted.values() for found in metric.values())
    if results.corpus.target_language == "und" and any(isinstance(one, Unmeasured) for one in systems):
        say("The language of the translations can't be told from so little text: say --target-language en.")


def _tell_slips(results: Results) -> None:
    """Marks of dropped pronouns that are not as they should be, where these were counted."""
    from eval.metric import Counted
    from eval.zero_pronouns import ZeroPronouns, slips_in

    for metric in results.metrics:
        counted = results.counted[metric.name].values()
        if not isinstance(metric, ZeroPronouns) or not any(isinstance(one, Counted) for one in counted):
            continue
        slips = [
            f"Document {document.id!r}, segment {slip.line}, column {slip.column}: {slip.what}."
            for document in results.corpus.documents
            for slip in slips_in(document.sources)
        ]
        for slip in slips[:_SLIPS]:
            say(slip)
        if len(slips) > _SLIPS:
            say(f"{len(slips) - _SLIPS:,} more marks of dropped pronouns are not as they should be.")


def word_lists(results: Results) -> dict[str, Any]:
    """What metrics list of words, by system: names rendered in several ways, and connectives kept, changed and lost."""
    from eval.annotate import caching, default_folder
    from eval.ltcr.worst import inconsistent_names
    from eval.report.lost import tallies

    with caching(default_folder()):
        names = {
            system: [name.to_dict() for name in found]
            for metric in results.metrics
            for system, found in inconsistent_names(results, metric)
        }
        connectives = {
            system: {word: asdict(tally) for word, tally in found.items()}
            for metric in results.metrics
            for system, found in tallies(results, metric)
        }
    return {
        name: found for name, found in (("inconsistent_names", names), ("connectives", connectives)) if found
    }
