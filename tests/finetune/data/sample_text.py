"""Invented paragraphs, all different, with known human edits."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from finetune.data.paragraph import TrainingParagraph

_WHO = "the miller|her aunt|a tired soldier|the young notary|our neighbour|the widow|an old sailor|the baker".split("|")
_DID = "carried|forgot|painted|sold|counted|lost|mended|buried|found|borrowed|burned|praised".split("|")
_WHAT = "a lantern|the ledger|three letters|the boat|a silver spoon|the clock|her shawl|a map|the barrel".split("|")
_WHERE = "behind the church|near the harbour|in the attic|under the bridge|at the market|by the orchard".split("|")
_WHEN = "before dawn|after supper|during the storm|in the spring|on a Sunday|that same winter".split("|")
_FR_WHO = "le meunier|sa tante|un soldat fatigué|le jeune notaire|notre voisin|la veuve|un vieux marin|le boulanger"
_FR_DID = "porta|oublia|peignit|vendit|compta|perdit|répara|enterra|trouva|emprunta|brûla|loua"
_FR_WHAT = "une lanterne|le registre|trois lettres|le bateau|une cuillère|l’horloge|son châle|une carte|le tonneau"
_FR_WHERE = "derrière l’église|près du port|dans le grenier|sous le pont|au marché|à côté du verger"
_FR_WHEN = "avant l’aube|après le souper|pendant l’orage|au printemps|un dimanche|ce même hiver"
_ENGLISH = (_WHO, _DID, _WHAT, _WHERE, _WHEN)
_FRENCH = tuple(words.split("|") for words in (_FR_WHO, _FR_DID, _FR_WHAT, _FR_WHERE, _FR_WHEN))


def paragraph(number: int, *, book: str = "mill_fr", edited: bool = True, **changes: Any) -> TrainingParagraph:
    """A paragraph of three sentences. Its MT has a number that the human version lacks, and "did" twice."""
    chance = random.Random(number)
    picked = [[chance.randrange(len(words)) for words in _ENGLISH] for _ in range(3)]
    english, french = (" ".join(_sentence(places, words) for places in picked) for words in (_ENGLISH, _FRENCH))
    mt = english.replace(". ", f", {number} and did did. ", 1) if edited else english
    values: dict[str, Any] = {
        "id": f"{book}:{number}", "book": book, "source": french, "mt": mt, "humans": (("human", english),),
        "source_language": "fr", "target_language": "en",
    }  # fmt: skip
    return TrainingParagraph(**values | changes)


def _sentence(places: Iterable[int], words: Iterable[list[str]]) -> str:
    text = " ".join(choices[place] for place, choices in zip(places, words, strict=True))
    return text[0].upper() + text[1:] + "."


def paragraphs(count: int, *, books: int = 1, start: int = 0) -> list[TrainingParagraph]:
    """Make `count` paragraphs, assigned to the books in turn; every fifth is unedited."""
    return [
        paragraph(number, book=f"book{number % books}_fr", edited=number % 5 != 0)
        for number in range(start, start + count)
    ]


def row(one: TrainingParagraph) -> dict[str, Any]:
    """The paragraph as a row of JSON."""
    return {
        "id": one.id, "book": one.book, "source": one.source, "mt": one.mt, "human": dict(one.humans),
        "source_language": one.source_language, "target_language": one.target_language,
    }  # fmt: skip


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a file of JSON lines."""
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    return path
