"""The annotator that a metric was given or that the language gets, or why it can't measure."""

from __future__ import annotations

from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.annotators.selection import NoAnnotatorError, annotator_for
from eval.statistics.counts import Unmeasured


def annotator_or_unmeasured(language: str, given: Annotator | None) -> Annotator | Unmeasured:
    """As told above."""
    if given is None and language == "und":
        return Unmeasured(
            "the language can't be told from so little text: say it, as in --target-language en"
        )
    try:
        return given or annotator_for(language)
    except NoAnnotatorError as error:
        return Unmeasured(str(error).rstrip("."))
