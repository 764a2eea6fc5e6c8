"""Names lost, invented, or changed into others.

A likely name is a word with a capital that grammar does not require, so this guard needs a target language with such
capitals. A new name needs support: something similar in the MT, the source (in any script with a phonetic key), the
context or the glossary. The severity for a name without support depends on whether another name is missing: one in the
same place, one nearby, or one of the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice

import regex
from rapidfuzz import process
from rapidfuzz.distance import Indel, JaroWinkler

from ape.guards.messages import quote, quote_list, reject, warn
from ape.guards.text_features import TextFeatures, base_form, lowercase_words, text_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.common_words import is_common_word
from ape.text.exonyms import exonym_group
from ape.text.languages import language_scripts
from ape.text.phonetics import SAME_NAME_SIMILARITY, phonetic_key, phonetic_similarity
from ape.text.romanisation import missing_romaniser, plain_letters, romanise, syllables

_CASED_SCRIPTS = frozenset(("Latin", "Cyrillic", "Greek"))
_MIN_LENGTH = 3
# Of texts with more names than any passage of a book has, the first are judged: each is compared with all of another
# text, and the time would grow with the square of the length.
_MAX_JUDGED = 200
_MAX_SOURCE_NAMES = 1_000
# The largest distance in words between a lost name and the name that replaces it, if the words around them change too.
_NEAR = 6
# The largest distance in words between a name and its support in another text, or a tenth of that text.
_WINDOW = 10
# In a longer replacement words are paired by chance.
_SHORT_STEP = 2
_LOCAL_STEP = 4
# A draft that keeps this share of the words of the MT is a copy with local edits.
_COPIED = 0.5
# Endings of English words that are not names, though capitalised at the start of a sentence: Startled, Accordingly.
_NOT_A_NAME = regex.compile(r"\w{4}(?:ed|ing|ly|tions?|ness|ous|ful|able|ments?|ity|ward|wise|ever|ers)$")
# Jaro-Winkler similarities of phonetic keys; see also `ape.text.phonetics.SAME_NAME_SIMILARITY`.
_SURE = 0.9
_PROVEN = 0.85
_RESPELLED = 0.78
_IN_MT = 0.88
# A new name is supported by words or Chinese characters that read like it, letter by letter if it may be one syllable.
# Only the beginning of a longer passage is read.
_READ = 0.75
_LONGEST_SYLLABLE = 6
_LONGEST_NAME = 4
_MAX_READ = 2_000
_IDEOGRAPHS = regex.compile(r"\p{Han}+")
_VOWELS = dict.fromkeys(map(ord, "aeiouh"))


def names(segment: Segment, draft: Draft) -> list[Finding]:
    """Find names replaced by others, names without support, and names of source and MT that are missing."""
    if not _CASED_SCRIPTS.issuperset(language_scripts(segment.target_language)):
        return []
    check = _NameCheck(segment, draft)
    replaced_names = check.replaced_names()
    findings = [
        reject(
            "names", f"The name {quote(old)} was changed to {quote(new)}, which neither the source nor the MT supports."
        )
        for old, new in replaced_names.items()
    ]
    for position, name in check.unsupported_names().items():
        if name not in replaced_names.values():
            findings += check.judge(position, name)
    if not findings and (missing := check.missing_names()):
        findings.append(warn("names", f"The source and the MT contain {quote_list(missing)}; the draft does not."))
    return findings


class _NameCheck:
    """The evidence for and against the names of a draft, computed on first use."""

    def __init__(self, segment: Segment, draft: Draft) -> None:
        self.segment = segment
        self.source, self.mt, self.new = (
            text_features(segment.source),
            text_features(segment.mt),
            text_features(draft.text),
        )
        self.steps = word_steps(segment.mt, draft.text)
        # Only for English do we have a list of common words; for other languages only strong evidence rejects.
        self.cased_source = _CASED_SCRIPTS.issuperset(language_scripts(segment.source_language))
        self.english = segment.target_language == "en"

    @cached_property
    def new_names(self) -> dict[int, str]:
        """The capitalised words of the draft that are in neither MT nor source, by position."""
        return {
            position: name
            for position in self.new.capitalised
            if is_name(name := base_form(self.new.surfaces[position]))
            and (word := name.lower()) not in self.mt.vocabulary
            and word not in self.source.vocabulary
            and word not in self.new.uncapitalised
        }

    @cached_property
    def source_keys(self) -> dict[str, str]:
        """The words of the source by phonetic key."""
        return {sound: word for word, sound in self.source.phonetic_keys.items() if len(word) >= _MIN_LENGTH - 1}

    @cached_property
    def source_sounds(self) -> list[str]:
        return list(self.source_keys)

    @cached_property
    def source_names(self) -> list[str]:
        """The likely names of the source."""
        names = (name for name in dict.fromkeys(self.source.capitals.values()) if is_name(name))
        return list(islice(names, _MAX_SOURCE_NAMES))

    @cached_property
    def source_consonants(self) -> list[str]:
        """The consonants of the likely names of the source."""
        found = (_consonants(phonetic_key(name)) for name in self.source_names)
        return [consonants for consonants in found if len(consonants) >= _MIN_LENGTH]

    def _sounds_like_source_name(self, name: str) -> bool:
        consonants = _consonants(phonetic_key(name))
        return len(consonants) >= _MIN_LENGTH and bool(
            process.extractOne(consonants, self.source_consonants, scorer=JaroWinkler.similarity, score_cutoff=_SURE)
        )

    def _nearby_words(self, text: TextFeatures, position: int) -> list[str]:
        """The words of a text around the relative position of a word of the draft.

        A long passage contains similar words by chance; a name rarely moves far.
        """
        middle = position * len(text.words) // len(self.new.words)
        reach = max(_WINDOW, len(text.words) // 10)
        return text.words[max(0, middle - reach) : middle + reach]

    @cached_property
    def draft_keys(self) -> list[str]:
        return [sound for word, sound in self.new.phonetic_keys.items() if len(word) >= _MIN_LENGTH - 1]

    @cached_property
    def outside_keys(self) -> list[str]:
        """Phonetic keys of words that may come from outside the passage: its context and the glossary."""
        words = [word for context in self.segment.context for word in text_features(context.target).words]
        for wording in (
            *(target for _, target in self.segment.glossary),
            *(member.wording for member in self.segment.cast),
        ):
            words += lowercase_words(wording)
        return phonetic_keys(words)

    @cached_property
    def readings(self) -> list[str]:
        """The words of the source in Latin letters, or up to four successive characters of Chinese."""
        if self.cased_source:
            return []
        if not self.source.unspaced:
            return [plain_letters(romanise(word)) for word in self.source.words]
        if missing_romaniser("zh"):
            return []
        runs = _IDEOGRAPHS.findall(self.segment.source[:_MAX_READ])
        return list(dict.fromkeys(reading for run in runs for reading in _readings(run)))

    def replaced_names(self) -> dict[str, str]:
        """Names of the MT that the source supports, and the unsupported names that replace them."""
        found: dict[str, str] = {}
        judged = 0
        for step in self.steps if self.new_names else ():
            width = step.end - step.start
            if step.kind != "replace" or width > _SHORT_STEP or step.mt_end - step.mt_start != width:
                continue
            for place, position in zip(range(step.mt_start, step.mt_end), range(step.start, step.end), strict=True):
                old, new = base_form(self.mt.surfaces[place]), self.new_names.get(position, "")
                judged += bool(new)
                if judged > _MAX_JUDGED:
                    return found
                if (
                    new
                    and self._is_replacement(old, new, initial=place not in self.mt.capitals, alone=width == 1)
                    and not self._is_supported(new, position)
                ):
                    found[old] = new
        return found

    def _is_replacement(self, old: str, new: str, *, initial: bool, alone: bool) -> bool:
        if not (old[0].isupper() and is_name(old)) or old.lower() in self.mt.uncapitalised:
            return False
        if old.lower() in self.new.vocabulary and self._count(self.new, old) >= self._count(self.mt, old):
            return False
        origin = self._origin(old)
        if not (origin or (alone and self._needs_no_origin(old, new, initial=initial))) or (
            self.english and (is_common_word(new.lower()) or (initial and is_common_word(old.lower())))
        ):
            return False
        if not self.english and (
            origin not in (phonetic_key(name) for name in self.source_names) or is_common_word(self.source_keys[origin])
        ):
            return False
        return not self._is_respelled(new, [phonetic_key(old), origin] if origin else [phonetic_key(old)])

    def _needs_no_origin(self, old: str, new: str, *, initial: bool) -> bool:
        """Whether a replacement counts without a matching word in the source: without capitals any word may be it.

        It then counts if most of the MT is copied and the two names are unrelated. Of 688 lines of fiction in two MTs,
        this holds for one published line.
        """
        if not self.english or self.cased_source or (initial and is_common_word(old.lower())):
            return False
        if initial and (_NOT_A_NAME.search(old) or _NOT_A_NAME.search(new)):
            return False
        kept = sum(step.end - step.start for step in self.steps if step.kind == "equal")
        one, other = old.lower(), new.lower()
        related = one in other or other in one or exonym_group(one) == exonym_group(other) >= 0
        return kept >= _COPIED * len(self.mt.words) and not related

    def _origin(self, name: str) -> str:
        """The phonetic key of the source word that a name of the MT renders, or ""."""
        found = process.extractOne(
            phonetic_key(name), self.source_sounds, scorer=JaroWinkler.similarity, score_cutoff=_PROVEN
        )
        if found:
            return str(found[0])
        group = exonym_group(name.lower())
        return next((sound for sound, word in self.source_keys.items() if group == exonym_group(word) >= 0), "")

    def _is_respelled(self, name: str, others: list[str]) -> bool:
        """Whether the name is another form of a word with one of these phonetic keys."""
        group = exonym_group(name.lower())
        if group >= 0 and group in {exonym_group(self.source_keys.get(other, other)) for other in others}:
            return True
        sound = phonetic_key(name)
        return phonetic_similarity(name, others) >= _RESPELLED or any(
            _same_consonants(sound, other) or _is_prefix_of_either(sound, other) for other in others
        )

    def _is_supported(self, name: str, position: int) -> bool:
        """Whether the source, the context or the glossary supports the name, whatever the MT says."""
        if name in self.source.text:
            return True
        if phonetic_similarity(name, self.outside_keys) >= SAME_NAME_SIMILARITY or self._is_reading(name):
            return True
        nearby = self._nearby_words(self.source, position)
        group = exonym_group(name.lower())
        if (
            group >= 0
            and group in map(exonym_group, nearby)
            and group not in map(exonym_group, self._nearby_words(self.mt, position))
        ):
            return True
        return phonetic_similarity(name, phonetic_keys(nearby)) >= _SURE or self._sounds_like_source_name(name)

    def _is_reading(self, name: str) -> bool:
        """Whether the name sounds like a word or characters of the source; short ones have to be exact."""
        letters = plain_letters(name)
        least = _READ if len(letters) > _LONGEST_SYLLABLE else 1.0
        scorer = Indel.normalized_similarity
        return bool(process.extractOne(letters, self.readings, scorer=scorer, score_cutoff=least))

    def unsupported_names(self) -> dict[int, str]:
        """The likely names of the draft without support in the passage, its context or the glossary, by position."""
        candidates = ((position, name) for position, name in self.new_names.items() if position in self.new.capitals)
        return {
            position: name for position, name in islice(candidates, _MAX_JUDGED) if not self._is_known(name, position)
        }

    def _is_known(self, name: str, position: int) -> bool:
        in_mt = self._nearby_words(self.mt, position)
        if name in self.source.text or phonetic_similarity(name, phonetic_keys(in_mt) + self.outside_keys) >= _IN_MT:
            return True
        group = exonym_group(name.lower())
        return group >= 0 and group in map(exonym_group, [*in_mt, *self._nearby_words(self.source, position)])

    def judge(self, position: int, name: str) -> list[Finding]:
        """Judge an unsupported name: no finding, a warning or a rejection."""
        replaced, near = self._displaced_names(position)
        proven = [old for old in replaced if self._origin(old)]
        likeness_to_source = phonetic_similarity(name, phonetic_keys(self._nearby_words(self.source, position)))
        if likeness_to_source >= (_SURE if proven else SAME_NAME_SIMILARITY) or self._is_respelled(
            name, phonetic_keys(replaced + near)
        ):
            return []
        if self._sounds_like_source_name(name):
            return []
        message = f"Neither the source nor the MT contains the name {quote(name)}."
        if (
            not (self.english and self.cased_source)
            or (self.new.is_title and not self.mt.is_title)
            or is_common_word(name.lower())
            or self._spells_out(name)
        ):
            return [warn("names", message)]
        if replaced or near:
            return [reject("names", f"{message} In its place the MT has {quote_list(replaced + near)}.")]
        if missing := self.missing_source_names:
            return [reject("names", f"{message} The source contains {quote_list(missing)}; the draft does not.")]
        # If nothing is lost, the name of a country or people is likely a clarification: "the English admiral".
        return [(warn if exonym_group(name.lower()) >= 0 else reject)("names", message)]

    def _displaced_names(self, position: int) -> tuple[list[str], list[str]]:
        """The names of the MT in the place of this word of the draft, and those lost nearby."""
        step = next(step for step in self.steps if step.start <= position < step.end)
        last = max(step.mt_start, step.mt_end - 1)
        replaced = []
        if step.end - step.start <= _LOCAL_STEP:
            capitals = self.mt.capitals
            replaced = [
                capitals[place]
                for place in range(step.mt_start, step.mt_end)
                if place in capitals and is_name(capitals[place])
            ]
        near = [
            name
            for place, name in self.lost_names.items()
            if step.mt_start - _NEAR <= place <= last + _NEAR and name not in replaced
        ]
        return replaced, near

    @cached_property
    def rarer_names(self) -> dict[int, str]:
        """The likely names of the MT that are less frequent in the draft, by position."""
        return {
            position: name
            for position, name in self.mt.capitals.items()
            if is_name(name)
            and self._count(self.new, name) < self._count(self.mt, name)
            and name.lower() not in self.mt.uncapitalised
        }

    @cached_property
    def lost_names(self) -> dict[int, str]:
        """The names in `rarer_names` that the draft does not respell."""
        return {
            position: name
            for position, name in islice(self.rarer_names.items(), _MAX_JUDGED)
            if name.lower() in self.new.vocabulary or phonetic_similarity(name, self.draft_keys) < SAME_NAME_SIMILARITY
        }

    def missing_names(self) -> list[str]:
        """The names of source and MT that the draft does not contain in any form."""
        keys = [phonetic_key(other) for other in self.source_names] if self.rarer_names else []
        return [
            name
            for name in islice(dict.fromkeys(self.rarer_names.values()), _MAX_JUDGED)
            if name.lower() not in self.new.vocabulary
            and not is_common_word(name.lower())
            and phonetic_similarity(name, keys) >= _SURE
            and phonetic_similarity(name, self.draft_keys) < SAME_NAME_SIMILARITY
        ]

    @cached_property
    def missing_source_names(self) -> list[str]:
        """The likely names of the source to which nothing in the draft is similar."""
        draft_groups = {exonym_group(word) for word in self.new.words} - {-1}
        return [
            name
            for name in self.source_names[:_MAX_JUDGED]
            if phonetic_similarity(name, self.draft_keys) < _RESPELLED
            and exonym_group(name.lower()) not in draft_groups
        ]

    def _spells_out(self, name: str) -> bool:
        """Whether the name may be part of an abbreviation in the MT that the draft spells out."""
        return name[0] in self.lost_abbreviations

    @cached_property
    def lost_abbreviations(self) -> str:
        """The letters of words in capitals that the MT has and the draft does not."""
        words = {word for word in self.mt.surfaces if len(word) > 1 and word.isupper()}
        return "".join(sorted({*"".join(word for word in words if word.lower() not in self.new.vocabulary)}))

    @staticmethod
    def _count(text: TextFeatures, name: str) -> int:
        return text.count(name.lower())


def _readings(run: str) -> Iterator[str]:
    syllables_of_run = syllables(run, "zh")
    if len(syllables_of_run) != len(run):
        return
    for width in range(1, _LONGEST_NAME + 1):
        for start in range(len(run) - width + 1):
            yield "".join(syllables_of_run[start : start + width])


def is_name(word: str) -> bool:
    """Whether a capitalised word may be a name: long enough, and not all in capitals."""
    return len(word) >= _MIN_LENGTH and not word.isupper() and word.isalpha()


def phonetic_keys(words: Iterable[str]) -> list[str]:
    """The phonetic keys of the words, without the shortest words."""
    return [phonetic_key(word) for word in dict.fromkeys(words) if len(word) >= _MIN_LENGTH - 1]


def _is_prefix_of_either(one: str, other: str) -> bool:
    """Whether one key is a prefix of the other, as with compounds and endings."""
    return min(len(one), len(other)) > _MIN_LENGTH and (one.startswith(other) or other.startswith(one))


def _same_consonants(one: str, other: str) -> bool:
    """Whether the consonants are similar; vowels change most between languages (Entente, Antanta)."""
    first, second = _consonants(one), _consonants(other)
    return min(len(first), len(second)) >= _MIN_LENGTH and JaroWinkler.similarity(first, second) >= _SURE


def _consonants(sound: str) -> str:
    return sound.translate(_VOWELS)
