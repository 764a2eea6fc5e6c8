"""Source text that is still in a book: whole paragraphs nobody translated, and clauses left in others."""

from __future__ import annotations

from ape.guards.language import language
from ape.guards.source_left_in import source_left_in
from ape.passage.result import Severity
from ape.passage.segment import Draft, Segment
from ape.text.inline_marks import strip_marks
from ape.text.tokens import words

MIN_WORDS = 4
SOFT_HYPHEN = "\u00ad"


def find_untranslated_text(source: str, text: str, *, source_language: str, target_language: str) -> str:
    """What of the source stands in the text that goes into the book, as a sentence; empty where nothing does.

    The guards compare a draft with its MT. Here nothing is excused for having been in the MT: it is the book that is
    looked at.
    """
    plain = strip_marks(text).replace(SOFT_HYPHEN, "")
    if len(words(plain)) < MIN_WORDS:
        return ""  # a name, a number, a cry: the same in many languages
    segment = Segment(strip_marks(source).replace(SOFT_HYPHEN, ""), "", source_language, target_language)
    draft = Draft(plain)
    for guard in (source_left_in, language):
        for finding in guard(segment, draft):
            if finding.severity is Severity.REJECT:
                return finding.message.replace("The draft", "The paragraph")
    return ""
