"""LTCR: is a word that the source repeats translated alike in the whole document?"""

from eval.ltcr.chains import Annotated, Chain, read_annotated, repeated
from eval.ltcr.inconsistent import Inconsistency, Shown
from eval.ltcr.metric import Ltcr

__all__ = ["Annotated", "Chain", "Inconsistency", "Ltcr", "Shown", "read_annotated", "repeated"]
