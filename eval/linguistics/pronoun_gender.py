"""Which gender a third-person pronoun shows, in English and Chinese: the classes of the BWB paper's Table 5.

"They" is epicene, and so is 他们, which stands for men and for mixed company; 她们 shows women and 它们 things.
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
    """One of GENDERS, or "other": the first and second person, and what is no pronoun."""
    return _GENDER.get(word.strip().lower(), "other")
