"""Sampling of trial items: stratified passages, pairs of systems, repeats and attention items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.human.candidates import CandidatePassage, LengthRange, SystemPair, candidate_passages
from eval.human.spam import ShuffleUnit, shuffle_text
from eval.human.trial import TrialItem, TrialPassage
from eval.human.vote import SHUFFLED_SYSTEM

if TYPE_CHECKING:
    from eval.human.design import StratumKind, TrialDesign

_DEFAULT_ITEMS = 50
CandidateBlock: TypeAlias = list[CandidatePassage]
"""Passages that are shown consecutively: a single one, or several of a document."""


def candidate_blocks(
    corpora: Sequence[Corpus], pairs: Sequence[SystemPair], *, design: TrialDesign, counts: Counter[str], rng: Random
) -> tuple[list[CandidateBlock], list[CandidateBlock]]:
    """Order the candidate blocks: alternating between strata, at random within each.

    Also returns the rest of the same documents, for attention items.
    """
    window = LengthRange(design.shortest, design.longest, design.unit)
    whole = design.condition == "document"
    found = candidate_passages(
        corpora, pairs, paragraphs=design.paragraphs if whole else 1, window=window, counts=counts
    )
    strata: dict[str, list[CandidateBlock]] = defaultdict(list)
    spare: list[CandidateBlock] = []
    for document in filter(None, found):
        cut, rest = _cut(document, design.passages, rng) if whole else ([[place] for place in document], [])
        strata[_stratum(document[0].passage, design.by)] += cut
        spare += rest
    if "" in strata and design.by != "none":
        raise InputError(f"The set does not name the {design.by} of every document.", field="by")
    turns = [rng.sample(stratum, len(stratum)) for stratum in strata.values()]
    rng.shuffle(turns)
    longest = max(map(len, turns), default=0)
    taken = [stratum[turn] for turn in range(longest) for stratum in turns if turn < len(stratum)]
    counts["passages"] = sum(map(len, taken))
    return taken, rng.sample(spare, len(spare))


def _cut(document: CandidateBlock, most: int, rng: Random) -> tuple[list[CandidateBlock], list[CandidateBlock]]:
    """Cut one random stretch from a document; also returns the parts before and after it."""
    start = rng.randint(0, max(0, len(document) - most))
    end = start + most
    return [document[start:end]], [part for part in (document[:start], document[end:]) if part]


def _stratum(passage: TrialPassage, by: StratumKind) -> str:
    return {"none": "all", "book": passage.book, "language": passage.language}[by]


def pair_items(
    blocks: Sequence[CandidateBlock],
    pairs: Sequence[SystemPair],
    *,
    design: TrialDesign,
    counts: Counter[str],
    rng: Random,
) -> tuple[list[TrialItem], list[CandidatePassage]]:
    """Select the pairs of texts, with their passages."""
    turn = {pair: place for place, pair in enumerate(rng.sample(pairs, len(pairs)))}
    shown: Counter[SystemPair] = Counter()
    items: list[TrialItem] = []
    used: list[CandidatePassage] = []
    wanted = design.items or _DEFAULT_ITEMS
    for block in blocks:
        for pair in _chosen(block, pairs, shown, turn, design):
            differing = [place for place in block if pair in place.pairs][: wanted - len(items)]
            items += [_item(place, pair) for place in differing]
            used += differing
            shown[pair] += len(differing)
        if len(items) >= wanted:
            break
    if not items or (design.items is not None and len(items) < design.items):
        raise InputError(_too_few(len(items), design, counts), field="items")
    return items, used


def _chosen(
    block: CandidateBlock,
    pairs: Sequence[SystemPair],
    shown: Counter[SystemPair],
    turn: dict[SystemPair, int],
    design: TrialDesign,
) -> list[SystemPair]:
    """The pairs of systems to show in a block: all, or the least shown so far."""
    differing = [pair for pair in pairs if any(pair in place.pairs for place in block)]
    return differing if design.all_pairs else [min(differing, key=lambda pair: (shown[pair], turn[pair]))]


def _item(place: CandidatePassage, pair: SystemPair) -> TrialItem:
    one, other = pair
    return TrialItem("", place.passage.id, pair, (place.texts[one], place.texts[other]))


def _too_few(found: int, design: TrialDesign, counts: Counter[str]) -> str:
    left_out = _left_out(counts)
    why = f" Left out: {left_out}." if left_out else ""
    if not found and counts["identical"] and not counts["passages"]:
        return f"There is nothing to compare: the systems have the same text everywhere.{why}"
    if not found:
        return f"There is no suitable passage.{why} Widen the range of lengths, or give a larger set."
    more = "allow more passages of a document" if design.condition == "document" else "widen the range of lengths"
    return (
        f"The set has only {found:,} of {design.items:,} items.{why} Reduce the number of items, {more}, or give a "
        "larger set."
    )


def _left_out(counts: Counter[str]) -> str:
    reasons = {
        "identical": "{} with the same text in both systems",
        "length": "{} outside the range of lengths",
        "missing": "{} where a system has no text",
    }
    return ", ".join(text.format(f"{counts[what]:,}") for what, text in reasons.items() if counts[what])


def _share(share: float, items: int) -> int:
    return max(1, round(share * items)) if share else 0


def repeat_items(
    items: Sequence[TrialItem], used: Sequence[CandidatePassage], *, design: TrialDesign, rng: Random
) -> list[TrialItem]:
    """Select items to repeat; in the document condition whole runs of passages.

    `repeats` is the index of the original, as is the id of every item until final ids are assigned.
    """
    wanted = _share(design.repeats, len(items))
    units = _units(items, used, design)
    chosen: list[TrialItem] = []
    for unit in rng.sample(units, len(units)):
        if len(chosen) >= wanted:
            break
        chosen += [replace(items[place], kind="repeat", repeats=str(place)) for place in unit]
    return chosen


def _units(items: Sequence[TrialItem], used: Sequence[CandidatePassage], design: TrialDesign) -> list[list[int]]:
    """Indices of items that are shown together: single items, or a document's for one pair of systems."""
    units: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, (item, at) in enumerate(zip(items, used, strict=True)):
        together = (at.passage.document, item.systems) if design.condition == "document" else (place,)
        units[together].append(place)
    return list(units.values())


def spam_items(
    items: Sequence[TrialItem],
    used: Sequence[CandidatePassage],
    spare: Sequence[CandidateBlock],
    *,
    systems: Sequence[str],
    design: TrialDesign,
    rng: Random,
) -> tuple[list[TrialItem], list[CandidatePassage]]:
    """Make attention items: texts paired with their shuffled copies, preferably of passages not shown otherwise.

    In the document condition their runs are as long as the others, so that their length does not reveal them.
    """
    wanted = _share(design.spam, len(used))
    how: ShuffleUnit = design.shuffle or ("sentences" if design.condition == "document" else "words")
    shown = [[used[place] for place in unit] for unit in _units(items, used, design)]
    lengths = [length for length, _ in Counter(map(len, shown)).most_common()]
    taken = {place.passage.id for place in used}
    again = {tuple(place.passage.id for place in run): run for run in shown}
    made: list[TrialItem] = []
    passages: list[CandidatePassage] = []
    seen: set[tuple[str, str]] = set()
    turn = count(rng.randrange(len(systems)))
    fresh = (_fitting([place for place in block if place.passage.id not in taken], lengths) for block in spare)
    for run in [*filter(None, fresh), *rng.sample(list(again.values()), len(again))]:
        if len(made) >= wanted:
            break
        system = systems[next(turn) % len(systems)]
        mine = (run[0].passage.document, system)
        found = [(place, item) for place in run if (item := _spam(place, system, how, rng))]
        # Two runs of one document and system would be merged into one.
        if len(found) in lengths and (design.condition == "paragraph" or mine not in seen):
            seen.add(mine)
            made += [item for _, item in found]
            passages += [place for place, _ in found]
    return made, passages


def _fitting(block: CandidateBlock, lengths: Sequence[int]) -> CandidateBlock:
    """The start of the block, with the first length that fits."""
    return block[: next((length for length in lengths if length <= len(block)), 0)]


def _spam(place: CandidatePassage, system: str, how: ShuffleUnit, rng: Random) -> TrialItem | None:
    text = place.texts[system]
    copy = shuffle_text(text, rng, shuffle=how)
    if copy is None:
        return None
    return TrialItem("", place.passage.id, (system, SHUFFLED_SYSTEM), (text, copy), "spam")
