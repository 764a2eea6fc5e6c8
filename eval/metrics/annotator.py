"""Choice of the annotator of a metric."""

from __future__ import annotations

from eval.linguistics.annotators.protocol import Annotator
from eval.linguistics.annotators.selection import NoAnnotatorError, annotator_for
from eval.statistics.counts import Unmeasured


def annotator_or_unmeasured(language: str, given: Annotator | None) -> Annotator | Unmeasured:
    """The annotator given or the one for the language, or why there is none."""
    if given is None and language == "und":
        return Unmeasured("the target language could not be detected from so little text: name it")
    try:
        return given or annotator_for(language)
    except NoAnnotatorError as error:
        return Unmeasured(str(error).rstrip("."))
