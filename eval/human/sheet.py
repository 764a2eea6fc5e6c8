"""Rater sheets: the order of the items and which text of each is A.

A sheet is determined by the trial's seed and the rater's name, so that the offline page, the service and the import
agree on it.

- Each system is A as often as B, for each rater and each pair of systems.
- Raters listed in the trial are paired with mirrored sides. The sides of other raters are drawn by name.
- A repeat has swapped sides and comes after at least half of the other items.
- In the document condition the passages of a document are consecutive, with the same system as A in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from ape.errors import InputError
from ape.files.hashing import hash_text
from eval.human.trial import SheetItem, Trial, TrialItem, TrialPassage


@dataclass(frozen=True, slots=True)
class SheetUnit:
    """Items that are shown together: a single one, or those of a document for one pair of systems."""

    items: tuple[TrialItem, ...]

    @property
    def key(self) -> str:
        """The id of the first item."""
        return self.items[0].id

    @property
    def original(self) -> str:
        """The key of the unit that this one repeats; empty if it is not a repeat."""
        return self.items[0].repeats


def rater_sheet(trial: Trial, rater: str) -> tuple[SheetItem, ...]:
    """The items of a rater, in order."""
    if not rater.strip():
        raise InputError("A rater needs a name.", field="rater")
    passages = {passage.id: passage for passage in trial.passages}
    swapped = _sides(trial, rater)
    ordered = _ordered(_units(trial), _draw(trial, "order", rater))
    return tuple(SheetItem(item, passages[item.passage], swapped[unit.key]) for unit in ordered for item in unit.items)


def public_sheet(trial: Trial, rater: str) -> dict[str, Any]:
    """The sheet as JSON for the rater, without system names and anything that reveals repeats or attention items."""
    groups = {item.id: _group(trial, unit) for unit in _units(trial) for item in unit.items}
    languages = {passage.language for passage in trial.passages if passage.language}
    return {
        "trial": trial.id,
        "name": trial.name,
        "rater": rater,
        "bilingual": trial.bilingual,
        "ties": trial.ties,
        "marks": trial.marks,
        "source_language": languages.pop() if len(languages) == 1 else "und",
        "target_language": trial.target_language,
        "items": [_public_item(item, groups[item.item.id]) for item in rater_sheet(trial, rater)],
        **({"spans": trial.spans} if trial.spans else {}),
        **({"per_rater": min(trial.per_rater, len(trial.items))} if trial.per_rater else {}),
    }


def allocated_sheet(trial: Trial, rater: str, allocated: Sequence[str]) -> dict[str, Any]:
    """The public sheet with only these items, in this order."""
    sheet = public_sheet(trial, rater)
    items = {item["id"]: item for item in sheet["items"]}
    return sheet | {"items": [items[item] for item in allocated]}


def _public_item(sheet_item: SheetItem, group: str) -> dict[str, Any]:
    first, second = sheet_item.texts
    return {
        "id": sheet_item.item.id,
        "group": group,
        "book": sheet_item.passage.book,
        "language": sheet_item.passage.language,
        "sources": list(sheet_item.passage.sources),
        "a": list(first),
        "b": list(second),
    }


def _group(trial: Trial, unit: SheetUnit) -> str:
    # A repeat has its own group, since the page source would otherwise reveal it.
    return hash_text(f"{trial.id}|group|{unit.key}", length=10)


def _units(trial: Trial) -> list[SheetUnit]:
    """Units in the order of the trial. Attention items of a document form a run like any other."""
    documents: Mapping[str, TrialPassage] = {passage.id: passage for passage in trial.passages}
    found: dict[tuple[str, ...], list[TrialItem]] = {}
    for item in trial.items:
        together = trial.condition == "document"
        key = (documents[item.passage].document, *item.systems, item.kind) if together else (item.id,)
        found.setdefault(key, []).append(item)
    return [SheetUnit(tuple(items)) for items in found.values()]


def _sides(trial: Trial, rater: str) -> dict[str, bool]:
    """Whether the second system is A, for each unit.

    Sides alternate along a list shuffled within each pair of systems, so any stretch of it is balanced to within one:
    the whole, a pair, and the repeated units of a pair.
    """
    couple, mirrored = _couple(trial, rater)
    rng = _draw(trial, "sides", couple)
    units = _units(trial)
    repeated = {unit.original for unit in units if unit.original}
    originals = [unit for unit in units if not unit.original]
    rng.shuffle(originals)
    originals.sort(key=lambda unit: (unit.items[0].kind, unit.items[0].systems, unit.key in repeated))
    side = mirrored ^ (rng.random() < 0.5)
    sides = {unit.key: side ^ (place % 2 == 1) for place, unit in enumerate(originals)}
    return sides | {unit.key: not sides[unit.original] for unit in units if unit.original}


def _couple(trial: Trial, rater: str) -> tuple[str, bool]:
    """The pair of raters that this rater belongs to, and whether this one has the mirrored sides."""
    if rater in trial.raters:
        place = trial.raters.index(rater)
        return str(place // 2), place % 2 == 1
    return f"joined|{rater}", False


def _ordered(units: Sequence[SheetUnit], rng: Random) -> list[SheetUnit]:
    """Shuffle, with repeated units in the first half and repeats at least half of the rest behind their originals."""
    repeats = {unit.original: unit for unit in units if unit.original}
    again = [unit for unit in units if unit.key in repeats]
    once = [unit for unit in units if not unit.original and unit.key not in repeats]
    rng.shuffle(again)
    rng.shuffle(once)
    length = len(again) + len(once)
    early = set(rng.sample(range(max((length + 1) // 2, len(again))), len(again)))
    order = [again.pop() if place in early else once.pop() for place in range(length)]
    insertions = [
        (rng.randint(min(place + length // 2, length - 1), length - 1) + rng.random(), repeats[unit.key])
        for place, unit in enumerate(order)
        if unit.key in repeats
    ]
    placed = [(float(place), unit) for place, unit in enumerate(order)] + insertions
    return [unit for _, unit in sorted(placed, key=lambda one: one[0])]


def _draw(trial: Trial, what: str, who: str) -> Random:
    """Reproducible generator for a trial, purpose and rater."""
    return Random(f"{trial.seed}|{trial.id}|{what}|{who}")  # noqa: S311, no secret
