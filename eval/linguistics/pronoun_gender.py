"""The gender of third-person pronouns in English and Chinese: the classes of Table 5 of the BWB paper.

"They" is epicene, and so is 他们, which may be mixed; 她们 is feminine and 它们 neuter.
"""

from __future__ import annotations

GENDERS = ("masculine", "feminine", "neuter", "epicene")
_WORDS = {
    "masculine": "he his him himself 他 他的 他自己",
    "feminine": "she her hers herself 她 她的 她自己 她们 她们的",
    "neuter": "it its itself 它 它的 它自己 它们 它们的",
    "epicene": "they their theirs them themselves 他们 他们的 他们自己",
}
_GENDER = {word: gender for gender, words in _WORDS.items() for word in words.split()}


def gender_of(word: str) -> str:
    """One of GENDERS, or "other" for the first and second person and other words."""
    return _GENDER.get(word.strip().lower(), "other")
