"""A campaign file of Pearmut: one task for each rater, with the texts in the order of the rater's sheet.

Pearmut hides the names of the systems from raters. Its own shuffling is off, so the order of display is known.
"""

from __future__ import annotations

from typing import Any

from eval.human.sheet import rater_sheet
from eval.human.span import MQM_CATEGORIES, SEVERITIES, join_paragraphs
from eval.human.trial import SheetItem, Trial


def build_campaign(trial: Trial) -> dict[str, Any]:
    """The campaign of a trial with spans, for `pearmut add`."""
    info: dict[str, Any] = {"assignment": "task-based", "protocol": (trial.spans or "esa").upper(), "shuffle": False}
    if trial.spans == "mqm":
        info["mqm_categories"] = {"": [], **{kind: list(names) for kind, names in MQM_CATEGORIES.items()}}
        info["mqm_severities"] = [name.capitalize() for name in SEVERITIES["mqm"]]
    return {
        "info": info | {"users": list(trial.raters)},
        "campaign_id": trial.id,
        "data": [[[pearmut_item(trial, rater, item)] for item in rater_sheet(trial, rater)] for rater in trial.raters],
    }


def pearmut_item(trial: Trial, rater: str, shown: SheetItem) -> dict[str, Any]:
    """One item as Pearmut's campaigns and annotations have it; it keeps the keys that are ours."""
    first, second = map(join_paragraphs, shown.texts)
    source = {"src": join_paragraphs(shown.passage.sources)} if trial.bilingual else {}
    targets = {shown.first: first, shown.second: second}
    return {"item_id": shown.item.id, **source, "tgt": targets, "trial": trial.id, "rater": rater}
