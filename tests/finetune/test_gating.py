"""Fitting the gate: it learns which edits help, and lets nothing through where none does."""

from __future__ import annotations

from random import Random

import pytest

from ape.errors import InputError
from ape.segment import Chance, Draft
from finetune.example import Example
from finetune.gating import Drafted, distance, fit

WORDS = "stone river lantern winter garden letter window harbour candle bridge".split()


def drafted(number: int, random: Random, *, good: float) -> Drafted:
    """An MT with a wrong word, and a draft that mends it surely or spoils another one doubtfully."""
    words = random.sample(WORDS, 6)
    human = " ".join(words)
    mt = " ".join(["Xen", *words[1:]])
    mends = random.random() < good
    made = [*words] if mends else ["Xen", *words[1:-1], "Zud"]
    chances = [
        Chance((" " if at else "") + word, (-0.05 if mends else -2.5) if word not in mt.split() else -0.01)
        for at, word in enumerate(made)
    ]
    pair = "et" if number % 2 else "ro"
    return Drafted(
        Example(f"{number}", "b", "Kivi .", mt, human, pair, "en"),
        Draft(" ".join(made), chances=tuple(chances)),
    )


def drafts(count: int, *, good: float, seed: int = 3) -> list[Drafted]:
    random = Random(seed)
    return [drafted(number, random, good=good) for number in range(count)]


def test_sure_edits_that_help_are_let_through_and_doubtful_ones_that_harm_are_not() -> None:
    fitted = fit(drafts(120, good=0.5))
    unseen = drafts(40, good=0.5, seed=8)
    after = [fitted.gate.sift(one.segment, one.draft).text for one in unseen]
    helped = [one for one in unseen if one.draft.text == one.example.human]
    assert all(text in (one.example.human, one.example.mt) for text, one in zip(after, unseen, strict=True))
    assert sum(text == one.example.human for text, one in zip(after, unseen, strict=True)) == len(helped)
    assert set(fitted.won) == {"et-en", "ro-en"}
    assert min(fitted.won.values()) > 0


def test_where_no_edit_helps_none_is_let_through() -> None:
    fitted = fit(drafts(120, good=0.0))
    assert fitted.gate.threshold == 1.0
    assert (fitted.kept, set(fitted.won.values())) == (0, {0})


def test_the_same_drafts_make_the_same_gate() -> None:
    assert fit(drafts(80, good=0.5)).gate == fit(drafts(80, good=0.5)).gate


def test_too_few_edits_are_no_ground_for_a_gate() -> None:
    with pytest.raises(InputError, match="The drafts have 10 edits"):
        fit(drafts(10, good=0.5))


def test_distance_counts_words_and_half_for_a_capital() -> None:
    assert distance("the red cat sat", "the cat sat down") == 2
    assert distance("the cat sat in rome", "the cat sat in Rome") == 0.5


def test_an_edit_that_loses_meaning_is_never_let_through() -> None:
    fitted = fit(drafts(120, good=0.5))
    one = drafts(1, good=1.0)[0]
    shorter = " ".join(one.example.mt.split()[:-1])
    chances = tuple(Chance((" " if at else "") + word, 0.0) for at, word in enumerate(shorter.split()))
    sifted = fitted.gate.model_copy(update={"threshold": 0.01}).sift(
        one.segment, Draft(shorter, chances=chances)
    )
    assert sifted.text == one.example.mt
