"""Align raw books by PAR3's method: divide a human translation by source paragraphs, through the MT."""

from finetune.data.alignment.book_alignment import AlignedParagraph, AlignmentProgress, align_book, detect_book_language
from finetune.data.alignment.encoder import MiniLmEncoder, SentenceEncoder

__all__ = [
    "AlignedParagraph",
    "AlignmentProgress",
    "MiniLmEncoder",
    "SentenceEncoder",
    "align_book",
    "detect_book_language",
]
