"""TBX, the exchange format of term bases (ISO 30042): versions 2 (`martif`) and 3 (`tbx`).

Of each entry, the first term of a language is the preferred one; deprecated terms of the target are variants and
others are short forms. Entities of the XML are refused, and nothing that it refers to is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ape.errors import InputError
from ape.ledger.entity import Entity, EntityStatus, Ledger, SourceForm, Variant
from ape.ledger.files.entry import FIELD, NumberedEntity, check_entities, entity_from_glossary, glossary_note, refuse
from ape.text.languages import language_code

_ENTRIES = ("termEntry", "conceptEntry")
_LANGUAGES = ("langSet", "langSec")
_TERMS = ("tig", "ntig", "termSec")
_DEPRECATED = ("deprecatedTerm-admn-sts", "supersededTerm-admn-sts", "deprecated", "superseded")


@dataclass(slots=True)
class _Term:
    text: str = ""
    status: str = ""


@dataclass(slots=True)
class _Concept:
    line: int
    id: str = ""
    notes: list[str] = field(default_factory=list)
    # Terms by language, in the order of the file.
    terms: dict[str, list[_Term]] = field(default_factory=dict)


def read_tbx(content: bytes, path: str, *, source_language: str, target_language: str) -> tuple[Ledger, list[Entity]]:
    """The entities of a TBX file that have a term in both languages.

    Without given languages, the first two of the first entry are the source and the target.
    """
    concepts = _TbxReader(path).read(content)
    languages = _languages(concepts, path, language_code(source_language), language_code(target_language))
    found = []
    for concept in concepts:
        if entity := _entity(concept, *languages):
            found.append(NumberedEntity(f"Line {concept.line}", entity))
    if not found:
        raise InputError(f"{path} has no entry with terms in both languages, {' and '.join(languages)}.", field=FIELD)
    return Ledger(*languages), list(check_entities(found, path))


def write_tbx(ledger: Ledger) -> Iterator[str]:
    """The ledger in TBX version 3, dialect TBX-Basic; ignored entries are left out."""
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<tbx type="TBX-Basic" style="dca" xml:lang={quoteattr(ledger.target_language or "en")} '
        'xmlns="urn:iso:std:iso:30042:ed-2">\n'
        "<tbxHeader><fileDesc><sourceDesc><p>Names of a book</p></sourceDesc></fileDesc></tbxHeader>\n<text><body>\n"
    )
    for number, entity in enumerate(ledger.entities, 1):
        if entity.status is not EntityStatus.IGNORED:
            yield from _concept_xml(entity, number, ledger)
    yield "</body></text>\n</tbx>\n"


def _concept_xml(entity: Entity, number: int, ledger: Ledger) -> Iterator[str]:
    yield f'<conceptEntry id="c{number}">\n'
    if note := glossary_note(entity):
        yield f"<note>{_text(note)}</note>\n"
    yield f"<langSec xml:lang={quoteattr(ledger.source_language or 'und')}>\n"
    for form in entity.source_forms:
        yield _term_xml(form.text)
    yield f"</langSec>\n<langSec xml:lang={quoteattr(ledger.target_language or 'und')}>\n"
    if entity.target:
        yield _term_xml(entity.target, "preferredTerm-admn-sts")
    for text in entity.short_forms:
        yield _term_xml(text, "admittedTerm-admn-sts")
    right = {entity.target, *entity.short_forms}
    for variant in entity.variants:
        if variant.text not in right:
            yield _term_xml(variant.text, "deprecatedTerm-admn-sts")
    yield "</langSec>\n</conceptEntry>\n"


def _term_xml(text: str, status: str = "") -> str:
    note = f'<termNote type="administrativeStatus">{status}</termNote>' if status else ""
    return f"<termSec><term>{_text(text)}</term>{note}</termSec>\n"


def _text(text: str) -> str:
    """Escape a text, without the control characters that XML has no way to write."""
    return escape("".join(sign for sign in text if sign >= " " or sign in "\t\n"))


class _TbxReader:
    """Collects the concepts of a file while expat reads it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._concepts: list[_Concept] = []
        self._concept: _Concept | None = None
        self._terms: list[_Term] = []
        self._texts: list[list[str]] = []
        self._types: list[str] = []

    def read(self, content: bytes) -> list[_Concept]:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse_entity
        parser.AttlistDeclHandler = self._refuse_attribute
        self._parser = parser
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise refuse(self._path, f"Line {error.lineno}", f"it is not valid XML: {message}.") from error
        return self._concepts

    def _refuse_entity(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise refuse(self._path, f"Line {line}", "it declares an XML entity, which is refused. Write the text itself.")

    def _refuse_attribute(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise refuse(
            self._path, f"Line {line}", "it declares an attribute of XML, which is refused. Remove its DOCTYPE."
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        self._texts.append([])
        self._types.append(attributes.get("type", ""))
        if name in _ENTRIES:
            self._concept = _Concept(self._parser.CurrentLineNumber, attributes.get("id", ""))
            self._concepts.append(self._concept)
        elif self._concept and name in _LANGUAGES:
            language = language_code(attributes.get("xml:lang") or attributes.get("lang") or "und")
            self._terms = self._concept.terms.setdefault(language, [])
        elif self._concept and name in _TERMS:
            self._terms.append(_Term())

    def _end(self, name: str) -> None:
        name, text, kind = name.rpartition(":")[2], "".join(self._texts.pop()).strip(), self._types.pop()
        if not self._concept:
            return
        if name == "term" and self._terms:
            self._terms[-1].text = text
        elif name == "termNote" and self._terms and kind == "administrativeStatus":
            self._terms[-1].status = text
        elif name in ("note", "descrip") and text:
            self._concept.notes.append(text)
        elif name in _ENTRIES:
            self._concept, self._terms = None, []

    def _characters(self, text: str) -> None:
        if self._texts:
            self._texts[-1].append(text)


def _languages(concepts: Iterable[_Concept], path: str, source: str, target: str) -> tuple[str, str]:
    there = list(dict.fromkeys(language for concept in concepts for language in concept.terms))
    unknown = ("", "und")
    if source not in unknown and target not in unknown:
        missing = [language for language in (source, target) if language not in there]
        if not missing:
            return source, target
        if there:
            raise InputError(
                f"{path} has no terms in {missing[0]!r}, a language of the book. It has: {', '.join(there[:20])}.",
                field=FIELD,
            )
    if len(there) < 2:
        raise InputError(f"{path} has no terms in two languages.", field=FIELD)
    return there[0], there[1]


def _entity(concept: _Concept, source: str, target: str) -> Entity | None:
    names = [term.text for term in concept.terms.get(source, ()) if term.text]
    terms = [term for term in concept.terms.get(target, ()) if term.text]
    right = [term.text for term in terms if term.status not in _DEPRECATED]
    if not (names and right):
        return None
    wrong = tuple(Variant(term.text, 0) for term in terms if term.status in _DEPRECATED)
    entity = entity_from_glossary(names[0], right[0], "; ".join(concept.notes), id=concept.id)
    forms = tuple(map(SourceForm, names))
    return replace(entity, source_forms=forms, short_forms=tuple(right[1:]), variants=wrong)
