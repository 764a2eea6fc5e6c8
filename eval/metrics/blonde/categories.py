"""The categories of BlonDe: their types, and the words of each type."""

from __future__ import annotations

from collections.abc import Mapping

TENSES = ("VBD", "VBN", "VBP", "VBZ", "VBG", "VB", "MD")
PRONOUNS: Mapping[str, tuple[str, ...]] = {
    "masculine": ("he", "his", "him", "himself"),
    "feminine": ("she", "her", "hers", "herself"),
    "neuter": ("it", "its", "itself"),
    "epicene": ("they", "their", "them", "themselves"),
}
ENTITY_LABELS: Mapping[str, frozenset[str]] = {
    "person": frozenset(("PERSON",)),
    "non-person": frozenset(("NORP", "GPE", "FAC", "ORG", "WORK_OF_ART")),
}
MARKERS: Mapping[str, tuple[str, ...]] = {
    "comparison": (
        *"but while however although though still yet whereas conversely".split(),
        "on the other hand",
        "in contrast",
        "by contrast",
        "by comparison",
    ),
    "cause": (
        *"if because so since thus hence therefore thereby accordingly consequently".split(),
        "as a result",
        "in consequence",
        "for this reason",
    ),
    "conjunction": ("also", "in addition", "moreover", "additionally", "besides", "else", "plus"),
    "asynchronous": tuple("when after then before until later once afterward next".split()),
    "synchronous": ("meantime", "meanwhile", "simultaneously"),
}
N_GRAM_ORDERS = (1, 2, 3, 4)
BLONDE_PLUS_CATEGORIES = ("ambiguity", "ellipsis")

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "tense": TENSES,
    "pronoun": tuple(PRONOUNS),
    "entity": tuple(ENTITY_LABELS),
    "dm": tuple(MARKERS),
    "n-grams": tuple(f"{order}-gram" for order in N_GRAM_ORDERS),
    "plus": BLONDE_PLUS_CATEGORIES,
}
"""The types of each category, in column order."""

PRONOUN_OF = {word: place for place, words in enumerate(PRONOUNS.values()) for word in words}
ENTITY_OF = {label: place for place, labels in enumerate(ENTITY_LABELS.values()) for label in labels}
MARKER_OF = {tuple(marker.split()): place for place, markers in enumerate(MARKERS.values()) for marker in markers}
TENSE_OF = {tag: place for place, tag in enumerate(TENSES)}


def category_columns(category: str) -> slice:
    """The columns of a category's types."""
    before = 0
    for name, types in CATEGORIES.items():
        if name == category:
            return slice(before, before + len(types))
        before += len(types)
    raise LookupError(category)


TYPE_COUNT = sum(map(len, CATEGORIES.values()))
