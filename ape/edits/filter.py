"""The edit filter: a logistic model that undoes the edits a tuned model was not sure of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ape.edits.diff import apply_edits
from ape.edits.filter_features import FILTER_FEATURES, EditEvidence, collect_edit_evidence
from ape.passage.edit import Edit
from ape.passage.segment import Draft, Segment
from ape.text.lexicon import load_lexicon
from ape.text.repetition import collapse_loops, find_added_loops

# Alternatives requested for each token. OpenAI and vLLM allow 20.
LOGPROB_ALTERNATIVES = 10


@dataclass(frozen=True, slots=True)
class FilterOutcome:
    """A draft after the filter: its text, the edits that were kept, and those that were undone.

    `loops` are the loops of the MT that the kept edits left in place and that were then cut by rule, one round each.
    """

    text: str
    kept: tuple[Edit, ...]
    undone: tuple[Edit, ...]
    loops: tuple[str, ...] = ()


class EditFilter(BaseModel):
    """Estimates how likely each edit is to help; fitted on passages that the model was not trained on.

    `features` holds mean, scale and weight of each feature, and `fitted_on` names the passages. With `cuts_loops`,
    a loop of the MT that the source lacks is cut to one round even if the draft left it, as small models copy long
    loops. The filter is stored in the card of its adapter.
    """

    model_config = ConfigDict(frozen=True)

    features: Mapping[str, tuple[float, float, float]]
    bias: float
    threshold: Annotated[float, Field(ge=0, le=1)]
    cuts_loops: bool = False
    fitted_on: str = ""

    @model_validator(mode="after")
    def _has_known_features(self) -> EditFilter:
        unknown = set(self.features) - set(FILTER_FEATURES)
        if unknown:
            raise ValueError(f"the edit filter uses {', '.join(sorted(unknown))}, which this version does not know")
        return self

    def probability(self, evidence: EditEvidence) -> float:
        """The probability that the edit helps; 0 for an edit without features and for a blocked one.

        Blocked edits are refused by rule and not by weight. A metric that counts words rewards the loss of a word
        it can't match; a reader does not. Spacing is the typesetter's: models learn it from tokenised corpora.
        """
        if not evidence.values or evidence.blocked:
            return 0.0
        values = dict(zip(FILTER_FEATURES, evidence.values, strict=True))
        score = self.bias + sum(
            weight * (values[name] - mean) / scale for name, (mean, scale, weight) in self.features.items()
        )
        return 1.0 / (1.0 + math.exp(-max(min(score, 50.0), -50.0)))

    def accepts(self, evidence: EditEvidence) -> bool:
        """Whether the edit is kept: it is likely enough to help, or it only shortens a loop.

        Loops have a rule of their own because they are too rare in the data that a filter is fitted on.
        """
        return evidence.cuts_loop or self.probability(evidence) > self.threshold

    def apply(self, segment: Segment, draft: Draft) -> FilterOutcome:
        """Undo the edits of a draft that are not accepted."""
        kept: list[Edit] = []
        undone: list[Edit] = []
        for evidence in collect_edit_evidence(segment, draft.text, draft.logprobs):
            (kept if self.accepts(evidence) else undone).append(evidence.edit)
        text = apply_edits(segment.mt.strip(), kept)
        found = find_added_loops(text, segment.source) if self.cuts_loops else []
        loops = tuple(" ".join(loop.words[: loop.period]) for loop in found)
        if loops:
            text = collapse_passage_loops(text, segment)
        return FilterOutcome(text, tuple(kept), tuple(undone), loops)


def collapse_passage_loops(text: str, segment: Segment) -> str:
    """Cut each loop that the source lacks to one round, in the MT or a draft of the passage."""
    return collapse_loops(text, segment.source, joining=load_lexicon(segment.target_language).grammatical)
