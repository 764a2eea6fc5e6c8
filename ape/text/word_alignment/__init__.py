"""Word alignment: the protocol, and the statistical aligner that learns from the texts alone."""

from ape.text.word_alignment.eflomal import EflomalAligner
from ape.text.word_alignment.protocol import Bitext, WordAligner, WordLinks, WordSequence
from ape.text.word_alignment.symmetrization import grow_diag_final_and

__all__ = ["Bitext", "EflomalAligner", "WordAligner", "WordLinks", "WordSequence", "grow_diag_final_and"]
