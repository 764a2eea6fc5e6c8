"""The edit filter: a logistic model that undoes the edits a tuned model was not sure of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ape.edits.diff import apply_edits
from ape.edits.filter_features import FILTER_FEATURES, EditEvidence, collect_edit_evidence
from ape.passage.edit import Edit, EditKind
from ape.passage.segment import Draft, Segment
from ape.text.english_verbs import verb_base
from ape.text.lexicon import load_lexicon
from ape.text.repetition import collapse_loops, find_added_loops
from ape.text.tokens import words

# Alternatives requested for each token. OpenAI and vLLM allow 20.
LOGPROB_ALTERNATIVES = 10
# Words between two edits that may be parts of one change.
_LONGEST_MOVE = 4


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
    loops. With `joins_neighbours`, edits next to each other, and edits that move a word, pass or fail together: half
    of a reordering is worse than none. Edits of `refused_kinds`, of which too few helped, are undone however sure the
    model was; with `restores_names`, a name that is closer to the source than the MT's is kept all the same. The
    filter is stored in the card of its adapter, or in the profile of its model.
    """

    model_config = ConfigDict(frozen=True)

    features: Mapping[str, tuple[float, float, float]]
    bias: float
    threshold: Annotated[float, Field(ge=0, le=1)]
    cuts_loops: bool = False
    joins_neighbours: bool = False
    restores_names: bool = False
    refused_kinds: tuple[EditKind, ...] = ()
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
        if not evidence.values or evidence.blocked or evidence.edit.kind in self.refused_kinds:
            return 0.0
        values = dict(zip(FILTER_FEATURES, evidence.values, strict=True))
        score = self.bias + sum(
            weight * (values[name] - mean) / scale for name, (mean, scale, weight) in self.features.items()
        )
        return 1.0 / (1.0 + math.exp(-max(min(score, 50.0), -50.0)))

    def accepts(self, evidence: EditEvidence) -> bool:
        """Whether the edit is kept: it is likely enough to help, only shortens a loop, or restores a name.

        Loops and restored names have rules of their own because they are too rare in the data that a filter is fitted
        on, and because the source decides them.
        """
        if evidence.cuts_loop or (self.restores_names and evidence.restores_name):
            return True
        return self.probability(evidence) > self.threshold

    def apply(self, segment: Segment, draft: Draft) -> FilterOutcome:
        """Undo the edits of a draft that are not accepted."""
        kept: list[Edit] = []
        undone: list[Edit] = []
        evidence = collect_edit_evidence(segment, draft.text, draft.logprobs)
        for group in group_edits(evidence, segment.mt.strip(), joins_neighbours=self.joins_neighbours):
            passes = all(map(self.accepts, group))
            (kept if passes else undone).extend(one.edit for one in group)
        text = apply_edits(segment.mt.strip(), kept)
        found = find_added_loops(text, segment.source) if self.cuts_loops else []
        loops = tuple(" ".join(loop.words[: loop.period]) for loop in found)
        if loops:
            text = collapse_passage_loops(text, segment)
        return FilterOutcome(text, tuple(kept), tuple(undone), loops)


def group_edits(edits: Sequence[EditEvidence], mt: str, *, joins_neighbours: bool) -> list[list[EditEvidence]]:
    """Edits that pass or fail together: each alone, or with those next to it and those that move its words.

    A blocked change of typography is no part of a larger change: a space before a full stop says nothing of the word.
    """
    groups: list[list[EditEvidence]] = []
    for evidence in edits:
        alone = not joins_neighbours or evidence.is_typography or (groups and groups[-1][-1].is_typography)
        if groups and not alone and _belong_together(groups[-1][-1].edit, evidence.edit, mt):
            groups[-1].append(evidence)
        else:
            groups.append([evidence])
    return groups


def _belong_together(one: Edit, next_one: Edit, mt: str) -> bool:
    """Whether two successive edits are parts of one change: only a space is between them, or one moves a word."""
    between = mt[one.mt_span[1] : next_one.mt_span[0]]
    if not between.strip():
        return True
    if len(between.split()) > _LONGEST_MOVE:
        return False
    return bool(
        _verb_bases(one.after) & _verb_bases(next_one.before) or _verb_bases(one.before) & _verb_bases(next_one.after)
    )


def _verb_bases(text: str) -> set[str]:
    return {verb_base(word) for word in words(text.lower()) if len(word) > 2}


def collapse_passage_loops(text: str, segment: Segment) -> str:
    """Cut each loop that the source lacks to one round, in the MT or a draft of the passage."""
    return collapse_loops(text, segment.source, joining=load_lexicon(segment.target_language).grammatical)
