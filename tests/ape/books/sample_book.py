"""A story of any length in French and in poor machine English, reproducible by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_PEOPLE = ("Claire", "Hugo", "Madame Vasseur", "Octave", "Léonie", "Baptiste", "Solange", "Rémi")
_PLACES = ("Quimper", "Arras", "Nevers", "Saint-Malo", "Cahors", "Vannes")
# What the author wrote, what the machine made of it, and what a translator would have written.
_SENTENCES = (
    (
        "{a} posa la lampe sur la table et ferma la fenêtre.",
        "{a} posed the lamp on the table and closed the window.",
        "{a} put the lamp on the table and closed the window.",
    ),
    (
        "Il faisait un froid de canard ce soir-là à {p}.",
        "It made a cold of duck that evening in {p}.",
        "It was freezing cold that evening in {p}.",
    ),
    (
        "« Vous avez {n} minutes de retard », dit {b} sans lever les yeux.",
        "“You have {n} minutes of delay,” said {b} without raising the eyes.",
        "“You are {n} minutes late,” said {b} without looking up.",
    ),
    (
        "La lettre venait de {p}, et personne n’osait l’ouvrir.",
        "The letter came of {p}, and nobody dared to open it.",
        "The letter came from {p}, and nobody dared to open it.",
    ),
    (
        "{b} compta les marches : il y en avait {n}.",
        "{b} counted the steps: it had {n} of them.",
        "{b} counted the steps: there were {n} of them.",
    ),
    (
        "{a} et {b} marchèrent longtemps sous la pluie sans rien dire.",
        "{a} and {b} walked long time under the rain without to say nothing.",
        "{a} and {b} walked for a long time in the rain without saying anything.",
    ),
    (
        "Le vieux facteur avait perdu le fil de son histoire.",
        "The old postman had lost the thread of her history.",
        "The old postman had lost the thread of his story.",
    ),
    (
        "{a} haussa les épaules et remit son manteau.",
        "{a} raised the shoulders and put back its coat.",
        "{a} shrugged and put the coat back on.",
    ),
    (
        "On entendait la mer derrière les volets fermés.",
        "One heard the sea behind the shutters closed.",
        "The sea could be heard behind the closed shutters.",
    ),
    (
        "« Je vous attends depuis {n} ans », murmura {a}.",
        "“I wait for you since {n} years,” murmured {a}.",
        "“I have been waiting for you for {n} years,” murmured {a}.",
    ),
    (
        "Dans la cour de {p}, un chien aboyait après son ombre.",
        "In the court of {p}, a dog barked after his shadow.",
        "In the courtyard at {p}, a dog was barking at its own shadow.",
    ),
    (
        "{b} avait le cœur gros, mais {a} ne le voyait pas.",
        "{b} had the heart big, but {a} did not see it.",
        "{b} had a heavy heart, but {a} did not see it.",
    ),
)


@dataclass(frozen=True, slots=True)
class StoryParagraph:
    """A paragraph: source, MT and reference."""

    source: str
    mt: str
    mended: str


def tale(
    paragraphs: int, *, seed: int = 1, sentences: tuple[int, int] = (1, 3), chapter: int = 25
) -> Iterator[list[StoryParagraph]]:
    """Make chapters of paragraphs, each with a unique number."""
    chance = random.Random(seed)
    for start in range(0, paragraphs, chapter):
        yield [_paragraph(chance, number, sentences) for number in range(start, min(paragraphs, start + chapter))]


def _paragraph(chance: random.Random, number: int, sentences: tuple[int, int]) -> StoryParagraph:
    chosen = chance.sample(_SENTENCES, min(len(_SENTENCES), chance.randint(*sentences)))
    rendered: list[tuple[str, str, str]] = []
    for place, versions in enumerate(chosen):
        a, b = chance.sample(_PEOPLE, 2)
        words = {"a": a, "b": b, "p": chance.choice(_PLACES), "n": str(chance.randint(13, 99))}
        if place == 0:
            versions = (
                f"Page {number + 1} : {versions[0]}",
                f"Page {number + 1}: {versions[1]}",
                f"Page {number + 1}: {versions[2]}",
            )
        source, mt, mended = (version.format(**words) for version in versions)
        rendered.append((source, mt, mended))
    return StoryParagraph(*(" ".join(parts) for parts in zip(*rendered, strict=True)))


def mended(mt: str) -> str:
    """Correct the MT, as a scripted model would."""
    for _, wrong, right in _SENTENCES:
        for old, new in zip(_fixed_parts(wrong), _fixed_parts(right), strict=False):
            if len(old) > 8 and old != new:
                mt = mt.replace(old, new)
    return mt


def _fixed_parts(template: str) -> list[str]:
    parts, rest = [], template
    while "{" in rest:
        head, _, rest = rest.partition("{")
        rest = rest.partition("}")[2]
        parts.append(head)
    return [*parts, rest]
