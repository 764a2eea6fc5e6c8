"""DiP: lexical consistency, connectives, pronouns and coherence, and test sets mined where systems fail at them."""

from eval.dip.coherence import Coherence, load_scorer, train_scorer
from eval.dip.connectives import Connectives
from eval.dip.consistency import Consistency
from eval.dip.mined import PHENOMENA, Item, MinedSet, read_mined, write_mined
from eval.dip.mined_scores import outputs_of, score_mined
from eval.dip.mining import mine
from eval.dip.pronouns import Pronouns

__all__ = [
    "PHENOMENA",
    "Coherence",
    "Connectives",
    "Consistency",
    "Item",
    "MinedSet",
    "Pronouns",
    "load_scorer",
    "mine",
    "outputs_of",
    "read_mined",
    "score_mined",
    "train_scorer",
    "write_mined",
]
