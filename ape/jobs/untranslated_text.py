"""Source text that is still in a book: untranslated paragraphs, and clauses left in others."""

from __future__ import annotations

import regex

from ape.guards.language import language
from ape.guards.source_left_in import source_left_in
from ape.passage.result import Severity
from ape.passage.segment import Draft, Segment
from ape.text.inline_marks import strip_marks
from ape.text.tokens import words

MIN_WORDS = 4
SOFT_HYPHEN = "\u00ad"
# A name such as Thunder-ten-tronckh is one word, and the same in every language.
_COMPOUND_NAME = regex.compile(r"\b\p{Lu}[\p{L}\p{M}]*+(?:[-‐‑]\p{L}[\p{L}\p{M}]*+)+")


def find_untranslated_text(source: str, text: str, *, source_language: str, target_language: str) -> str:
    """Describe the source text that is left in a paragraph, as a sentence; empty if there is none.

    The guards compare a draft with its MT. Here nothing is excused for having been in the MT: it is the book that is
    looked at.
    """
    plain = _plain(text)
    if len(words(plain)) < MIN_WORDS:
        return ""  # a name, a number, a cry: the same in many languages
    segment = Segment(_plain(source), "", source_language, target_language)
    draft = Draft(plain)
    for guard in (source_left_in, language):
        for finding in guard(segment, draft):
            if finding.severity is Severity.REJECT:
                return finding.message.replace("The draft", "The paragraph")
    return ""


def _plain(text: str) -> str:
    """The text without marks and soft hyphens, with hyphenated names as one word."""
    bare = strip_marks(text).replace(SOFT_HYPHEN, "")
    return _COMPOUND_NAME.sub(lambda name: regex.sub("[-‐‑]", "", name[0]).capitalize(), bare)
