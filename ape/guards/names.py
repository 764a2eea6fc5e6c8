"""Names lost, invented, or changed into others.

A name is a capital that grammar does not ask for, so this guard looks at languages that have such capitals. A new
name needs support: the MT, the source (in any script we can spell), the context or the glossary has something like
it. Where it has none, what weighs is whether another name is gone: one that stood in its very place, one nearby, or
one of the source's that the draft no longer has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import regex
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from ape.guards.messages import quote, quote_list, reject, warn
from ape.guards.text_features import TextFeatures, base_form, lowercase_words, text_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.common_words import is_common_word
from ape.text.exonyms import exonym_group
from ape.text.languages import language_scripts
from ape.text.phonetics import SAME_NAME_SIMILARITY, phonetic_key, phonetic_similarity

_CASED = frozenset(("Latin", "Cyrillic", "Greek"))
_SHORTEST = 3
# A name and the one that took its place stand so many words apart at most, others being edited around them.
_NEAR = 6
# How far from the same place in another text its support may stand, in words, or a tenth of the text.
_WINDOW = 10
# A rewritten stretch longer than this pairs its words by chance.
_SHORT_STEP = 2
_LOCAL_STEP = 4
# A draft that keeps so many of the MT's words is a copy but for its edits.
_COPIED = 0.5
# Endings that tell a longer English word at the head of a sentence from a name: Startled, Accordingly.
_NO_NAME = regex.compile(r"\w{4}(?:ed|ing|ly|tions?|ness|ous|ful|able|ments?|ity|ward|wise|ever|ers)$")
# Likeness (Jaro-Winkler on folded spellings) by what is compared; see `ape.text.phonetics.ALIKE`.
_SURE = 0.9
_PROVEN = 0.85
_RESPELLED = 0.78
_IN_MT = 0.88
_VOWELS = dict.fromkeys(map(ord, "aeiouh"))


def names(segment: Segment, draft: Draft) -> list[Finding]:
    """Names that come from nowhere, the more so where one that the source has is gone; and names gone for good."""
    if not _CASED.issuperset(language_scripts(segment.target_language)):
        return []
    case = _NameCheck(segment, draft)
    exchanged = case.exchanged()
    findings = [
        reject(
            "names",
            f"The name {quote(old)} has become {quote(new)}, for which neither the source nor the MT speaks.",
        )
        for old, new in exchanged.items()
    ]
    for position, name in case.invented().items():
        if name not in exchanged.values():
            findings += case.judge(position, name)
    if not findings and (gone := case.gone()):
        findings.append(warn("names", f"The source and the MT have {quote_list(gone)}; the draft does not."))
    return findings


class _NameCheck:
    """One draft under this guard, with the evidence for and against its names worked out when first needed."""

    def __init__(self, segment: Segment, draft: Draft) -> None:
        self.segment = segment
        self.source, self.mt, self.new = (
            text_features(segment.source),
            text_features(segment.mt),
            text_features(draft.text),
        )
        self.steps = word_steps(segment.mt, draft.text)
        # Which capitals are ordinary words we know for English alone; elsewhere only the surest sign refuses.
        self.cased_source = _CASED.issuperset(language_scripts(segment.source_language))
        self.english = segment.target_language == "en"

    @cached_property
    def fresh(self) -> dict[int, str]:
        """The draft's capitalised words that neither MT nor source has, wherever they stand, by position."""
        return {
            position: name
            for position in self.new.capitalised
            if is_name(name := base_form(self.new.surfaces[position]))
            and (word := name.lower()) not in self.mt.vocabulary
            and word not in self.source.vocabulary
            and word not in self.new.uncapitalised
        }

    @cached_property
    def source_sounds(self) -> dict[str, str]:
        """The source's words by their folded spelling."""
        return {
            sound: word for word, sound in self.source.phonetic_keys.items() if len(word) >= _SHORTEST - 1
        }

    @cached_property
    def source_names(self) -> list[str]:
        """The source's likely names."""
        return [name for name in dict.fromkeys(self.source.capitals.values()) if is_name(name)]

    def _around(self, text: TextFeatures, position: int) -> list[str]:
        """The words of a text about as far into it as a place in the draft is.

        In a long passage something sounds like anything; a name stands about where it stood.
        """
        middle = position * len(text.words) // len(self.new.words)
        reach = max(_WINDOW, len(text.words) // 10)
        return text.words[max(0, middle - reach) : middle + reach]

    @cached_property
    def draft_sounds(self) -> list[str]:
        return [sound for word, sound in self.new.phonetic_keys.items() if len(word) >= _SHORTEST - 1]

    @cached_property
    def elsewhere(self) -> list[str]:
        """Words the draft may take from outside the passage: what came before, and the glossary."""
        words = [word for context in self.segment.context for word in text_features(context.target).words]
        for _, target in self.segment.glossary:
            words += lowercase_words(target)
        return phonetic_keys(words)

    def exchanged(self) -> dict[str, str]:
        """MT names that the source has, and the names that stand in their very places."""
        found = {}
        for step in self.steps if self.fresh else ():
            width = step.end - step.start
            if step.kind != "replace" or width > _SHORT_STEP or step.mt_end - step.mt_start != width:
                continue
            for place, position in zip(
                range(step.mt_start, step.mt_end), range(step.start, step.end), strict=True
            ):
                old, new = base_form(self.mt.surfaces[place]), self.fresh.get(position, "")
                if (
                    new
                    and self._is_exchange(old, new, initial=place not in self.mt.capitals, alone=width == 1)
                    and not self._supported(new, position)
                ):
                    found[old] = new
        return found

    def _is_exchange(self, old: str, new: str, *, initial: bool, alone: bool) -> bool:
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
            origin not in (phonetic_key(name) for name in self.source_names)
            or is_common_word(self.source_sounds[origin])
        ):
            return False
        return not self._respelled(new, [phonetic_key(old), origin] if origin else [phonetic_key(old)])

    def _needs_no_origin(self, old: str, new: str, *, initial: bool) -> bool:
        """Whether an exchange needs no word of the source to prove it: one in ideographs sounds like nothing.

        There it counts where the words around it are copied, and neither name is a part or a kinsman of the other.
        Of 688 lines of fiction in two MTs, one published line does so.
        """
        if not (self.english and self.source.unspaced) or is_common_word(old.lower()):
            return False
        if initial and (_NO_NAME.search(old) or _NO_NAME.search(new)):
            return False
        kept = sum(step.end - step.start for step in self.steps if step.kind == "equal")
        one, other = old.lower(), new.lower()
        akin = one in other or other in one or exonym_group(one) == exonym_group(other) >= 0
        return kept >= _COPIED * len(self.mt.words) and not akin

    def _origin(self, name: str) -> str:
        """The word of the source, folded, that an MT name renders, or nothing."""
        found = process.extractOne(
            phonetic_key(name), list(self.source_sounds), scorer=JaroWinkler.similarity, score_cutoff=_PROVEN
        )
        if found:
            return str(found[0])
        own = exonym_group(name.lower())
        return next(
            (sound for sound, word in self.source_sounds.items() if own == exonym_group(word) >= 0), ""
        )

    def _respelled(self, name: str, others: list[str]) -> bool:
        """Whether the name is another form of one of these folded words."""
        own = exonym_group(name.lower())
        if own >= 0 and own in {exonym_group(self.source_sounds.get(other, other)) for other in others}:
            return True
        sound = phonetic_key(name)
        return phonetic_similarity(name, others) >= _RESPELLED or any(
            _same_consonants(sound, other) or _one_begins_the_other(sound, other) for other in others
        )

    def _supported(self, name: str, position: int) -> bool:
        """Whether the source itself, or what is known from elsewhere, has the name, for all the MT may say."""
        if name in self.source.text:
            return True
        if phonetic_similarity(name, self.elsewhere) >= SAME_NAME_SIMILARITY:
            return True
        nearby = self._around(self.source, position)
        own = exonym_group(name.lower())
        if (
            own >= 0
            and own in map(exonym_group, nearby)
            and own not in map(exonym_group, self._around(self.mt, position))
        ):
            return True
        return phonetic_similarity(name, phonetic_keys(nearby)) >= _SURE or any(
            _same_consonants(phonetic_key(name), phonetic_key(other)) for other in self.source_names
        )

    def invented(self) -> dict[int, str]:
        """The draft's likely names that sound like nothing in the MT, nor come from elsewhere, by position."""
        candidates = {
            position: name for position, name in self.fresh.items() if position in self.new.capitals
        }
        if not candidates:
            return {}
        return {position: name for position, name in candidates.items() if not self._known(name, position)}

    def _known(self, name: str, position: int) -> bool:
        in_mt = self._around(self.mt, position)
        if (
            name in self.source.text
            or phonetic_similarity(name, phonetic_keys(in_mt) + self.elsewhere) >= _IN_MT
        ):
            return True
        own = exonym_group(name.lower())
        return own >= 0 and own in map(exonym_group, [*in_mt, *self._around(self.source, position)])

    def judge(self, position: int, name: str) -> list[Finding]:
        """What an unsupported name weighs: nothing, a warning, or a refusal."""
        replaced, near = self._displaced(position)
        proven = [old for old in replaced if self._origin(old)]
        likeness_to_source = phonetic_similarity(name, phonetic_keys(self._around(self.source, position)))
        if likeness_to_source >= (_SURE if proven else SAME_NAME_SIMILARITY) or self._respelled(
            name, phonetic_keys(replaced + near)
        ):
            return []
        if any(_same_consonants(phonetic_key(name), phonetic_key(other)) for other in self.source_names):
            return []
        message = f"Neither the source nor the MT has the name {quote(name)}."
        if (
            not (self.english and self.cased_source)
            or (self.new.is_title and not self.mt.is_title)
            or is_common_word(name.lower())
            or self._spells_out(name)
        ):
            return [warn("names", message)]
        if replaced or near:
            return [reject("names", f"{message} It stands where the MT has {quote_list(replaced + near)}.")]
        if orphans := self._orphans():
            return [
                reject("names", f"{message} The source has {quote_list(orphans)}, which the draft has not.")
            ]
        # With nothing lost, a land or a people named is likelier a clarification: "the English admiral".
        return [(warn if exonym_group(name.lower()) >= 0 else reject)("names", message)]

    def _displaced(self, position: int) -> tuple[list[str], list[str]]:
        """The MT's names that stood in the place of this word of the draft, and those lost nearby."""
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
            for place, name in self.lost.items()
            if step.mt_start - _NEAR <= place <= last + _NEAR and name not in replaced
        ]
        return replaced, near

    @cached_property
    def fewer(self) -> dict[int, str]:
        """The MT's likely names that the draft has less often, by position."""
        return {
            position: name
            for position, name in self.mt.capitals.items()
            if is_name(name)
            and self._count(self.new, name) < self._count(self.mt, name)
            and name.lower() not in self.mt.uncapitalised
        }

    @cached_property
    def lost(self) -> dict[int, str]:
        """Those of them that it has in no other spelling either."""
        return {
            position: name
            for position, name in self.fewer.items()
            if name.lower() in self.new.vocabulary
            or phonetic_similarity(name, self.draft_sounds) < SAME_NAME_SIMILARITY
        }

    def gone(self) -> list[str]:
        """The names of source and MT that the draft has in no form."""
        sounds = [phonetic_key(other) for other in self.source_names] if self.fewer else []
        return [
            name
            for name in dict.fromkeys(self.fewer.values())
            if name.lower() not in self.new.vocabulary
            and not is_common_word(name.lower())
            and phonetic_similarity(name, sounds) >= _SURE
            and phonetic_similarity(name, self.draft_sounds) < SAME_NAME_SIMILARITY
        ]

    def _orphans(self) -> list[str]:
        """The source's likely names that nothing in the draft sounds like."""
        draft_kin = {exonym_group(word) for word in self.new.words} - {-1}
        return [
            name
            for name in self.source_names
            if phonetic_similarity(name, self.draft_sounds) < _RESPELLED
            and exonym_group(name.lower()) not in draft_kin
        ]

    def _spells_out(self, name: str) -> bool:
        """Whether the name may be part of an abbreviation of the MT's that the draft writes in full."""
        return any(
            len(word) > 1 and word.isupper() and name[0] in word and word.lower() not in self.new.vocabulary
            for word in self.mt.surfaces
        )

    @staticmethod
    def _count(text: TextFeatures, name: str) -> int:
        return text.count(name.lower())


def is_name(word: str) -> bool:
    """Whether a capitalised word may be a name: long enough, and not all in capitals."""
    return len(word) >= _SHORTEST and not word.isupper() and word.isalpha()


def phonetic_keys(words: Iterable[str]) -> list[str]:
    """The words' folded spellings, but for the shortest."""
    return [phonetic_key(word) for word in dict.fromkeys(words) if len(word) >= _SHORTEST - 1]


def _one_begins_the_other(one: str, other: str) -> bool:
    """German writes Viet and Cong in one word, and Estonian adds its endings."""
    return min(len(one), len(other)) > _SHORTEST and (one.startswith(other) or other.startswith(one))


def _same_consonants(one: str, other: str) -> bool:
    """Vowels are what languages change first: Entente is Antanta."""
    first, second = _consonants(one), _consonants(other)
    return min(len(first), len(second)) >= _SHORTEST and JaroWinkler.similarity(first, second) >= _SURE


def _consonants(sound: str) -> str:
    return sound.translate(_VOWELS)
