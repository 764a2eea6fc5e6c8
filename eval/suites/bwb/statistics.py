"""Statistics of annotated chapters: Table 4 (entities), Table 5 (pronouns) and Figure 3 (chains) of the BWB paper.

Entities of different documents are distinct. Distances are in sentences, that is, lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.bwb.tags import ENTITY_TYPES
from eval.linguistics.pronoun_gender import GENDERS, gender_of


@dataclass(frozen=True, slots=True)
class EntityShare:
    """A row of Table 4."""

    count: int
    frequency: float
    """The share of all entity mentions that have a type."""
    repetition: float
    """Mentions per entity."""


@dataclass(frozen=True, slots=True)
class PronounStatistics:
    """A row of Table 5: numbers by gender, and the share that the other language omits."""

    by_gender: Counter[str]
    omitted: int
    total: int

    @property
    def share_omitted(self) -> float | None:
        """None without pronouns."""
        return self.omitted / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class ChainStatistics:
    """Figure 3: the distance to the antecedent of each mention, and the spread and size of each entity."""

    distances: Counter[int] = field(default_factory=Counter)
    spreads: Counter[int] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)


def entity_statistics(documents: Sequence[BwbMarkup]) -> dict[str, EntityShare]:
    """Table 4: by type, and TERM and NOM for terminology and other phrases."""
    labelled = [
        (number, span) for number, document in enumerate(documents) for span in document.spans if span.kind == "entity"
    ]
    rows: dict[str, list[tuple[int, str]]] = {name: [] for name in (*ENTITY_TYPES, "NOM", "TERM")}
    for number, span in labelled:
        rows[span.type].append((number, span.entity))
        if span.terminology is not None:
            rows["TERM" if span.terminology else "NOM"].append((number, span.entity))
    known = len(rows["NOM"]) + len(rows["TERM"])
    return {
        name: _share(found, len(labelled) if name in ENTITY_TYPES else known) for name, found in rows.items() if found
    }


def _share(found: Sequence[tuple[int, str]], total: int) -> EntityShare:
    return EntityShare(len(found), len(found) / total, len(found) / len(set(found)))


def pronoun_statistics(documents: Iterable[BwbMarkup]) -> PronounStatistics:
    """Table 5."""
    genders: Counter[str] = Counter(dict.fromkeys(GENDERS, 0))
    omitted = total = 0
    for document in documents:
        for span in document.spans:
            if span.kind in ("pronoun", "omitted"):
                genders[gender_of(document.text_of(span))] += 1
                omitted += span.kind == "omitted"
                total += 1
    return PronounStatistics(genders, omitted, total)


def chain_statistics(documents: Iterable[BwbMarkup]) -> ChainStatistics:
    """Figure 3. An entity with one mention has size 1, spread 0 and no antecedent."""
    found = ChainStatistics()
    for document in documents:
        for spans in document.chains().values():
            lines = [span.line for span in spans]
            found.distances.update(after - before for before, after in pairwise(lines))
            found.spreads[lines[-1] - lines[0]] += 1
            found.sizes[len(lines)] += 1
    return found
