"""Insert faults into good post-edits, one at a time, and see whether the guards catch them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from ape.text import sentences
from benchmarks.studies.guards.passages import HumanPostEdit
from benchmarks.studies.guards.refusals import find_rejections

_NAME = regex.compile(r"(?<![.!?:\"“”„«»…(\[>*/'’\d-]\s)(?<=[\p{L}\p{N},;)\]%]\s)\p{Lu}\p{Ll}{2,}(?![\p{L}'’-])")
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}.,:/-])\p{Nd}{1,4}(?![\p{L}\p{N}]|[.,:/-]\p{Nd})")
_OPENERS = (
    "Here is the post-edited paragraph:\n\n",
    "Sure, I can help with that! ",
    "Certainly! Below is the improved text:\n",
    "Okay, my attempt at this one: ",
    "Of course. The corrected passage reads as follows:\n\n",
    "Edited version: ",
    "I have revised the machine translation for fluency:\n",
    "Absolutely! Please find the polished wording below.\n\n",
    "As requested, this is the final text. ",
    "Translation: ",
    "Post-edit: ",
    "Assistant: ",
    "**Revised text**\n\n",
    "Great question! Here you go: ",
    "```\n",
    "### Output\n",
    "Improved English translation:\n",
    "The translation is mostly fine; I only fixed grammar. ",
    "Here's a more natural-sounding version: ",
    "Got it. This is how I would put it: ",
    "Thank you for the text. My edited rendering: ",
)
_CLOSERS = (
    "\n\nLet me know if you would like any other changes.",
    " I hope this helps!",
    "\n\nNote: I kept the names as they were.",
    "\n(I corrected two tense errors and one pronoun.)",
    " Feel free to ask for further revisions.",
    "\n\n**Changes made:** articles, word order.",
    "\n\nExplanation: the original was too literal.",
)


_TRIED_NAMES = 50


class NoFaultPossible(Exception):
    """The row has no place for a fault of this kind."""


@dataclass(frozen=True, slots=True)
class FaultMaterial:
    """Material for faults: names of other rows, and words that occur in lower case."""

    names: tuple[str, ...]
    small: frozenset[str]


FaultFunction = Callable[[HumanPostEdit, FaultMaterial, random.Random], str]


def collect_fault_material(rows: Sequence[HumanPostEdit], seen: Iterable[str]) -> FaultMaterial:
    """Names in post-edits: capitalised words within a sentence that never occur in lower case in `seen`."""
    small = frozenset(word for text in seen for word in text.split() if word.islower())
    names = sorted({match.group() for row in rows for match in _names(row.post_edit, small)})
    return FaultMaterial(tuple(names), small)


def _names(text: str, small: frozenset[str]) -> list[regex.Match[str]]:
    return [match for match in _NAME.finditer(text) if match.group().lower() not in small]


def drop_sentence(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Remove a sentence."""
    pieces = [piece for piece in sentences.split_sentences(row.post_edit) if piece.strip()]
    places = [place for place, piece in enumerate(pieces) if len(piece.split()) >= 4]
    if not 2 <= len(pieces) <= len(sentences.split_sentences(row.segment.mt)) or not places:
        raise NoFaultPossible
    place = chance.choice(places)
    return "".join(pieces[:place] + pieces[place + 1 :]).strip()


def change_name(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Replace a name by one of another row."""
    places = _names(row.post_edit, stock.small)
    if not places:
        raise NoFaultPossible
    match = chance.choice(places)
    known = f"{row.segment.source} {row.segment.mt} {row.post_edit}".lower()
    start = match.group()[:3].lower()
    others = [
        name
        for name in chance.sample(stock.names, min(_TRIED_NAMES, len(stock.names)))
        if name.lower() not in known and not name.lower().startswith(start)
    ]
    if not others:
        raise NoFaultPossible
    return row.post_edit[: match.start()] + others[0] + row.post_edit[match.end() :]


def change_number(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Replace a number by another with as many digits."""
    places = list(_NUMBER.finditer(row.post_edit))
    if not places:
        raise NoFaultPossible
    match = chance.choice(places)
    old = match.group()
    known = f"{row.segment.source} {row.segment.mt}"
    for _ in range(50):
        new = str(chance.randint(1, 9)) + "".join(str(chance.randint(0, 9)) for _ in old[1:])
        if new not in known and new != old:
            return row.post_edit[: match.start()] + new + row.post_edit[match.end() :]
    raise NoFaultPossible


def replace_by_source(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Replace the post-edit by the source."""
    return row.segment.source


def append_source(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Add the source before or after the post-edit."""
    parts = [row.post_edit, row.segment.source]
    chance.shuffle(parts)
    return chance.choice((" ", "\n", "\n\n")).join(parts)


def insert_source_words(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Replace five to eight words by as many of the source."""
    source, words = row.segment.source.split(), row.post_edit.split()
    length = chance.randint(5, 8)
    if len(source) < length or len(words) < 2 * length:
        raise NoFaultPossible
    start, place = chance.randint(0, len(source) - length), chance.randint(0, len(words) - length)
    run = source[start : start + length]
    if sum(word.isalpha() for word in run) < 5 or sum(word in row.segment.mt for word in run) > length / 3:
        raise NoFaultPossible
    return " ".join(words[:place] + run + words[place + length :])


def repeat_ending(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Repeat the last word, phrase or sentence."""
    words = row.post_edit.split()
    length = min(chance.choice((1, 2, 3, 5, 8, 12, len(words))), len(words))
    return " ".join(words + words[-length:] * chance.randint(8 if length < 3 else 3, 20))


def add_preamble(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Add a remark before or after the post-edit."""
    if chance.random() < 0.7:
        return chance.choice(_OPENERS) + row.post_edit
    return row.post_edit + chance.choice(_CLOSERS)


def cut_within_sentence(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Cut at a word between 30% and 90%, without final punctuation."""
    words = row.post_edit.split()
    if len(words) < 4:
        raise NoFaultPossible
    start = words[: max(1, round(len(words) * chance.uniform(0.3, 0.9)))]
    if not any(word[0].isalnum() for word in words[len(start) :]):
        raise NoFaultPossible
    text = " ".join(start).rstrip(" .!?…,;:\"”»')")
    if not text:
        raise NoFaultPossible
    return text


def cut_after_sentence(row: HumanPostEdit, stock: FaultMaterial, chance: random.Random) -> str:
    """Cut after a sentence."""
    pieces = [piece for piece in sentences.split_sentences(row.post_edit) if piece.strip()]
    if not 2 <= len(pieces) <= len(sentences.split_sentences(row.segment.mt)) or all(
        len(piece.split()) < 4 for piece in pieces[1:]
    ):
        raise NoFaultPossible
    text = "".join(pieces[: chance.randint(1, len(pieces) - 1)]).strip()
    if len(row.post_edit.split()) - len(text.split()) < 4:
        raise NoFaultPossible
    return text


FAULTS: Mapping[str, FaultFunction] = {
    "sentence dropped": drop_sentence,
    "name changed": change_name,
    "number changed": change_number,
    "source instead": replace_by_source,
    "source appended": append_source,
    "source run left in": insert_source_words,
    "loop": repeat_ending,
    "preamble": add_preamble,
    "cut short": cut_within_sentence,
    "cut at a sentence": cut_after_sentence,
}


@dataclass(frozen=True, slots=True)
class FaultTrial:
    """A fault in a post-edit, and whether it was caught."""

    kind: str
    row: HumanPostEdit
    text: str
    caught: bool


def run_fault_trials(rows: Sequence[HumanPostEdit], stock: FaultMaterial, seed: int = 1) -> Iterator[FaultTrial]:
    """Try every kind of fault in every row that has a place for it."""
    for kind, fault in FAULTS.items():
        chance = random.Random(f"{kind}{seed}")  # a seeded sample, not a secret
        for row in rows:
            try:
                text = fault(row, stock, chance)
            except NoFaultPossible:
                continue
            if text != row.segment.mt:
                yield FaultTrial(kind, row, text, bool(find_rejections(row.segment, text)))
