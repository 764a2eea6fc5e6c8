"""Names that an output renders otherwise in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotation, NamedEntity
from eval.metrics.dip.annotated_sides import annotate_sides
from eval.metrics.dip.renamed import find_renamed
from tests.eval.metrics.dip.conftest import TableAnnotator, corpus_of

NAMES = ("Mira", "Mirra", "Oskar", "Oscar")


@dataclass(frozen=True, slots=True)
class NamingAnnotator:
    """The table annotator, which finds these names."""

    name: str = "naming"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [
            replace(
                one,
                tokens=tuple(replace(token, tag="NNP") if token.text in NAMES else token for token in one.tokens),
                entities=tuple(
                    NamedEntity(token.text, token.start, token.end, "PERSON")
                    for token in one.tokens
                    if token.text in NAMES
                ),
            )
            for one in TableAnnotator().annotate(texts)
        ]


REFERENCE = ["Mira lit the lamp.", "Oskar saw Mira.", "Oskar slept.", "Mira left.", "the ship was red."]


def renamed(outputs: list[str]) -> list[tuple[int, str, str]]:
    (side,) = annotate_sides(corpus_of(outputs, REFERENCE), "mine", NamingAnnotator())
    return [(one.segment, one.chain.lemma, one.entity.text) for one in find_renamed(side)]


def test_the_reference_itself_renames_nobody() -> None:
    assert renamed(REFERENCE) == []


def test_another_spelling_in_one_line_is_found_with_its_place() -> None:
    assert renamed([REFERENCE[0], "Oskar saw Mirra.", *REFERENCE[2:]]) == [(1, "mira", "Mirra")]


@pytest.mark.parametrize("other", ["Oskar saw her.", "Oskar saw the sailor.", "Oskar slept."])
def test_a_pronoun_or_noun_or_nothing_instead_is_no_error(other: str) -> None:
    assert renamed([REFERENCE[0], other, *REFERENCE[2:]]) == []


def test_a_rendering_of_another_name_of_the_line_is_no_error() -> None:
    assert (1, "mira", "Oscar") not in renamed([REFERENCE[0], "Oscar slept.", *REFERENCE[2:]])


def test_a_name_that_stands_in_other_lines_too_is_somebody_else() -> None:
    assert renamed([REFERENCE[0], "Oskar saw Mirra.", *REFERENCE[2:4], "Mirra was red."]) == []


def renamed_from(sources: list[str], outputs: list[str]) -> list[tuple[int, str, str]]:
    corpus = Corpus((Document("one", {"mine": tuple(outputs)}, (tuple(REFERENCE),), tuple(sources)),), "zh", "en")
    (side,) = annotate_sides(corpus, "mine", NamingAnnotator())
    return [(one.segment, one.chain.lemma, one.entity.text) for one in find_renamed(side)]


def test_the_name_must_be_in_the_source_of_the_line() -> None:
    outputs = [REFERENCE[0], "Oskar saw Mirra.", *REFERENCE[2:]]
    with_name = ["米拉点灯", "奥斯卡看见米拉", "奥斯卡睡了", "米拉走了", "船是红的"]
    assert renamed_from(with_name, outputs) == [(1, "mira", "Mirra")]
    without = [with_name[0], "奥斯卡看见她", *with_name[2:]]
    assert renamed_from(without, outputs) == []


def test_what_the_output_mostly_says_for_a_name_is_no_error() -> None:
    assert renamed([REFERENCE[0], "Oskar saw Mirra.", REFERENCE[2], "Mirra left.", REFERENCE[4]]) == []
