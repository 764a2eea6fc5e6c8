"""Word alignment: one protocol, aligners that learn from the texts or know many languages, and their error rate."""

from eval.word_alignment.aligner import Bitext, Links, WordAligner, Words
from eval.word_alignment.awesome import AwesomeAlign
from eval.word_alignment.cache import Cached, default_folder
from eval.word_alignment.eflomal import Eflomal
from eval.word_alignment.error_rate import Gold, alignment_error_rate, read_bitext, read_links
from eval.word_alignment.symmetrise import grow_diag_final_and

__all__ = [
    "AwesomeAlign",
    "Bitext",
    "Cached",
    "Eflomal",
    "Gold",
    "Links",
    "WordAligner",
    "Words",
    "alignment_error_rate",
    "default_folder",
    "grow_diag_final_and",
    "read_bitext",
    "read_links",
]
