"""The gate itself: a weight for each feature, and how likely an edit must be to help before it is let through."""

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

# Tokens beside the chosen one that a server is asked to tell of. OpenAI and vLLM allow 20.
LOGPROB_ALTERNATIVES = 10


@dataclass(frozen=True, slots=True)
class FilterOutcome:
    """A draft after the gate: the text with the edits that were let through, those, and the ones undone.

    `loops` are those of the MT that were still there then, each as it stands in the text now, and were cut by rule.
    """

    text: str
    kept: tuple[Edit, ...]
    undone: tuple[Edit, ...]
    loops: tuple[str, ...] = ()


class EditFilter(BaseModel):
    """How likely each edit is to help, by a logistic model; fitted on passages that the model was not trained on.

    `features` are mean, scale and weight of each; `fitted_on` says which passages those were. `cuts_loops`: what the MT
    says again and again, and the source does not, is said once even where the draft has left it, as small models copy
    long loops. It travels in the card of the adapter that it was fitted for.
    """

    model_config = ConfigDict(frozen=True)

    features: Mapping[str, tuple[float, float, float]]
    bias: float
    threshold: Annotated[float, Field(ge=0, le=1)]
    cuts_loops: bool = False
    fitted_on: str = ""

    @model_validator(mode="after")
    def _knows_its_features(self) -> EditFilter:
        unknown = set(self.features) - set(FILTER_FEATURES)
        if unknown:
            raise ValueError(f"the gate weighs {', '.join(sorted(unknown))}, which is not known here")
        return self

    def chance(self, evidence: EditEvidence) -> float:
        """How likely the edit is to help. One of which nothing is known is not let through, nor one that is barred.

        The latter by rule and not by weight. A metric of words is content when a word that it can't match goes, and
        the reader is not. Spaces are the typesetter's: models learn them from corpora that are cut into tokens.
        """
        if not evidence.values or evidence.barred:
            return 0.0
        known = dict(zip(FILTER_FEATURES, evidence.values, strict=True))
        score = self.bias + sum(
            weight * (known[name] - mean) / scale for name, (mean, scale, weight) in self.features.items()
        )
        return 1.0 / (1.0 + math.exp(-max(min(score, 50.0), -50.0)))

    def lets(self, evidence: EditEvidence) -> bool:
        """Whether the edit is let through: it is likely enough to help, or only takes rounds out of a loop.

        The latter by rule too. Loops are rare, so few are among the drafts that a gate is fitted on, and that saying
        it once is better needs no proof.
        """
        return evidence.unloops or self.chance(evidence) > self.threshold

    def sift(self, segment: Segment, draft: Draft) -> FilterOutcome:
        """Undo the edits of a draft that are not likely enough to help."""
        found = collect_edit_evidence(segment, draft.text, draft.chances)
        sure = {id(one) for one in found if self.lets(one)}
        kept = tuple(one.edit for one in found if id(one) in sure)
        undone = tuple(one.edit for one in found if id(one) not in sure)
        text = apply_edits(segment.mt.strip(), kept)
        loops = find_added_loops(text, segment.source) if self.cuts_loops else []
        if not loops:
            return FilterOutcome(text, kept, undone)
        said = tuple(" ".join(loop.words[: loop.period]) for loop in loops)
        return FilterOutcome(collapse_passage_loops(text, segment), kept, undone, said)


def collapse_passage_loops(text: str, segment: Segment) -> str:
    """A text of the passage, its MT or a draft, with each of its own loops said once."""
    joining = load_lexicon(segment.target_language).grammatical
    return collapse_loops(text, segment.source, joining=joining)
