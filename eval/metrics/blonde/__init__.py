"""BlonDe: recall and precision of tenses, pronouns, names, discourse markers and n-grams against references."""

from eval.metrics.blonde.folds import BlondeWeights
from eval.metrics.blonde.human_annotation import AnnotatedName, AnnotatedNames, AnnotatedWordings
from eval.metrics.blonde.metric import Blonde, BlondePlus, DiscourseBlonde

__all__ = [
    "AnnotatedName",
    "AnnotatedNames",
    "AnnotatedWordings",
    "Blonde",
    "BlondePlus",
    "BlondeWeights",
    "DiscourseBlonde",
]
