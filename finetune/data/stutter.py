"""Artificial repetition loops in the MT, as weak translation models produce.

Human post-edits of such MT are new translations, which teach a small model nothing. So stutters are made: some words of
a text come again many times over, and the text as it was is what is to be learnt. Half of the texts are human versions
and half MT, so that what is learnt is to say it once and to leave the rest alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from ape.text.repetition import find_loops
from finetune.data.example import Example
from finetune.data.paragraph import TrainingParagraph
from finetune.data.token_counter import TokenCounter

STUTTER_SUFFIX = "=stutter"
# Longest repeated phrase, in words, or in characters for scripts without spaces.
_LONGEST = 8
# Share of loops that end in the middle of the phrase, as most do.
_CUT_OFF = 0.3
_PIECE = re.compile(r"\S+\s*")


def make_stutter_examples(
    examples: Sequence[Example], share: float, *, tokens: int, counter: TokenCounter, seed: int
) -> tuple[list[Example], list[str]]:
    """Copy examples with a stutter, up to the given share of all; with a note if there are fewer.

    Each comes again once at most, and none is longer than `tokens`: one that would be stutters less, or not at all.
    """
    wanted = round(len(examples) * share / (1 - share))
    order = list(range(len(examples)))
    Random(f"stutter:{seed}").shuffle(order)
    made: list[Example] = []
    waiting = [examples[at] for at in order]
    while waiting and len(made) < wanted:
        batch, waiting = waiting[: wanted - len(made)], waiting[wanted - len(made) :]
        made += _examples_within_limit(batch, tokens, counter, seed)
    remarks = [] if len(made) == wanted else [_too_few(len(examples), len(made), wanted, share)]
    return made, remarks


def _too_few(others: int, made: int, wanted: int, share: float) -> str:
    return (
        f"{wanted:,} stutters were wanted (a share of {share:g}), and {made:,} could be made: they are "
        f"{made / max(others + made, 1):.0%} of the {others + made:,} examples."
    )


def _examples_within_limit(examples: Sequence[Example], tokens: int, counter: TokenCounter, seed: int) -> list[Example]:
    found: dict[str, Example] = {}
    for most in (40, 10, 3):
        left = [
            made
            for one in examples
            if one.id not in found and (made := _stutter_example(one, most, f"{seed}:{one.id}"))
        ]
        counts = counter([_paragraph(one) for one in left]) if left else []
        found |= {
            one.id.removesuffix(STUTTER_SUFFIX): one for one, count in zip(left, counts, strict=True) if count <= tokens
        }
    return [found[one.id] for one in examples if one.id in found]


def _paragraph(one: Example) -> TrainingParagraph:
    return TrainingParagraph(
        one.id, one.book, one.source, one.mt, (("", one.human),), one.source_language, one.target_language
    )


def _stutter_example(example: Example, most: int, seed: str) -> Example | None:
    random = Random(seed)
    text = random.choice([example.mt, example.human]).strip()
    if find_loops(text):
        return None
    mt = insert_stutter(text, random, most=most)
    return replace(example, id=f"{example.id}{STUTTER_SUFFIX}", mt=mt, human=text, kind="stutter") if mt else None


def insert_stutter(text: str, random: Random, *, most: int) -> str | None:
    """Repeat a few words of the text up to `most` times; None if it has too few words."""
    pieces = _PIECE.findall(text)
    if len(pieces) < 3 and len(text) > 2 * _LONGEST:  # a script without spaces
        pieces = list(text)
    length = min(random.randint(1, _LONGEST), random.randint(1, _LONGEST), len(pieces))
    start = random.randrange(len(pieces) - length + 1)
    phrase = pieces[start : start + length]
    if not any(character.isalpha() for piece in phrase for character in piece):
        return None
    # Most loops have two to five rounds, and some many more.
    rounds = min(most, 1 + round(random.paretovariate(0.8)))
    again = _with_trailing_space(phrase if start else [phrase[0][0].lower() + phrase[0][1:], *phrase[1:]])
    cut = again[: random.randrange(length)] if random.random() < _CUT_OFF else []
    looped = [*_with_trailing_space(phrase), *again * (rounds - 1), *cut]
    return "".join([*pieces[:start], *looped, *pieces[start + length :]]).strip()


def _with_trailing_space(phrase: list[str]) -> list[str]:
    """The phrase with a space after it, if the script uses spaces."""
    spaced = any(piece != piece.rstrip() for piece in phrase) or len(phrase[-1]) > 1
    return [*phrase[:-1], phrase[-1] if not spaced else f"{phrase[-1].rstrip()} "]
