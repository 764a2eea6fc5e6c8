"""A draft keeps the conventions of the MT: typography, spelling standard, accents and date order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.edits.conventions import fold_spelling, keep_conventions, tokenise_like, tokenise_punctuation


def kept(mt: str, draft: str, *wanted: str) -> str:
    return keep_conventions(mt, draft, language="en", wanted=wanted)


@pytest.mark.parametrize(
    ("mt", "draft"),
    [
        ("He came in .", "He came in."),
        ("The ( old ) man , he said .", "The (old) man, he said."),
        ("It’s late.", "It's late."),
        ("It's late.", "It’s late."),
        ("“Come,” he said.", '"Come," he said.'),
        ('"Come," he said.', "“Come,” he said."),
        ("He waited… then left.", "He waited... then left."),
        ("He waited – then left.", "He waited — then left."),
        ("The colour of honour.", "The color of honor."),
        ("The grey theatre was organised.", "The gray theater was organized."),
        ("Cunégonde wept.", "Cunegonde wept."),
        ("On 3 November 1921 he left.", "On November 3, 1921 he left."),
        ("On November 3, 1921 he left.", "On 3 November 1921 he left."),
        ("Since 19 October, he slept.", "Since October 19, he slept."),
        ("He doesn 't know England 's king .", "He doesn't know England's king."),
    ],
)
def test_an_edit_of_a_convention_alone_is_undone(mt: str, draft: str) -> None:
    assert kept(mt, draft) == mt


@pytest.mark.parametrize(
    ("mt", "draft", "expected"),
    [
        ("It’s him who come.", "It's he who came.", "It’s he who came."),
        ("She come in , he said .", "She came in, he said.", "She came in , he said ."),
        ("On 3 November 1921 he leave.", "On November 3, 1921 he left.", "On 3 November 1921 he left."),
        ("“Come,” she said.", "Come,” she said.", "Come,” she said."),
        ("He came. He sat.", "He came.\nHe sat.", "He came.\nHe sat."),
        ("The dogs barks.", "The dog's bark.", "The dog's bark."),
        ("Its late.", "It's late.", "It's late."),
        ("He was tired, he slept.", "He was tired; he slept.", "He was tired; he slept."),
    ],
)
def test_other_edits_stay(mt: str, draft: str, expected: str) -> None:
    assert kept(mt, draft) == expected


def test_a_wording_of_the_glossary_is_no_convention() -> None:
    assert kept("Cunégonde wept.", "Cunegonde wept.", "Cunegonde") == "Cunegonde wept."


@pytest.mark.parametrize(("word", "other"), [("four", "for"), ("our", "or"), ("hour", "hor"), ("wise", "wize")])
def test_short_words_are_not_folded(word: str, other: str) -> None:
    assert fold_spelling(word) == word
    assert fold_spelling(word) != fold_spelling(other)


@given(st.text(alphabet="ab .,!?'\"“”’é-\n", max_size=30), st.text(alphabet="ab .,!?'\"“”’é-\n", max_size=30))
def test_letters_of_the_result_are_those_of_the_draft_or_the_mt(mt: str, draft: str) -> None:
    result = kept(mt, draft)
    assert kept(mt, mt) == mt
    assert set(filter(str.isalpha, result)) <= set(filter(str.isalpha, mt + draft))


def test_tokenised_text_stays_as_it_is() -> None:
    assert tokenise_punctuation("He came , saw .") == "He came , saw ."


@pytest.mark.parametrize(
    ("mt", "draft", "expected"),
    [
        ("He came , saw .", "He came, and saw.", "He came , and saw ."),
        ("He came, saw.", "He came, and saw.", "He came, and saw."),
        ("He came , saw .", "He came , and saw .", "He came , and saw ."),
    ],
)
def test_a_draft_is_tokenised_where_its_mt_is(mt: str, draft: str, expected: str) -> None:
    assert tokenise_like(mt, draft) == expected
