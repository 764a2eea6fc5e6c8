"""One entry of a file of names, as its cells say it, and the checks that all formats share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import regex

from ape.errors import InputError
from ape.ledger.entity import Entity, EntityKind, EntityStatus, Gender, Ledger, SourceForm
from ape.text.inline_marks import MARK
from ape.text.languages import language_code, language_name, language_scripts, script_counts

FIELD = "names"
_ENUM = TypeVar("_ENUM", bound=StrEnum)

_NO_TEXT = regex.compile(r"[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_GENDER_WORDS = {
    Gender.FEMALE: regex.compile(r"\b(?:female|woman|girl|she|her|féminin|feminine|f)\b|女(?!婿)", regex.I),
    Gender.MALE: regex.compile(r"\b(?:male|man|boy|he|him|masculin|masculine|m)\b|男", regex.I),
}
_KIND_WORDS = {
    EntityKind.PLACE: regex.compile(r"\b(?:place|city|country|location)\b|地名|地点|場所", regex.I),
    EntityKind.ORGANISATION: regex.compile(r"\b(?:organi[sz]ation|company|sect|guild)\b|组织|組織|公司|门派", regex.I),
    EntityKind.PERSON: regex.compile(r"\b(?:person|character|name)\b|人名|角色|人物", regex.I),
}


@dataclass(frozen=True, slots=True)
class NumberedEntity:
    """An entity and the line, or the entry, of the file that it comes from."""

    place: str
    entity: Entity


def refuse(path: str, place: str, message: str) -> InputError:
    """The error for a mistake at a place of a file."""
    return InputError(f"{place} of {path}: {message}" if place else f"{path}: {message}", field=FIELD)


def parse_choice(kind: type[_ENUM], text: str, *, path: str, place: str, name: str) -> _ENUM:
    """The member of that value, in any case; InputError names the allowed values."""
    try:
        return kind(text.strip().lower())
    except ValueError:
        allowed = ", ".join(kind)
        raise refuse(path, place, f"the {name} is {text[:60]!r}. Use one of: {allowed}.") from None


def entity_from_glossary(source: str, target: str, note: str = "", *, id: str = "") -> Entity:
    """An entry of a glossary that a person made: confirmed, with gender and kind as far as the note tells."""
    genders = [gender for gender, pattern in _GENDER_WORDS.items() if pattern.search(note)]
    gender = genders[0] if len(genders) == 1 else Gender.UNKNOWN
    kinds = (kind for kind, pattern in _KIND_WORDS.items() if pattern.search(note))
    default = EntityKind.TERM if gender is Gender.UNKNOWN else EntityKind.PERSON
    forms = (SourceForm(source),)
    kind = next(kinds, default)
    return Entity(id, kind, forms, target, gender=gender, status=EntityStatus.CONFIRMED, note=note)


def glossary_note(entity: Entity) -> str:
    """The note of an entry in a glossary without a field for the gender: it says the gender if the note does not."""
    if entity.gender in (Gender.UNKNOWN, Gender.NEUTER) or _GENDER_WORDS[entity.gender].search(entity.note):
        return entity.note
    return f"{entity.gender}; {entity.note}" if entity.note else str(entity.gender)


def check_entities(found: Iterable[NumberedEntity], path: str) -> tuple[Entity, ...]:
    """The entities, each with an id of its own; InputError for what can't be meant.

    An entry without an id is called by its source. The same source may be two characters, so it may occur twice, but
    not with equal rendering and another gender.
    """
    found = list(found)
    if not found:
        raise InputError(f"{path} has no entries. Give each name a source and a rendering.", field=FIELD)
    _refuse_what_is_no_text(found, path)
    given = {one.entity.id for one in found if one.entity.id}
    places: dict[str, str] = {}
    entities = []
    for one in _named(found, given):
        if first := places.get(one.entity.id):
            raise refuse(path, one.place, f"the id {one.entity.id!r} is taken by {first}. Give each entry its own.")
        places[one.entity.id] = one.place.lower()
        entities.append(one.entity)
    _refuse_contradictions(found, path)
    _refuse_unknown_aliases(found, path)
    return tuple(entities)


def _refuse_what_is_no_text(found: list[NumberedEntity], path: str) -> None:
    """Refuse control characters, line breaks, marks that turn the writing round, and our marks of formatting."""
    for one in found:
        entity = one.entity
        forms, variants = (form.text for form in entity.source_forms), (variant.text for variant in entity.variants)
        for text in (entity.id, *forms, entity.target, *entity.short_forms, *variants):
            if match := _NO_TEXT.search(text):
                sign = f"U+{ord(match.group()):04X}, a character that is not text"
                raise refuse(path, one.place, f"{text[:60]!r} contains {sign}. Remove it.")
            if mark := MARK.search(text):
                raise refuse(
                    path, one.place, f"{text[:60]!r} contains {mark.group()}, a mark of formatting. Remove it."
                )


def _named(found: list[NumberedEntity], given: set[str]) -> Iterator[NumberedEntity]:
    numbers: dict[str, int] = {}
    for one in found:
        if one.entity.id:
            yield one
            continue
        source = one.entity.source_forms[0].text
        number = numbers.get(source, 0) + 1
        while (name := source if number == 1 else f"{source} {number}") in given:
            number += 1
        numbers[source] = number
        yield replace(one, entity=replace(one.entity, id=name))


def _refuse_contradictions(found: list[NumberedEntity], path: str) -> None:
    seen: dict[tuple[str, str], NumberedEntity] = {}
    for one in found:
        if one.entity.gender is Gender.UNKNOWN:
            continue
        first = seen.setdefault((one.entity.source_forms[0].text, one.entity.target), one)
        if first.entity.gender is not one.entity.gender:
            name, before, now = one.entity.source_forms[0].text, first.entity.gender, one.entity.gender
            raise refuse(
                path,
                one.place,
                f"{name!r} is {now} here and {before} in {first.place.lower()}. Correct one of them, or leave the "
                "gender out.",
            )


def _refuse_unknown_aliases(found: list[NumberedEntity], path: str) -> None:
    known = {one.entity.id for one in found}
    for one in found:
        if unknown := [alias for alias in one.entity.aliases if alias not in known]:
            raise refuse(path, one.place, f"it is an alias of {unknown[0]!r}, which is the id of no entry.")


def check_languages_of_names(ledger: Ledger, path: str, *, source_language: str, target_language: str) -> None:
    """Raise InputError if the columns of sources and renderings are swapped, or are of other languages.

    Languages that the file names are compared with the book's. Otherwise the scripts are: Chinese names in Latin
    letters next to renderings in Chinese are swapped.
    """
    book = (language_code(source_language), language_code(target_language))
    file = (language_code(ledger.source_language), language_code(ledger.target_language))
    unknown = ("", "und")
    if file[0] not in unknown and file[1] not in unknown and book[0] not in unknown and book[1] not in unknown:
        if file == book[::-1] and file != book:
            raise InputError(_swapped(path, *book), field=FIELD)
        if file != book:
            names = f"{language_name(file[0])} to {language_name(file[1])}"
            wanted = f"{language_name(book[0])} to {language_name(book[1])}"
            raise InputError(f"{path} has names for {names}, and the book is {wanted}.", field=FIELD)
    if _look_swapped(ledger, *book):
        raise InputError(_swapped(path, *book), field=FIELD)


def _swapped(path: str, source: str, target: str) -> str:
    return (
        f"The languages of {path} are swapped: the book is {language_name(source)} to {language_name(target)}. Put "
        f"the {language_name(source)} name first and its {language_name(target)} rendering second."
    )


def _look_swapped(ledger: Ledger, source: str, target: str) -> bool:
    own, other = set(language_scripts(source)), set(language_scripts(target))
    if not own or not other or own & other:
        return False
    swapped = right = 0
    for entity in ledger.entities:
        name, rendering = set(script_counts(entity.source_forms[0].text)), set(script_counts(entity.target))
        swapped += bool(name & other and rendering & own and not name & own)
        right += bool(name & own)
    return swapped > right
