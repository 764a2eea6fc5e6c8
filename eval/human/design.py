"""Trial design: sample passages, pair the systems, add repeats and attention items.

The same seed gives the same trial.
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
from eval.human.span import SpanProtocol
from eval.human.trial import Trial, TrialCondition, TrialItem, TrialPassage
from eval.human.trial_file import assign_ids
from eval.human.vote import SHUFFLED_SYSTEM

StratumKind: TypeAlias = Literal["none", "book", "language"]


@dataclass(frozen=True, slots=True)
class TrialDesign:
    """Settings of sampling and display."""

    items: int | None = None
    """Number of pairs, without repeats and attention items; None for fifty, or all if there are fewer."""
    shortest: int = 0
    longest: int | None = None
    unit: LengthUnit = "words"
    by: StratumKind = "none"
    """Sample equally from each book or language, as far as they have passages."""
    condition: TrialCondition = "paragraph"
    bilingual: bool = True
    paragraphs: int = 5
    """Consecutive paragraphs of a passage in the document condition."""
    passages: int = 4
    """Most consecutive passages of a document in the document condition."""
    all_pairs: bool = False
    """All pairs of systems in each passage; otherwise one pair per passage, in turn."""
    against: str = ""
    """Compare each other system only with this one."""
    repeats: float = 0.1
    """Share of items that are shown again."""
    spam: float = 0.1
    """Share of attention items, which pair a text with its own shuffled copy. In the document condition repeats and
    attention items are whole runs of passages.
    """
    shuffle: ShuffleUnit | None = None
    """None: words in the paragraph condition, sentences in the document condition."""


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
    spans: SpanProtocol | None = None,
    per_rater: int | None = None,
) -> Trial:
    """Make a trial; several sets, such as one per source language, are sampled together.

    Raises InputError if the set can't supply the design. `Trial.design` records the candidates and the exclusions.
    """
    design = design or TrialDesign()
    corpora = [corpus] if isinstance(corpus, Corpus) else list(corpus)
    _check(design, corpora)
    _check_per_rater(per_rater, design)
    names = trial_systems(corpora, systems)
    _check_names(name, names, raters)
    counts: Counter[str] = Counter()
    pairs = system_pairs(names, against=design.against)
    blocks, spare = candidate_blocks(corpora, pairs, design=design, counts=counts, rng=_rng(seed, "blocks"))
    items, used = pair_items(blocks, pairs, design=design, counts=counts, rng=_rng(seed, "passages"))
    repeats = repeat_items(items, used, design=design, rng=_rng(seed, "repeats"))
    spam, spam_passages = spam_items(
        items, used, [*spare, *blocks], systems=names, design=design, rng=_rng(seed, "spam")
    )
    counts.update(items=len(items), repeats=len(repeats), spam=len(spam))
    return assign_ids(
        Trial(
            id="",
            name=name,
            seed=seed,
            systems=names,
            passages=_passages([*used, *spam_passages], design),
            items=_numbered([*items, *repeats, *spam]),
            condition=design.condition,
            bilingual=design.bilingual,
            ties=ties or spans is not None,
            marks=marks and spans is None,
            raters=tuple(raters),
            target_language=corpora[0].target_language,
            design=_design_record(design, counts),
            spans=spans,
            per_rater=per_rater,
        )
    )


def _check(design: TrialDesign, corpora: Sequence[Corpus]) -> None:
    if not corpora:
        raise InputError("There is no set to sample from.", field="data")
    if len({corpus.target_language for corpus in corpora}) > 1:
        raise InputError("The sets have several target languages: make one trial for each.", field="data")
    if design.bilingual and not all(one.sources for corpus in corpora for one in corpus.documents):
        raise InputError(
            "The set has no source to show with the translations. Give one, or make the trial monolingual.",
            field="bilingual",
        )
    if design.longest is not None and design.longest < design.shortest:
        raise InputError(
            f"The largest length ({design.longest:,} {design.unit}) is below the smallest ({design.shortest:,}).",
            field="longest",
        )
    for what in ("repeats", "spam"):
        if not 0 <= getattr(design, what) <= 0.5:
            raise InputError(f"The share of {what} lies between 0 and 0.5.", field=what)
    for what in ("items", "paragraphs", "passages"):
        if getattr(design, what) is not None and getattr(design, what) < 1:
            raise InputError(f"The number of {what} must be at least 1.", field=what)


def _check_per_rater(per_rater: int | None, design: TrialDesign) -> None:
    if per_rater is not None and per_rater < 1:
        raise InputError("The number of items for each rater must be at least 1.", field="per_rater")
    if per_rater is not None and design.condition == "document":
        raise InputError(
            "Passages of one document are read together, so they can't be allocated one by one. Show single "
            "paragraphs, or let every rater see all items.",
            field="per_rater",
        )


def _check_names(name: str, systems: Sequence[str], raters: Sequence[str]) -> None:
    if SHUFFLED_SYSTEM in systems:
        raise InputError(
            f"The name {SHUFFLED_SYSTEM!r} is reserved for attention items. Rename the system.", field="system"
        )
    for system in systems:
        if re.search(rf"(?<!\w){re.escape(system)}(?!\w)", name, re.IGNORECASE):
            raise InputError(
                f"Raters see the trial name {name!r}, which reveals the system {system!r}. Choose another name.",
                field="name",
            )
    if not name.strip() or not all(rater.strip() for rater in raters):
        raise InputError("A trial and its raters need names.", field="name")
    if len(set(raters)) < len(raters):
        raise InputError("Two raters have the same name: votes are attributed by name.", field="raters")


def _passages(used: Sequence[CandidatePassage], design: TrialDesign) -> tuple[TrialPassage, ...]:
    unique = {candidate.passage.id: candidate.passage for candidate in used}
    return tuple(one if design.bilingual else replace(one, sources=()) for one in unique.values())


def _numbered(items: Sequence[TrialItem]) -> tuple[TrialItem, ...]:
    return tuple(replace(item, id=str(place)) for place, item in enumerate(items))


def _design_record(design: TrialDesign, counts: Counter[str]) -> tuple[tuple[str, Any], ...]:
    """The settings and the resulting counts, as plain values."""
    given = {name: getattr(design, name) for name in TrialDesign.__dataclass_fields__}
    found = {f"found_{name}": counts[name] for name in ("passages", "items", "repeats", "spam")}
    left = {f"left_out_{name}": counts[name] for name in ("identical", "length", "missing")}
    return tuple((given | found | left).items())


def _rng(seed: int, what: str) -> Random:
    """A separate generator for each choice, so that changing one leaves the others unchanged."""
    return Random(f"{seed}|{what}")  # noqa: S311, no secret
