"""Raw books aligned by PAR3's method: a human translation is cut by the paragraphs of the source, by way of its MT."""

from finetune.data.alignment.book_alignment import (
    AlignedParagraph,
    AlignmentProgress,
    align_book,
    detect_book_language,
)
from finetune.data.alignment.encoder import MiniLmEncoder, SentenceEncoder

__all__ = [
    "AlignedParagraph",
    "AlignmentProgress",
    "MiniLmEncoder",
    "SentenceEncoder",
    "align_book",
    "detect_book_language",
]
