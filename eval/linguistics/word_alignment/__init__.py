"""Word alignment: a protocol, statistical and neural aligners, and their error rate."""

from ape.text.word_alignment.eflomal import EflomalAligner
from ape.text.word_alignment.protocol import Bitext, WordAligner, WordLinks, WordSequence
from ape.text.word_alignment.symmetrization import grow_diag_final_and
from eval.linguistics.word_alignment.awesome_align import AwesomeAligner
from eval.linguistics.word_alignment.cache import CachedAligner, default_alignment_folder
from eval.linguistics.word_alignment.error_rate import GoldLinks, alignment_error_rate, read_bitext, read_links

__all__ = [
    "AwesomeAligner",
    "Bitext",
    "CachedAligner",
    "EflomalAligner",
    "GoldLinks",
    "WordAligner",
    "WordLinks",
    "WordSequence",
    "alignment_error_rate",
    "default_alignment_folder",
    "grow_diag_final_and",
    "read_bitext",
    "read_links",
]
