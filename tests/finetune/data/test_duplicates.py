"""Finding what occurs twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from finetune.data.duplicates import Index, jaccard, shingles, unlike, without_near_repeats, without_repeats
from tests.finetune.data.tale import paragraph, paragraphs


def plain_jaccard(one: str, other: str) -> float:
    """By the definition, on sets of strings."""
    first, second = ({text[i : i + 5] for i in range(len(text) - 4)} for text in (one, other))
    return len(first & second) / len(first | second)


def test_jaccard_of_hashes_is_that_of_the_strings() -> None:
    texts = [
        " ".join(paragraph(n).source.casefold().replace(".", "").replace("’", " ").split()) for n in range(12)
    ]
    for one, other in combinations(texts, 2):
        assert jaccard(shingles(one), shingles(other)) == plain_jaccard(one, other)


def test_a_changed_word_is_a_near_repeat_and_another_paragraph_is_none() -> None:
    one = paragraph(1)
    index = Index(0.8)
    index.add(one.source)
    assert one.source.replace("le ", "les ", 1) in index
    assert one.source.upper() in index
    assert paragraph(2).source not in index


def test_short_texts_are_never_near_repeats() -> None:
    short = [replace(paragraph(n), source="Il fit signe que oui.") for n in range(3)]
    assert without_near_repeats(short, likeness=0.8) == short


def test_the_first_of_repeats_stays() -> None:
    one, other = paragraph(1), paragraph(2)
    again = replace(one, id="again", source=one.source.upper(), mt=one.mt + " ")
    assert without_repeats([one, other, again]) == [one, other]
    assert without_near_repeats([one, other, again], likeness=0.8) == [one, other]


def test_what_is_nearly_on_the_other_side_is_found_by_source_or_by_human_version() -> None:
    train, dev = paragraphs(20), paragraphs(20, start=100)
    by_source = replace(
        dev[3], id="s", mt="Other.", humans=(("t", "Another text of more than forty characters, so."),)
    )
    by_human = replace(dev[7], id="h", source="Un texte tout autre, de plus de quarante caractères, donc.")
    assert unlike([*train, by_source, by_human], dev, likeness=0.8) == train
