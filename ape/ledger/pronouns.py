"""Repair he and she where the source does not say it and the ledger knows.

A pronoun is changed only outside quotations, if every person that the source of the paragraph names is firmly of the
other gender, a rendering of a name stands before it, nobody else who could be meant is mentioned up to there, and the
source has no pronoun of the MT's gender. Everything else that looks wrong is a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import regex

from ape.ledger.entity import Entity, EntityKind, Gender, LedgerParagraph
from ape.ledger.gender import paragraph_evidence
from ape.ledger.gender_words import MEN, OTHER_PRONOUNS, PEOPLE, PRONOUNS, WOMEN
from ape.ledger.links import LedgerIndex
from ape.ledger.replacement import PlannedChange
from ape.ledger.target_names import name_runs
from ape.passage.edit import EditKind
from ape.text.inline_marks import strip_marks
from ape.text.lexicon import load_lexicon
from ape.text.sentences import split_sentences

_HE = frozenset(("he", "him", "his", "himself"))
_SHE = frozenset(("she", "her", "hers", "herself"))
_PRONOUN = regex.compile(r"(?i)(?<![\w'’⟦-])(?:he|him|his|himself|she|her|hers|herself)(?![\w-])")
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_QUOTED = regex.compile(r"“[^”]*(?:”|$)|\"[^\"]*(?:\"|$)|«[^»]*(?:»|$)|「[^」]*(?:」|$)|‘[^’]{12,}’(?!\w)")
_NEXT = regex.compile(r"^(?:⟦/?\d+/?⟧|</?\w+>)*[ \u00a0](?:⟦/?\d+/?⟧|</?\w+>)*([\p{L}\p{M}'’-]+)")
# After these, "her" is an object: him.
_AFTER_OBJECT = frozenset(
    "again too so alone away now then before already still even either anyway instead today tonight tomorrow "
    "yesterday once twice more much well quickly slowly there here back out up down off over as than like go come do "
    "know see say feel think look sit stand leave take get laugh cry speak talk eat sleep die live speechless "
    "anymore altogether".split()
)
_POSSESSED = frozenset(("own", "very", "one", "once", "then"))
_KIN = frozenset(
    "father mother dad mom mum parents brother sister brothers sisters son daughter husband wife uncle aunt "
    "grandfather grandmother grandpa grandma family friend friends".split()
)
_ANIMALS = regex.compile("[它牠祂]")
_GROUPS = {Gender.MALE: ("他们", "她们", "其他", "吉他"), Gender.FEMALE: ("她们",)}


def pronoun_changes(
    paragraph: LedgerParagraph, counts: Counter[str], index: LedgerIndex, *, previous: Sequence[LedgerParagraph]
) -> tuple[list[PlannedChange], list[str]]:
    """The pronouns to change, and sentences about those that may be wrong."""
    people = [index.entities[key] for key in counts if index.entities[key].kind is EntityKind.PERSON]
    if not people:
        return [], []
    genders = {person.gender for person in people}
    if len(genders) > 1 or not genders <= {Gender.FEMALE, Gender.MALE}:
        return [], []
    gender = genders.pop()
    wrong = _HE if gender is Gender.FEMALE else _SHE
    found = [match for match in _PRONOUN.finditer(paragraph.mt) if match.group().lower() in wrong]
    quoted = [match.span() for match in _QUOTED.finditer(paragraph.mt)]
    found = [match for match in found if not any(start <= match.start() < end for start, end in quoted)]
    if not found or source_has_pronoun(paragraph.source, _other(gender), index.ledger.source_language):
        return [], []
    # 东宫老太 is not the 东宫 who is male elsewhere.
    if any(one.gender is _other(gender) for _, one in paragraph_evidence(paragraph, index)):
        return [], []
    changes, doubts = [], []
    names = ", ".join(person.target or person.source_forms[0].text for person in people)
    # A pronoun of that gender before any name, or as the object of a clause about the person, means somebody else.
    somebody, is_object = _neighbours(previous, index, gender), False
    for match in found:
        others = _others_before(paragraph.mt, match.start(), people, index, _other(gender))
        if others is None or _is_object(match.group(), paragraph.mt[match.end() :]):
            somebody, is_object = somebody or match.group(), True
        if is_object or (somebody and not _is_subject(paragraph.mt, match.start(), people, index)):
            doubts.append(
                f"“{match.group()}” may refer to {names} ({gender.value}), or to somebody else (“{somebody}”)."
            )
        elif others == [] or _is_possessor_of(paragraph.mt, match.end(), others):
            changes.append(_change(paragraph.mt, match.start(), match.end(), people[0], names, gender))
        elif others:
            doubts.append(f"“{match.group()}” may refer to {names} ({gender.value}), or to “{others[0]}”.")
    return changes, doubts


def _neighbours(previous: Sequence[LedgerParagraph], index: LedgerIndex, gender: Gender) -> str:
    """A person of the paragraph before who may be meant instead; "" if there is none."""
    people = index.entities_in(previous[-1].source) if previous else ()
    others = (one for one in people if one.kind is EntityKind.PERSON and one.gender is not gender)
    return next((one.target or one.source_forms[0].text for one in others), "")


def _is_subject(mt: str, place: int, people: Sequence[Entity], index: LedgerIndex) -> bool:
    """Whether the sentence of this place begins with a name of the people, so that nobody before it is meant."""
    begin = 0
    for sentence in split_sentences(mt):
        if begin + len(sentence) > place:
            start = sentence.lstrip(' \n\u00a0"“”‘')
            return any(start.startswith(text) for one in people for text in _all_wordings(one, index))
        begin += len(sentence)
    return False


def _all_wordings(entity: Entity, index: LedgerIndex) -> frozenset[str]:
    wordings = index.wordings[entity.id]
    return wordings.right.union(wordings.wrong)


def _is_object(word: str, rest: str) -> bool:
    return word.lower() == "him" or (word.lower() == "her" and swap_pronoun(word, rest).lower() == "him")


def _other(gender: Gender) -> Gender:
    return Gender.MALE if gender is Gender.FEMALE else Gender.FEMALE


def source_has_pronoun(source: str, gender: Gender, language: str) -> bool:
    """Whether the source has a pronoun that may refer to a person of this gender, or to an animal."""
    plain = strip_marks(source)
    if language in ("zh", "ja"):
        for group in _GROUPS[gender]:
            plain = plain.replace(group, "")
        if language == "ja":
            plain = plain.replace("彼女" if gender is Gender.MALE else "彼ら", "")
        return PRONOUNS[language][gender] in plain or _ANIMALS.search(plain) is not None
    words = {word.lower() for word in _WORD.findall(_without_impersonal(plain, language))}
    own = {*_table(PRONOUNS, language, gender), *_table(OTHER_PRONOUNS, language, gender)}
    return bool(words & own)


def _without_impersonal(source: str, language: str) -> str:
    if language != "fr":
        return source
    return str(
        regex.sub(
            r"(?i)\b(?:qu['’]|s['’])?il (?=(?:n['’]y |y |ne |n['’])?"
            r"(?:a|avait|eut|aura|faut|fallait|fallut|pleu\w+|neige\w*)\b)",
            " ",
            source,
        )
    )


def _table(table: dict[str, dict[Gender, str]], language: str, gender: Gender) -> frozenset[str]:
    return _split(table.get(language, {}).get(gender, ""))


@lru_cache(maxsize=64)
def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _others_before(
    mt: str, place: int, people: Sequence[Entity], index: LedgerIndex, gender: Gender
) -> list[str] | None:
    """Who else could be meant by a pronoun at this place; None if no name of the people stands before it."""
    end = place + len(_rest_of_sentence(mt, place))
    before = mt[:end]
    wordings = {text for one in people for text in _all_wordings(one, index)}
    places = [before.find(text) for text in wordings if text in before]
    if not places or min(places) > place:
        return None
    named = {word.lower() for text in wordings for word in text.split()}
    barred = (MEN if gender is Gender.MALE else WOMEN) | PEOPLE
    others = [word for word in _WORD.findall(before) if word.lower() in barred and word.lower() not in named]
    for run in name_runs(before):
        text = before[run[0].start : run[-1].end]
        unknown = [word.text for word in run if word.text.lower() not in named and not word.initial]
        if unknown and not any(wording in text for wording in wordings):
            others.append(text)
    return others


def _rest_of_sentence(mt: str, place: int) -> str:
    return next(iter(split_sentences(mt[place:])), "")


def _is_possessor_of(mt: str, end: int, others: Sequence[str] | None) -> bool:
    """Whether the pronoun only says whose relative the one other person is: "his father"."""
    following = _NEXT.match(mt[end:])
    if others is None or following is None:
        return False
    relative = following[1].lower().removesuffix("'s").removesuffix("’s")
    return relative in _KIN and len(others) == 1 and others[0].lower() == relative


def _change(mt: str, start: int, end: int, person: Entity, names: str, gender: Gender) -> PlannedChange:
    before = mt[start:end]
    after = swap_pronoun(before, mt[end:])
    cues = ", ".join(dict.fromkeys(one.cue for one in person.evidence[:3] if one.gender is gender))
    reason = f"{before} → {after}: {names} is {gender.value}" + (f" ({cues})" if cues else "")
    return PlannedChange(EditKind.PRONOUN, start, end, before, after, person.id, reason)


def swap_pronoun(word: str, rest: str) -> str:
    """The pronoun of the other gender in the same role; `rest` is the text after it."""
    lower = word.lower()
    following = _NEXT.match(rest)
    follower = following[1].lower() if following else ""
    owns = bool(follower) and (
        follower in _POSSESSED - {"once", "then"}
        or (
            follower not in load_lexicon("en").grammatical
            and follower not in _AFTER_OBJECT
            and not follower.endswith("ly")
        )
    )
    swapped = {
        "he": "she", "him": "her", "himself": "herself", "she": "he", "herself": "himself", "hers": "his",
        "his": "her" if owns else "hers", "her": "his" if owns else "him",
    }[lower]  # fmt: skip
    if word.isupper() and len(word) > 1:
        return swapped.upper()
    return swapped.capitalize() if word[0].isupper() else swapped
