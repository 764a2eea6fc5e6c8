"""The gate: which edits of a draft a model was sure enough of; the others are undone, one by one."""

from ape.gate.evidence import FEATURES, Evidence, weigh_edits
from ape.gate.gate import ALTERNATIVES, Gate, Sifted, without_loops

__all__ = ["ALTERNATIVES", "FEATURES", "Evidence", "Gate", "Sifted", "weigh_edits", "without_loops"]
