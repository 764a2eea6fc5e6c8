"""Persons of news articles: spans, titles, and counts by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.studies.news_names import EVERY, annotated_spans, count_persons, read_names, without_title
from eval.linguistics.annotators.protocol import Annotation, NamedEntity


@dataclass(frozen=True)
class TableAnnotator:
    """Finds the given names wherever they occur first."""

    names: tuple[str, ...]
    name: str = "table"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [
            Annotation(
                (),
                tuple(
                    NamedEntity(name, text.index(name), text.index(name) + len(name), "PERSON")
                    for name in self.names
                    if name in text
                ),
            )
            for text in texts
        ]


def test_the_longest_name_in_a_place_is_annotated() -> None:
    text = "Gates left the Gates Foundation; Gatesby and Ling Ling stayed."
    assert annotated_spans(text, ["Gates", "-Gates Foundation", "?Ling Ling"]) == {
        (0, 5): "person",
        (15, 31): "other",
        (45, 54): "ignored",
    }
    assert annotated_spans(text, []) == {}


def test_titles_are_left_out() -> None:
    text = "Premier Dr. Zhou Enlai"
    assert without_title(text, (0, len(text))) == (12, len(text))
    assert without_title("Premier", (0, 7)) == (0, 7)


def test_counts_by_hand() -> None:
    articles = {0: ("Dr. Tello met Samsung and Ling Ling.", "Huber was there.")}
    names = {0: ["Tello", "Huber", "?Ling Ling"]}
    counts, differences = count_persons(TableAnnotator(("Dr. Tello", "Samsung", "Ling Ling")), articles, names)
    assert counts == (1, 2, 2)
    assert differences == ["0\tnot a person\tSamsung", "0\tmissed\tHuber"]


def test_the_shipped_names_are_of_every_tenth_article() -> None:
    names = read_names()
    assert all(article % EVERY == 0 for article in names)
    assert all(name.strip("-?") for listed in names.values() for name in listed)
