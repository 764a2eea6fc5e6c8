"""The literary annotator on its shipped weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from eval.linguistics.annotators import Annotation, annotator_for
from eval.linguistics.annotators.literary import LiteraryAnnotator
from eval.linguistics.annotators.serialization import pack_annotation, unpack_annotation
from eval.linguistics.literary.weights import WEIGHTS_FILE, load_model

STORY = (
    "Mr. Harding walked to Barchester with his daughter Eleanor. “I have never seen London,” said Eleanor, and she "
    "laughed. The old man had closed the door of the church; he was looking for his hat."
)


def annotated(text: str) -> Annotation:
    return LiteraryAnnotator().annotate([text])[0]


@pytest.fixture(scope="module")
def story() -> Annotation:
    return annotated(STORY)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=60))
def test_every_token_name_and_mention_has_its_offset(text: str) -> None:
    found = annotated(text)
    assert "".join(token.text for token in found.tokens) == "".join(text.split())
    assert all(text[token.start : token.end] == token.text for token in found.tokens)
    assert all(text[one.start : one.end] == one.text for one in found.entities)
    starts, ends = {token.start for token in found.tokens}, {token.end for token in found.tokens}
    assert all(one.start in starts and one.end in ends and one.start < one.end for one in found.mentions)
    assert unpack_annotation(pack_annotation(found), text).mentions == found.mentions


def test_names_have_types_and_titles(story: Annotation) -> None:
    assert [(one.text, one.label) for one in story.entities] == [
        ("Mr. Harding", "PERSON"), ("Barchester", "GPE"), ("Eleanor", "PERSON"), ("London", "GPE"),
        ("Eleanor", "PERSON"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "tag"), [("walked", "VBD"), ("have", "VBP"), ("closed", "VBN"), ("had", "VBD"), ("looking", "VBG")]
)
def test_tenses(story: Annotation, word: str, tag: str) -> None:
    assert next(token.tag for token in story.tokens if token.text == word) == tag


def test_common_mentions_and_pronouns_stand_apart_from_names(story: Annotation) -> None:
    kinds = {STORY[one.start : one.end]: one.kind for one in story.mentions}
    assert kinds["Mr. Harding"] == "name"
    assert kinds["The old man"] == "common"
    assert kinds["his"] == kinds["she"] == kinds["I"] == "pronoun"


def test_a_text_is_annotated_the_same_alone_and_among_others(story: Annotation) -> None:
    texts = ["Yes.", STORY, "", "They went to Rome and saw the Pope. " * 60]
    found = LiteraryAnnotator().annotate(texts)
    assert found[1] == story
    assert found[2] == Annotation((), (), ())
    assert len(found[3].tokens) == 9 * 60


def test_long_words_and_sentences_are_annotated_whole() -> None:
    text = "a" * 5000 + " " + "word " * 3000
    assert len(annotated(text).tokens) == 3001


def test_no_mention_crosses_the_end_of_a_sentence(story: Annotation) -> None:
    begins = [story.tokens[place].start for place in story.sentences]
    assert not any(one.start < begin < one.end for one in story.mentions for begin in begins)


def test_it_is_chosen_by_name() -> None:
    assert annotator_for("en", prefer="literary").name.startswith(f"literary-{load_model().version}")


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    path.write_bytes(WEIGHTS_FILE.read_bytes()[:1000])
    with pytest.raises(InputError, match="can't be read as weights"):
        load_model(path)
