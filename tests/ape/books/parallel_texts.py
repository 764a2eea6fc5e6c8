"""A parallel text in two invented languages, to test alignment after random changes."""

from __future__ import annotations

import random
from collections.abc import Sequence

_NAMES = ("Maro", "Tilda", "Oskandar", "Vey", "Brunhold")


def tale(paragraphs: int, *, seed: int = 1) -> tuple[list[str], list[str]]:
    """Make paragraphs in both languages."""
    chance = random.Random(seed)
    words = [(_word(chance, "bdgkmntz", "aou"), _word(chance, "flprsvw", "eiy")) for _ in range(600)]
    pairs = [_paragraph(chance, words) for _ in range(paragraphs)]
    return [source for source, _ in pairs], [mt for _, mt in pairs]


def _word(chance: random.Random, consonants: str, vowels: str) -> str:
    return "".join(chance.choice(consonants) + chance.choice(vowels) for _ in range(chance.choice((1, 2, 2, 3))))


def _paragraph(chance: random.Random, words: Sequence[tuple[str, str]]) -> tuple[str, str]:
    sentences = [_sentence(chance, words) for _ in range(chance.choice((1, 1, 2, 3, 5)))]
    one, other = (" ".join(sentence[side] for sentence in sentences) for side in (0, 1))
    return (f"« {one} »", f"“{other}”") if chance.random() < 0.3 else (one, other)


def _sentence(chance: random.Random, words: Sequence[tuple[str, str]]) -> tuple[str, str]:
    chosen = [words[min(int(chance.paretovariate(0.6)), len(words)) - 1] for _ in range(chance.randint(3, 18))]
    if chance.random() < 0.3:
        chosen.insert(0, (chance.choice(_NAMES),) * 2)
    if chance.random() < 0.1:
        chosen.append((str(chance.randint(2, 2000)),) * 2)
    end = chance.choice("....?!")
    one, other = (" ".join(word[side] for word in chosen).capitalize() + end for side in (0, 1))
    return one, other
