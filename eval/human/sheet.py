"""The sheet of a rater: in which order the items come, and which text of each is A.

All of it follows from the trial's seed and the rater's name, so that a page, a served test and an import agree on it.

- Each text is A as often as B, for each rater and each pair of systems.
- Raters whom the trial knows come in twos: what one of them sees as A is B for the other. Whoever joins later has
  sides that are drawn by name.
- A repeat comes the other way round, after at least half of the other items.
- In the document condition passages of a document follow each other in order, and A is the same system in all of them.
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
    """Items that are shown together: one, or those of a document for one pair of systems."""

    items: tuple[TrialItem, ...]

    @property
    def key(self) -> str:
        """As good as a name of it."""
        return self.items[0].id

    @property
    def original(self) -> str:
        """The key of the unit that it repeats; empty for one that is no repeat."""
        return self.items[0].repeats


def rater_sheet(trial: Trial, rater: str) -> tuple[SheetItem, ...]:
    """What the rater is shown, in order."""
    if not rater.strip():
        raise InputError("A rater needs a name.", field="rater")
    passages = {passage.id: passage for passage in trial.passages}
    swapped = _sides(trial, rater)
    ordered = _ordered(_units(trial), _draw(trial, "order", rater))
    return tuple(
        SheetItem(item, passages[item.passage], swapped[unit.key]) for unit in ordered for item in unit.items
    )


def public_sheet(trial: Trial, rater: str) -> dict[str, Any]:
    """All that a rater may be told, as JSON. No name of a system, and nothing by which a repeat or spam is known."""
    groups = {item.id: _group(trial, unit) for unit in _units(trial) for item in unit.items}
    shown = rater_sheet(trial, rater)
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
        "items": [_told(one, groups[one.item.id]) for one in shown],
    }


def _told(shown: SheetItem, group: str) -> dict[str, Any]:
    first, second = shown.texts
    return {
        "id": shown.item.id,
        "group": group,
        "book": shown.passage.book,
        "language": shown.passage.language,
        "sources": list(shown.passage.sources),
        "a": list(first),
        "b": list(second),
    }


def _group(trial: Trial, unit: SheetUnit) -> str:
    # A repeat has a group of its own, or the page's source would tell what it repeats.
    return hash_text(f"{trial.id}|group|{unit.key}", length=10)


def _units(trial: Trial) -> list[SheetUnit]:
    """In the order of the trial. Spam of a document is a run as any other: standing alone, it would be known."""
    documents: Mapping[str, TrialPassage] = {passage.id: passage for passage in trial.passages}
    found: dict[tuple[str, ...], list[TrialItem]] = {}
    for item in trial.items:
        together = trial.condition == "document"
        key = (documents[item.passage].document, *item.systems, item.kind) if together else (item.id,)
        found.setdefault(key, []).append(item)
    return [SheetUnit(tuple(items)) for items in found.values()]


# --- which text is A -----------------------------------------------------------------------------------------------


def _sides(trial: Trial, rater: str) -> dict[str, bool]:
    """For each unit, whether its second system is A.

    Sides alternate along a list that is shuffled within each pair of systems, so any stretch of it is balanced to one:
    the whole, a pair, those of a pair that will be repeated.
    """
    couple, turned = _couple(trial, rater)
    rng = _draw(trial, "sides", couple)
    units = _units(trial)
    repeated = {unit.original for unit in units if unit.original}
    originals = [unit for unit in units if not unit.original]
    rng.shuffle(originals)
    originals.sort(key=lambda unit: (unit.items[0].kind, unit.items[0].systems, unit.key in repeated))
    side = turned ^ (rng.random() < 0.5)
    sides = {unit.key: side ^ (place % 2 == 1) for place, unit in enumerate(originals)}
    return sides | {unit.key: not sides[unit.original] for unit in units if unit.original}


def _couple(trial: Trial, rater: str) -> tuple[str, bool]:
    """The two raters to whom this one belongs, and whether it is the one who sees all the other way round."""
    if rater in trial.raters:
        place = trial.raters.index(rater)
        return str(place // 2), place % 2 == 1
    return f"joined|{rater}", False


# --- in which order ------------------------------------------------------------------------------------------------


def _ordered(units: Sequence[SheetUnit], rng: Random) -> list[SheetUnit]:
    """At random, but what is repeated comes in the first half, and its repeat as far behind it as half of the rest."""
    repeats = {unit.original: unit for unit in units if unit.original}
    again = [unit for unit in units if unit.key in repeats]
    once = [unit for unit in units if not unit.original and unit.key not in repeats]
    rng.shuffle(again)
    rng.shuffle(once)
    length = len(again) + len(once)
    early = set(rng.sample(range(max((length + 1) // 2, len(again))), len(again)))
    order = [again.pop() if place in early else once.pop() for place in range(length)]
    slots = [
        (rng.randint(min(place + length // 2, length - 1), length - 1) + rng.random(), repeats[unit.key])
        for place, unit in enumerate(order)
        if unit.key in repeats
    ]
    placed = [(float(place), unit) for place, unit in enumerate(order)] + slots
    return [unit for _, unit in sorted(placed, key=lambda one: one[0])]


def _draw(trial: Trial, what: str, who: str) -> Random:
    """Random numbers that are the same for the same trial, use and rater on any machine."""
    return Random(f"{trial.seed}|{trial.id}|{what}|{who}")  # noqa: S311, no secret
