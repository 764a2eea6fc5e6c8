"""Words in and around names of persons: titles, peoples and churches, and epithets."""

from __future__ import annotations

from collections.abc import Sequence

TITLES = frozenset(
    """mr mrs ms miss dr doctor prof professor sir madam ma'am lady lord king queen prince princess captain general
    colonel major lieutenant sergeant inspector president master mistress mademoiselle madame monsieur signor signora
    herr frau saint st father mother sister brother uncle aunt auntie grandma grandpa papa mamma mama count countess
    baron baroness duke duchess emperor empress squire reverend rev judge parson vicar bishop nurse cousin
    son admiral alderman ambassador archdeacon cardinal chancellor commodore constable corporal dame deacon earl esq
    esquire governor magistrate marchioness marquess marquis mayor minister pope premier senator sultan tsar viscount
    viscountess majesty highness lordship ladyship excellency""".split()
)
_PEOPLES = frozenset(
    """american australian austrian belgian brahmin briton canadian catholic chinese christian dane dutch dutchman
    egyptian englander englishman englishwoman european frenchman frenchwoman german greek gypsy hindoo hindu indian
    irishman italian japanese jesuit jew jewess methodist mohammedan moor mormon moslem muslim negro norman pole
    portuguese presbyterian protestant puritan quaker roman russian scot scotchman scotsman spaniard swede swiss turk
    welshman yankee""".split()
)
_EPITHETS = frozenset("poor dear dearest".split())


def is_title(words: Sequence[str]) -> bool:
    """Whether all words are titles."""
    return all(word.lower().rstrip(".") in TITLES for word in words)


def is_people(word: str) -> bool:
    """A member of a people or church, or several."""
    low = word.lower()
    return low in _PEOPLES or low.removesuffix("s") in _PEOPLES


def is_epithet(word: str) -> bool:
    """Poor of "Poor Jo", and fifteen-year-old."""
    low = word.lower()
    return low in _EPITHETS or low.endswith(("-old", "-born"))
