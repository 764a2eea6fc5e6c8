"""Invented examples: a village in winter, badly translated and then well."""

from __future__ import annotations

from finetune.data.example import Example

_PLACES = ("mill", "forge", "chapel", "bakery", "school", "inn", "well", "bridge", "orchard", "stable", "tower", "barn")
_FRENCH = ("le moulin", "la forge", "la chapelle", "le fournil", "l’école", "l’auberge", "le puits", "le pont",
           "le verger", "l’écurie", "la tour", "la grange")  # fmt: skip


def examples(count: int = 12, *, book: str = "winter", first: int = 0) -> list[Example]:
    """Different examples, as many as `count`."""
    return [_example(number, book) for number in range(first, first + count)]


def _example(number: int, book: str) -> Example:
    place, french = _PLACES[number % len(_PLACES)], _FRENCH[number % len(_FRENCH)]
    return Example(
        id=f"{book}-{number}",
        book=book,
        source=f"Au soir {number}, Irma ferma {french} et prit son manteau.",
        mt=f"At evening {number}, Irma closed the {place} and took his coat.",
        human=f"On the evening of day {number}, Irma locked the {place} and took her coat.",
        source_language="fr",
        target_language="en",
    )
