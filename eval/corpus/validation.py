"""From given texts to a corpus: what is unequal, empty, missing or in the wrong language is told by file and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ape.errors import InputError
from ape.text.languages import (
    LANGUAGE_NAMES,
    detect_language,
    language_code,
    language_name,
    script_counts,
)
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import (
    SOURCE_LABEL,
    NoteCallback,
    RawDocument,
    TextLines,
    ignore_note,
    join_lines,
)

# Of a text with fewer letters the language is taken on trust: names and exclamations look like any.
_ENOUGH_LETTERS = 200
_SAMPLE = 20_000
# Told apart by letter statistics no better than by chance.
_ALIKE = (
    {"hr", "sr", "sl"},
    {"da", "no"},
    {"id", "ms"},
    {"cs", "sk"},
    {"bg", "sr", "ru", "uk"},
    {"hi", "ne"},
)


@dataclass(frozen=True, slots=True)
class CorpusRules:
    """What is taken as it comes: languages that nobody need tell, and outputs that say nothing."""

    source_language: str = ""
    target_language: str = ""
    allow_empty: bool = False
    note: NoteCallback = ignore_note


def build_corpus(given: Sequence[RawDocument], rules: CorpusRules, *, name: str = "") -> Corpus:
    """The corpus, if nothing is wrong with it."""
    if not given:
        raise InputError(f"There is no document in {name or 'what was given'}.", field="path")
    systems = tuple(given[0].outputs)
    if not systems:
        raise InputError(
            f"{given[0].place}: there is no output of any system. Name one with --system NAME=FILE.",
            field="system",
        )
    for document in given:
        _check_systems(document, systems)
        _check_lengths(document)
        _check_empty(document, rules)
    _tell_missing(given, rules)
    source, target = _languages(given, rules)
    documents = tuple(_document(one, systems) for one in given)
    return Corpus(documents, source, target, name)


def _document(given: RawDocument, systems: Sequence[str]) -> Document:
    return Document(
        given.id,
        {name: tuple(text or "" for text in given.outputs[name].texts) for name in systems},
        tuple(
            tuple(text if text and text.strip() else None for text in one.texts) for one in given.references
        ),
        tuple(text or "" for text in given.sources.texts) if given.sources else (),
        given.book,
    )


def _check_systems(document: RawDocument, systems: Sequence[str]) -> None:
    if odd := sorted(document.outputs.keys() ^ set(systems)):
        lacking = "lacks" if odd[0] in systems else "is the first with"
        raise InputError(
            f"{document.place}: document {document.id!r} {lacking} an output of system {odd[0]!r}. "
            "Every document needs an output of every system.",
            field="system",
        )


def _check_lengths(document: RawDocument) -> None:
    lengths = {what: len(texts) for what, texts in document.every().items()}
    if not any(lengths.values()):
        raise InputError(f"{document.place}: document {document.id!r} is empty.", field="document")
    if len(set(lengths.values())) == 1:
        return
    told = ", ".join(f"{what} has {len(texts)} ({_span(texts)})" for what, texts in document.every().items())
    raise InputError(
        f"The texts of document {document.id!r} differ in their number of segments: {told}.",
        field="document",
    )


def _span(texts: TextLines) -> str:
    if not texts.numbers:
        return texts.file
    first, last = texts.numbers[0], texts.numbers[-1]
    return f"line {first} of {texts.file}" if first == last else f"lines {first} to {last} of {texts.file}"


def _blank(texts: TextLines) -> Iterator[int]:
    return (place for place in range(len(texts)) if not _says(texts, place))


def _check_empty(document: RawDocument, rules: CorpusRules) -> None:
    if document.sources and (place := next(_blank(document.sources), None)) is not None:
        raise InputError(
            f"{document.sources.place(place)}: the source is empty. Take the segment out of every text.",
            field="source",
        )
    for name, texts in document.outputs.items():
        place = next(_blank(texts), None)
        if place is not None and not (rules.allow_empty or texts.parted):
            raise InputError(
                f"{texts.place(place)}: the output of system {name!r} is empty. If it left that segment out, say "
                "--allow-empty, and it is scored as a text without words.",
                field="system",
            )
    for place in range(len(document.references[0]) if document.references else 0):
        said = [one.texts[place] for one in document.references]
        if any(text and text.strip() for text in said) or None in said or rules.allow_empty:
            continue
        raise InputError(
            f"{document.references[0].place(place)}: the reference is empty, and there is no other. If nobody "
            "translated that segment, say --allow-empty, and it is left out of what needs a reference.",
            field="reference",
        )


def _tell_missing(given: Sequence[RawDocument], rules: CorpusRules) -> None:
    """A note for each reference that lacks some segments."""
    for number in range(max(len(one.references) for one in given)):
        having = [one for one in given if number < len(one.references)]
        names = {one.called(number) for one in having}
        called = names.pop() if len(names) == 1 else f"reference {number + 1}"
        lacking = [one for one in given if number >= len(one.references)]
        if lacking:
            rules.note(
                f"{len(lacking):,} of {len(given):,} documents have no {called}; the first is {lacking[0].id!r} "
                f"({_lowered(lacking[0].place)}). What needs a reference leaves out those that have none at all."
            )
        gaps = [(one, place) for one in having for place in _blank(one.references[number])]
        if gaps:
            first, place = gaps[0]
            segments = sum(len(one.references[number]) for one in having)
            rules.note(
                f"{called[0].upper()}{called[1:]} lacks {len(gaps):,} of {segments:,} segments; the first is "
                f"{_lowered(first.references[number].place(place))}. {_instead(gaps)}"
            )


def _instead(gaps: Sequence[tuple[RawDocument, int]]) -> str:
    """What becomes of segments that a reference lacks."""
    alone = sum(not any(_says(one, place) for one in document.references) for document, place in gaps)
    if not alone:
        return "These are held against the other references only."
    if alone == len(gaps):
        return "What needs a reference leaves these out."
    return f"What needs a reference leaves out {alone:,} of these; the rest are held against the other references only."


def _says(texts: TextLines, place: int) -> bool:
    text = texts.texts[place]
    return bool(text and text.strip())


def _lowered(place: str) -> str:
    """Within a sentence."""
    return f"{place[0].lower()}{place[1:]}"


# --- languages -----------------------------------------------------------------------------------------------------


def _languages(given: Sequence[RawDocument], rules: CorpusRules) -> tuple[str, str]:
    """The languages as told or else found, where no text is in another."""
    sources = [one.sources for one in given if one.sources]
    outputs = [texts for one in given for texts in one.outputs.values()]
    targets = [texts for one in given for texts in one.references] or outputs
    source = language_code(rules.source_language) if rules.source_language else _found(sources)
    target = language_code(rules.target_language) if rules.target_language else _found(targets)
    by_text: dict[str, list[TextLines]] = {}
    for one in given:
        for what, texts in one.every().items():
            by_text.setdefault(what, []).append(texts)
    for what, parts in by_text.items():
        expected, flag = (
            (source, "--source-language") if what == SOURCE_LABEL else (target, "--target-language")
        )
        # Each document by itself, and the text as a whole: documents of a few lines say nothing alone.
        for texts in (*parts, join_lines(parts)):
            _check_language(texts, expected, what, flag)
    return source, target


def _found(texts: Sequence[TextLines]) -> str:
    return detect_language(" ".join(_sample(one) for one in texts[:50])[:_SAMPLE], default="und")


def _sample(texts: TextLines) -> str:
    return " ".join(text for text in texts.texts if text)[:_SAMPLE]


def _check_language(texts: TextLines, expected: str, what: str, flag: str) -> None:
    if found := detect_other_language(texts, expected):
        raise InputError(
            f"{texts.place(0)}: {what} seems to be {language_name(found)} from there on, and {language_name(expected)} is "
            f"expected. If that is wrong, say the language with {flag}.",
            field="language",
        )


def detect_other_language(texts: TextLines, expected: str) -> str:
    """The language of a text that is plainly not in the expected one; nothing where it is, or can't be told."""
    sample = _sample(texts)
    if expected not in LANGUAGE_NAMES or script_counts(sample).total() < _ENOUGH_LETTERS:
        return ""
    found = detect_language(sample, default=expected)
    alike = found == expected or any({found, expected} <= group for group in _ALIKE)
    return "" if alike else found
