"""DiP metrics: lexical consistency, connectives, pronouns and coherence."""

from eval.metrics.dip.coherence import DipCoherence, load_coherence_scorer, train_coherence_scorer
from eval.metrics.dip.connectives import DipConnectives
from eval.metrics.dip.consistency import DipConsistency
from eval.metrics.dip.pronoun_scorer import DipPronounScorer, load_pronoun_scorer, train_pronoun_scorer
from eval.metrics.dip.pronouns import DipPronouns

__all__ = [
    "DipCoherence",
    "DipConnectives",
    "DipConsistency",
    "DipPronounScorer",
    "DipPronouns",
    "load_coherence_scorer",
    "load_pronoun_scorer",
    "train_coherence_scorer",
    "train_pronoun_scorer",
]
