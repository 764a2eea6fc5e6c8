"""Lemmas of English words: simplemma's for most, and our own for nouns, so that singular and plural agree.

simplemma knows no word classes: it gives "painting" the lemma of the verb and "paintings" that of the noun.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from eval.linguistics.annotators.english_tags import tag_lexicon

_CLITIC_LEMMAS = {"n't": "not", "'ll": "will", "'re": "be", "'ve": "have", "'m": "be", "ca": "can", "wo": "will"}
_UNCHANGED_TAGS = ("CD", "SYM")
# Plurals by ending, in the order of trial.
_PLURALS = (("ies", "y"), ("s", ""), ("ves", "f"), ("ves", "fe"), ("men", "man"), ("es", ""), ("es", "is"))


@lru_cache(maxsize=65536)
def lemma(word: str, tag: str) -> str:
    """The lemma of a word with a Penn tag; a name keeps its capital."""
    small = word.lower().replace("’", "'")
    if small in _CLITIC_LEMMAS:
        return _CLITIC_LEMMAS[small]
    if small == "'s":
        return "be" if tag == "VBZ" else "'s"
    if not small[0].isalpha() or tag.startswith(_UNCHANGED_TAGS):
        return word if tag.startswith("NNP") else small
    if tag.startswith("NNP"):
        singular = _name_singular(small)
        return word if singular == small else singular.capitalize()
    if tag == "NN":
        return small
    return _noun_singular(small) if tag == "NNS" else _general(small)


def _general(small: str) -> str:
    import simplemma

    return simplemma.lemmatize(small, lang="en").lower()


def _noun_singular(small: str) -> str:
    """The singular that the tag lexicon has as a noun, or simplemma's lemma if it has none."""
    return next(_known_singulars(small), None) or _general(small)


def _name_singular(small: str) -> str:
    """The singular of a plural that is a common noun too: Neighbors, but not James."""
    return next(_known_singulars(small), small) if tag_lexicon().get(small) == "NNS" else small


def _known_singulars(small: str) -> Iterator[str]:
    for ending, singular in _PLURALS:
        if small.endswith(ending) and tag_lexicon().get(small.removesuffix(ending) + singular) == "NN":
            yield small.removesuffix(ending) + singular
