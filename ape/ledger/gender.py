"""Genders of the people of a book, by weighed evidence of the source; unknown below a margin.

Nearness of a pronoun is no evidence, since it often refers to the other person. What counts: forms of address, what a
person is said to be, and a pronoun that begins the clause or sentence after one whose subject is the name, with no
other name in the paragraph up to there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import regex

from ape.ledger.entity import Entity, EntityKind, Gender, GenderEvidence, Ledger, LedgerParagraph
from ape.ledger.gender_words import KINSHIP, PRONOUNS, TITLES_AFTER, TITLES_BEFORE, UNNAMED
from ape.ledger.links import LedgerIndex
from ape.text.inline_marks import strip_marks
from ape.text.romanisation import COMPOUND_FAMILY_NAMES
from ape.text.sentences import split_sentences

TITLE_WEIGHT = 2.0
KINSHIP_WEIGHT = 1.5
FAMILY_WEIGHT = 1.0
SUBJECT_WEIGHT = 1.0
ALONE_WEIGHT = 0.5
# Firm from this weight on, and with this many times the weight of the other gender.
MIN_WEIGHT = 1.0
MARGIN = 4.0
_MAX_EVIDENCE = 12
_NO_FAMILY = frozenset("小老阿")
# A name this near the start of a sentence is its subject.
_SUBJECT_REACH = 3
_CLAUSE = regex.compile(r"[，,；;：:]")
_QUOTED = regex.compile(r"“[^”]*”?|「[^」]*」?|『[^』]*』?|«[^»]*»?|\"[^\"]*\"?")
_IMPERSONAL = regex.compile(
    r"(?i)^il (?:y |n['’]y |ne |me |te |lui |nous |vous |leur |se )*"
    r"(?:a|avait|eut|aura|faut|fallait|fallut|faudra|pleu\w+|neige\w*|est|était|fut|semble|semblait|parut|reste|restait|"
    r"s['’]agi\w+|vaut|arrive|arriva|fit|faisait)\b"
)


def add_genders(ledger: Ledger, paragraphs: Sequence[LedgerParagraph]) -> Ledger:
    """The ledger with the gender of each person, where the evidence suffices; what a person stated is kept."""
    index = LedgerIndex(ledger)
    found: dict[str, list[GenderEvidence]] = defaultdict(list)
    families = _families(ledger)
    subject = ""
    for paragraph in paragraphs:
        for key, evidence in paragraph_evidence(paragraph, index, subject=subject):
            found[key].append(evidence)
        for key, gender, cue in family_titles(paragraph.source, families):
            found[key].append(GenderEvidence(gender, cue, paragraph.id, FAMILY_WEIGHT))
        subject = only_subject(paragraph.source, index, before=subject)
    return replace(ledger, entities=tuple(_with_gender(entity, found[entity.id]) for entity in ledger.entities))


def _with_gender(entity: Entity, evidence: Sequence[GenderEvidence]) -> Entity:
    if entity.kind is not EntityKind.PERSON or not evidence:
        return entity
    strongest = tuple(sorted(evidence, key=lambda one: -one.weight)[:_MAX_EVIDENCE])
    known = entity.vouched or entity.gender is not Gender.UNKNOWN
    return replace(entity, gender=entity.gender if known else decide_gender(evidence), evidence=strongest)


def decide_gender(evidence: Sequence[GenderEvidence]) -> Gender:
    """The gender with enough weight and a clear margin, or unknown."""
    weights: Counter[Gender] = Counter()
    for one in evidence:
        weights[one.gender] += one.weight  # type: ignore[assignment]  # weights are fractions
    best, other = sorted((Gender.FEMALE, Gender.MALE), key=lambda gender: -weights[gender])
    return best if weights[best] >= MIN_WEIGHT and weights[best] >= MARGIN * weights[other] else Gender.UNKNOWN


def only_subject(source: str, index: LedgerIndex, *, before: str = "") -> str:
    """The id of the one person that a narrated paragraph names, as the subject of its first sentence; else ""."""
    plain = _QUOTED.sub("", strip_marks(source)).strip()
    hits = list(index.places_in(plain))
    if not hits:
        # A paragraph about the same person goes on with a pronoun.
        return before if plain and _initial_pronoun(plain, index.ledger.source_language) else ""
    first = hits[0]
    return first[2] if first[0] <= _SUBJECT_REACH and len({key for _, _, key in hits}) == 1 else ""


def paragraph_evidence(
    paragraph: LedgerParagraph, index: LedgerIndex, *, subject: str = ""
) -> Iterator[tuple[str, GenderEvidence]]:
    """What the source of one paragraph says about the gender of the people it names.

    `subject` is the only person of the paragraph before, if it is known.
    """
    language = index.ledger.source_language
    source = strip_marks(paragraph.source)
    hits = list(index.places_in(source))
    if not hits:
        gender = _initial_pronoun(source, language) if subject and not _has_unnamed(source, language) else None
        if gender is not None:
            yield subject, GenderEvidence(gender, source.strip()[:12], paragraph.id, SUBJECT_WEIGHT)
        return
    pronouns = () if _has_unnamed(source, language) else _subjects(source, hits, language)
    for gender, cue, key, weight in (*_titles(source, hits, language), *_kinship(source, hits, language), *pronouns):
        yield key, GenderEvidence(gender, cue, paragraph.id, weight)


_Cue = tuple[Gender, str, str, float]


def _titles(source: str, hits: Sequence[tuple[int, int, str]], language: str) -> Iterator[_Cue]:
    for start, end, key in hits:
        for gender in (Gender.FEMALE, Gender.MALE):
            for title in _words(TITLES_AFTER, language, gender):
                if source.startswith(title, end) or source.endswith(title, start, end):
                    yield gender, title, key, TITLE_WEIGHT
            before = source[max(0, start - 20) : start].lower().replace("\u00a0", " ").split()
            if before and before[-1] in _words(TITLES_BEFORE, language, gender):
                yield gender, before[-1], key, TITLE_WEIGHT


def _has_unnamed(source: str, language: str) -> bool:
    return any(word in source for word in _split(UNNAMED.get(language, "")))


def family_titles(source: str, families: Mapping[str, str]) -> Iterator[tuple[str, Gender, str]]:
    """Chinese family names with a title, of the one person of that family: 程小姐 is 程安雅."""
    for family, key in families.items():
        for start in (match.start() for match in regex.finditer(regex.escape(family), source)):
            for gender in (Gender.FEMALE, Gender.MALE):
                for title in _words(TITLES_AFTER, "zh", gender):
                    if source.startswith(title, start + len(family)):
                        yield key, gender, family + title


def _families(ledger: Ledger) -> dict[str, str]:
    """The ids of people by family name, of families with one person only."""
    found: dict[str, set[str]] = defaultdict(set)
    for entity in ledger.entities if ledger.source_language == "zh" else ():
        form = entity.source_forms[0].text if entity.source_forms else ""
        family = form[: 2 if form[:2] in COMPOUND_FAMILY_NAMES else 1]
        is_titled = any(form == family + title for gender in Gender for title in _words(TITLES_AFTER, "zh", gender))
        is_name = 0 < len(form) - len(family) <= 2 and family not in _NO_FAMILY
        if entity.kind is EntityKind.PERSON and is_name and not is_titled:
            found[family].add(entity.id)
    return {family: next(iter(keys)) for family, keys in found.items() if len(keys) == 1}


def _kinship(source: str, hits: Sequence[tuple[int, int, str]], language: str) -> Iterator[_Cue]:
    """X 是 … 的孙女 in the first clauses of a sentence that begins with X."""
    if language not in KINSHIP:
        return
    for sentence, begin in _sentences(source):
        first = next(((start, end, key) for start, end, key in hits if 0 <= start - begin <= 1), None)
        if first is None:
            continue
        rest = source[first[1] : begin + len(sentence)]
        for gender in (Gender.FEMALE, Gender.MALE):
            for word in _words(KINSHIP, language, gender):
                if regex.match(
                    rf"(?:[^，。]*，)?是(?:一?[个名位])?[^，。是]{{0,6}}(?<!的.)(?:的|个|名|位)?{word}(?:[，。、]|$)",
                    rest,
                ):
                    yield gender, word, first[2], KINSHIP_WEIGHT


def _subjects(source: str, hits: Sequence[tuple[int, int, str]], language: str) -> Iterator[_Cue]:
    """Pronouns that begin a clause or sentence after the one whose subject is the only name so far."""
    narrated = _QUOTED.sub(lambda match: "□" * len(match.group()), source)
    named: set[str] = set()
    subject = ""
    for sentence, begin in _sentences(narrated):
        inside = [(start, key) for start, _, key in hits if begin <= start < begin + len(sentence)]
        if subject and len(named) == 1:
            gender = _initial_pronoun(sentence, language)
            if gender is not None and not inside:
                yield gender, sentence.strip()[:12], subject, SUBJECT_WEIGHT
        named.update(key for _, key in inside)
        lead = len(sentence) - len(sentence.lstrip())
        if inside and inside[0][0] - begin - lead <= _SUBJECT_REACH:
            subject = inside[0][1]
            if len(named) == 1:
                yield from _clauses(narrated[inside[0][0] : begin + len(sentence)], subject, language)
        elif inside:
            subject = ""


def _clauses(sentence: str, subject: str, language: str) -> Iterator[_Cue]:
    for clause in _CLAUSE.split(sentence)[1:]:
        if (gender := _initial_pronoun(clause, language)) is not None:
            yield gender, clause.strip()[:12], subject, ALONE_WEIGHT


def _initial_pronoun(text: str, language: str) -> Gender | None:
    plain = text.strip().lower()
    if language == "fr" and _IMPERSONAL.match(plain):
        return None
    for gender in (Gender.FEMALE, Gender.MALE):
        for word in _words(PRONOUNS, language, gender):
            if plain.startswith(word) and _ends_here(plain, len(word), language):
                # German "sie" is also "they".
                return None if (language, word) == ("de", "sie") else gender
    return None


def _ends_here(text: str, end: int, language: str) -> bool:
    after = text[end : end + 1]
    if language in ("zh", "ja"):
        return after not in ("们", "們", "女", "ら", "人")
    return not after.isalpha()


def _sentences(source: str) -> Iterator[tuple[str, int]]:
    begin = 0
    for sentence in split_sentences(source):
        yield sentence, begin
        begin += len(sentence)


@lru_cache(maxsize=64)
def _split(words: str) -> tuple[str, ...]:
    return tuple(sorted(words.split(), key=len, reverse=True))


def _words(table: dict[str, dict[Gender, str]], language: str, gender: Gender) -> tuple[str, ...]:
    return _split(table.get(language, {}).get(gender, ""))
