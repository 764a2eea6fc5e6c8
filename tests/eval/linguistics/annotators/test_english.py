"""English without a download: tokens, tags, lemmas, sentences and names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.linguistics.annotators.english import EnglishAnnotator
from eval.linguistics.annotators.protocol import Annotation


def annotated(text: str) -> Annotation:
    return EnglishAnnotator().annotate([text])[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She didn’t go.", ["She", "did", "n’t", "go", "."]),
        ("Anna's dog can't run", ["Anna", "'s", "dog", "ca", "n't", "run"]),
        ("Mr. Grey, half-asleep…", ["Mr.", "Grey", ",", "half-asleep", "…"]),
        ("It cost 3,141.59 (in the U.S.)", ["It", "cost", "3,141.59", "(", "in", "the", "U.S.", ")"]),
        ("“I cannot!” he said--twice", ["“", "I", "can", "not", "!", "”", "he", "said", "--", "twice"]),
        ("Anna 's dog , here .", ["Anna", "'s", "dog", ",", "here", "."]),
        ("   ", []),
    ],
)
def test_words_are_cut_as_in_the_treebank(text: str, words: list[str]) -> None:
    assert [token.text for token in annotated(text).tokens] == words


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60))
def test_every_token_and_name_has_its_offset(text: str) -> None:
    found = annotated(text)
    assert all(text[token.start : token.end] == token.text for token in found.tokens)
    assert all(text[one.start : one.end] == one.text for one in found.entities)
    covered = "".join(token.text for token in found.tokens)
    assert covered == "".join(text.split())
    assert found.sentences == tuple(sorted(set(found.sentences)))
    assert all(0 <= place < len(found.tokens) for place in found.sentences)


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("She logged into it.", "logged", "VBD"),
        ("She had logged into it.", "logged", "VBN"),
        ("Qiao Lian clenched her fists.", "clenched", "VBD"),
        ("They could believe it.", "believe", "VB"),
        ("Can you tell me?", "tell", "VB"),
        ("He wanted to look away.", "look", "VB"),
        ("The look was cold.", "look", "NN"),
        ("He's gone.", "'s", "VBZ"),
        ("Anna's gone.", "'s", "POS"),
        ("He saw her.", "her", "PRP"),
        ("He saw her dog.", "her", "PRP$"),
        ("We won't go.", "wo", "MD"),
        ("It is 2 o'clock.", "2", "CD"),
        ("“Go!”", "“", "``"),
    ],
)
def test_context_rules_correct_the_lexicon(text: str, word: str, tag: str) -> None:
    assert next(token.tag for token in annotated(text).tokens if token.text == word) == tag


def test_names_are_not_lemmatised() -> None:
    found = annotated("Anna’s boxes didn’t fall; she went.")
    lemmas = {token.text: token.lemma for token in found.tokens}
    assert lemmas | {"Anna": "Anna", "boxes": "box", "did": "do", "n’t": "not", "went": "go"} == lemmas


def test_sentence_starts_are_found() -> None:
    found = annotated("He ran. “Stop!” she cried. Mr. Grey did.")
    assert [found.tokens[place].text for place in found.sentences] == ["He", "“", "Mr."]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Then Wang Wenhao’s friend saw him.", [("Wang Wenhao", "PERSON")]),
        ("Song Cheng stood beside him.", [("Song Cheng", "PERSON")]),
        ("Suddenly he stopped. Nobody spoke.", []),
        ("“Brother Shen, what is it?”", [("Shen", "PERSON")]),
        ("She met Mr. Grey in Boston.", [("Grey", "PERSON"), ("Boston", "GPE")]),
        ("He taught at the University of Leeds.", [("University of Leeds", "ORG")]),
        ("They crossed London Bridge on Monday.", [("London Bridge", "FAC")]),
        ("A Chinese girl read his T-shirt.", [("Chinese", "NORP")]),
        ("THE END OF THE WHOLE BOOK", []),
        ("She laughed at “War and Peace”.", [("Peace", "PERSON")]),
    ],
)
def test_names_by_their_capitals(text: str, names: list[tuple[str, str]]) -> None:
    """The last case is a limitation: a title with lower-case words is split."""
    assert [(one.text, one.label) for one in annotated(text).entities] == names


def test_its_name_has_the_versions_that_change_results() -> None:
    assert EnglishAnnotator().name.startswith("textblob-")
    assert EnglishAnnotator().language == "en"
