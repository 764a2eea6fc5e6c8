"""Names of persons in news, found by an annotator: `python -m benchmarks.studies.news_names --data DIR`.

The texts are the English references of every tenth article of the LTCR set, 31 articles, in which no annotator of ours
was trained. The persons of each article are listed in `news_names.tsv`, by a language model that read the capitalised
words of each article; a name is annotated wherever it occurs. "-" marks a longer name that is no person's, "?" a name
that is not counted on either side (of pandas). Titles are left out on both sides, as spaCy's models leave them out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import regex

from ape.files.rows import read_jsonl
from eval.linguistics.annotators import Annotator, annotator_for
from eval.linguistics.literary.name_words import TITLES

NAMES_FILE = Path(__file__).with_name("news_names.tsv")
EVERY = 10
_TITLES = TITLES | frozenset("the president premier minister chairman ceo senator governor".split())
Span = tuple[int, int]


def read_names(path: Path = NAMES_FILE) -> dict[int, list[str]]:
    """The names of each article by its number, with their marks."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {int(article): names.split("; ") for article, names in rows}


def annotated_spans(text: str, names: Sequence[str]) -> dict[Span, str]:
    """Where names occur, with "person", "other" or "ignored"; of names in the same place, the longest."""
    kinds = {name.lstrip("-?"): {"-": "other", "?": "ignored"}.get(name[0], "person") for name in names}
    if not kinds:
        return {}
    longest_first = sorted(kinds, key=len, reverse=True)
    pattern = regex.compile(r"(?<!\w)(?:" + "|".join(map(regex.escape, longest_first)) + r")(?!\w)")
    return {match.span(): kinds[match.group()] for match in pattern.finditer(text)}


def without_title(text: str, span: Span) -> Span:
    """The span without the titles before the name."""
    start, end = span
    while True:
        first, _, rest = text[start:end].partition(" ")
        if not rest or first.lower().rstrip(".") not in _TITLES:
            return start, end
        start = end - len(rest)


def count_persons(
    annotator: Annotator, articles: Mapping[int, Sequence[str]], names: Mapping[int, Sequence[str]]
) -> tuple[tuple[int, int, int], list[str]]:
    """Right, found and annotated persons by equal spans, and the differences as lines."""
    right = all_found = all_annotated = 0
    differences: list[str] = []
    for article, texts in articles.items():
        for text, annotation in zip(texts, annotator.annotate(texts), strict=True):
            kinds = annotated_spans(text, names.get(article, ()))
            ignored = [span for span, kind in kinds.items() if kind == "ignored"]
            annotated = {span for span, kind in kinds.items() if kind == "person"}
            entities = (one for one in annotation.entities if one.label == "PERSON")
            found = {without_title(text, (one.start, one.end)) for one in entities}
            found = {(a, b) for a, b in found if not any(a < d and c < b for c, d in ignored)}
            right += len(annotated & found)
            all_found += len(found)
            all_annotated += len(annotated)
            differences += _differences(text, article, annotated, found)
    return (right, all_found, all_annotated), differences


def _differences(text: str, article: int, annotated: set[Span], found: set[Span]) -> Iterator[str]:
    for what, spans in (("not a person", found - annotated), ("missed", annotated - found)):
        for start, end in sorted(spans):
            yield f"{article}\t{what}\t{text[start:end]}"


def read_articles(data: Path) -> dict[int, tuple[str, ...]]:
    """The references of every tenth article by its number."""
    rows = [row for _, row in read_jsonl(data / "ltcr_zh_en.jsonl")]
    return {number: tuple(rows[number]["reference"]) for number in range(0, len(rows), EVERY)}


def main() -> None:
    """Print precision and recall of an annotator."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.news_names", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--annotator", default="literary", help="textblob, literary, or a spaCy model or its folder")
    parser.add_argument("--differences", action="store_true", help="print each difference")
    given = parser.parse_args()
    annotator = annotator_for("en", prefer=given.annotator)
    (right, found, annotated), differences = count_persons(annotator, read_articles(given.data), read_names())
    if given.differences:
        print("\n".join(differences))
    print(
        f"persons: {annotated} annotated, {found} found, precision {right / found:.3f}, recall {right / annotated:.3f}"
    )
    print(annotator.name)


if __name__ == "__main__":
    main()
