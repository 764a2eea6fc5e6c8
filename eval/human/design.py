"""Make a trial: sample passages by design, pair the systems, add repeats and spam.

The same seed makes the same trial.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, TypeAlias

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.human.candidates import CandidatePassage, LengthUnit, system_pairs, trial_systems
from eval.human.sampling import candidate_blocks, pair_items, repeat_items, spam_items
from eval.human.spam import ShuffleUnit
from eval.human.trial import Trial, TrialCondition, TrialItem, TrialPassage
from eval.human.trial_file import assign_ids
from eval.human.vote import SHUFFLED_SYSTEM

StratumKind: TypeAlias = Literal["none", "book", "language"]


@dataclass(frozen=True, slots=True)
class TrialDesign:
    """What is sampled, and how it is shown."""

    items: int | None = None
    """Pairs of texts, without repeats and spam; fifty, or all there are, where nobody says."""
    shortest: int = 0
    longest: int | None = None
    unit: LengthUnit = "words"
    by: StratumKind = "none"
    """Books or languages give as many passages each, as far as they have them."""
    condition: TrialCondition = "paragraph"
    bilingual: bool = True
    paragraphs: int = 5
    """In a passage of the document condition; they follow each other."""
    passages: int = 4
    """At most, of a document in the document condition; they follow each other."""
    all_pairs: bool = False
    """Every two systems in each passage; else one pair a passage, in turn."""
    against: str = ""
    """A system to which each of the others is compared, and they are not to each other."""
    repeats: float = 0.1
    """For each item, so many that show one again."""
    spam: float = 0.1
    """For each item, so many that show a text beside its own shuffled copy; in the document condition, as of repeats,
    whole runs of passages.
    """
    shuffle: ShuffleUnit | None = None
    """Words for paragraphs and sentences for documents, where nobody says."""


def make_trial(
    corpus: Corpus | Sequence[Corpus],
    *,
    systems: Sequence[str] = (),
    seed: int = 1,
    design: TrialDesign | None = None,
    name: str = "Which translation reads better?",
    raters: Sequence[str] = (),
    ties: bool = True,
    marks: bool = True,
) -> Trial:
    """The trial. Several sets, as one for each source language, are sampled together.

    Raises InputError where the set does not have what is asked for. `Trial.design` tells how many passages there were
    and what was left out of them.
    """
    design = design or TrialDesign()
    corpora = [corpus] if isinstance(corpus, Corpus) else list(corpus)
    _check(design, corpora)
    names = trial_systems(corpora, systems)
    _check_names(name, names, raters)
    counts: Counter[str] = Counter()
    pairs = system_pairs(names, against=design.against)
    found, spare = candidate_blocks(corpora, pairs, design=design, counts=counts, rng=_rng(seed, "blocks"))
    items, used = pair_items(found, pairs, design=design, counts=counts, rng=_rng(seed, "passages"))
    again = repeat_items(items, used, design=design, rng=_rng(seed, "repeats"))
    spam, spoilt = spam_items(
        items, used, [*spare, *found], systems=names, design=design, rng=_rng(seed, "spam")
    )
    counts.update(items=len(items), repeats=len(again), spam=len(spam))
    shown = _numbered([*items, *again, *spam])
    return assign_ids(
        Trial(
            id="",
            name=name,
            seed=seed,
            systems=names,
            passages=_passages([*used, *spoilt], design),
            items=shown,
            condition=design.condition,
            bilingual=design.bilingual,
            ties=ties,
            marks=marks,
            raters=tuple(raters),
            target_language=corpora[0].target_language,
            design=_told(design, counts),
        )
    )


# --- checks --------------------------------------------------------------------------------------------------------


def _check(design: TrialDesign, corpora: Sequence[Corpus]) -> None:
    if not corpora:
        raise InputError("There is no set to sample from.", field="data")
    if len({corpus.target_language for corpus in corpora}) > 1:
        raise InputError("The sets are in several target languages: make a trial for each.", field="data")
    if design.bilingual and not all(one.sources for corpus in corpora for one in corpus.documents):
        raise InputError(
            "The set has no source to show beside the translations. Give it, or make the test --monolingual.",
            field="bilingual",
        )
    if design.longest is not None and design.longest < design.shortest:
        raise InputError(
            f"No passage is {design.shortest:,} {design.unit} or more and {design.longest:,} or less.",
            field="longest",
        )
    for what in ("repeats", "spam"):
        if not 0 <= getattr(design, what) <= 0.5:
            raise InputError(f"--{what} is a share from 0 to 0.5.", field=what)
    for what in ("items", "paragraphs", "passages"):
        if getattr(design, what) is not None and getattr(design, what) < 1:
            raise InputError(f"--{what} is one at least.", field=what)


def _check_names(name: str, systems: Sequence[str], raters: Sequence[str]) -> None:
    if SHUFFLED_SYSTEM in systems:
        raise InputError(
            f"A system can't be called {SHUFFLED_SYSTEM!r}: spam is. Give it another name.", field="system"
        )
    for system in systems:
        if re.search(rf"(?<!\w){re.escape(system)}(?!\w)", name, re.IGNORECASE):
            raise InputError(
                f"Raters see the name {name!r}, and it tells of the system {system!r}. Choose another.",
                field="name",
            )
    if not name.strip() or not all(rater.strip() for rater in raters):
        raise InputError("A trial and its raters need names.", field="name")
    if len(set(raters)) < len(raters):
        raise InputError("Two raters have the same name: votes are told apart by it.", field="raters")


# --- what it holds -------------------------------------------------------------------------------------------------


def _passages(used: Sequence[CandidatePassage], design: TrialDesign) -> tuple[TrialPassage, ...]:
    unique = {place.passage.id: place.passage for place in used}
    return tuple(one if design.bilingual else replace(one, sources=()) for one in unique.values())


def _numbered(items: Sequence[TrialItem]) -> tuple[TrialItem, ...]:
    return tuple(replace(item, id=str(place)) for place, item in enumerate(items))


def _told(design: TrialDesign, counts: Counter[str]) -> tuple[tuple[str, Any], ...]:
    """What was asked for and what came of it, as plain values."""
    given = {name: getattr(design, name) for name in TrialDesign.__dataclass_fields__}
    found = {f"found_{name}": counts[name] for name in ("passages", "items", "repeats", "spam")}
    left = {f"left_out_{name}": counts[name] for name in ("identical", "length", "missing")}
    return tuple((given | found | left).items())


def _rng(seed: int, what: str) -> Random:
    """Numbers of its own for each choice, so that a change of one leaves the others as they were."""
    return Random(f"{seed}|{what}")  # noqa: S311, no secret
