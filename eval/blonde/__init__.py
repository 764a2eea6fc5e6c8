"""BlonDe: how well a translation keeps the tenses, pronouns, names, discourse markers and n-grams of a reference."""

from eval.blonde.annotated import Name, Names, Wordings
from eval.blonde.folding import Weights
from eval.blonde.metric import Blonde, BlondePlus, DiscourseBlonde

__all__ = ["Blonde", "BlondePlus", "DiscourseBlonde", "Name", "Names", "Weights", "Wordings"]
