"""The oracle: the best that any filter could make of the drafts, knowing the human text.

What a model was not reported to do better than doing nothing may be the fault of its drafts or of its filter. The edits
of a draft that help alone are kept, from the most helpful on, as long as the text gets closer to the human one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ape.edits.diff import apply_edits, find_edits
from ape.passage.edit import Edit
from finetune.data.example import Example
from finetune.scoring.drafts import DraftSet
from finetune.training.edit_filter import word_edit_distance


def best_selection(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The MT of each example with the edits of its draft that bring it closer to the human text."""
    return [_best(example, drafts.draft(example).text) for example in examples]


def _best(example: Example, draft: str) -> str:
    mt, kept = example.mt.strip(), list[Edit]()
    distance = word_edit_distance(mt, example.human)
    found = find_edits(mt, draft, language=example.target_language)
    alone = {edit: word_edit_distance(apply_edits(mt, [edit]), example.human) for edit in found}
    for edit in sorted((edit for edit in found if alone[edit] < distance), key=alone.__getitem__):
        wider = sorted([*kept, edit], key=lambda one: one.mt_span)
        if (closer := word_edit_distance(apply_edits(mt, wider), example.human)) < distance:
            kept, distance = wider, closer
    return apply_edits(mt, kept)
