"""Build a corpus from raw documents; errors about lengths, empty texts and languages name the file and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ape.errors import InputError
from ape.text.languages import LANGUAGE_NAMES, detect_language, language_code, language_name, script_counts
from eval.corpus.corpus import Corpus, Document
from eval.corpus.raw_document import SOURCE_LABEL, NoteCallback, RawDocument, TextLines, ignore_note, join_lines

# The language of a text with fewer letters is not checked: names and exclamations look like any language.
_ENOUGH_LETTERS = 200
_SAMPLE = 20_000
# Letter statistics do not distinguish these.
_ALIKE = ({"hr", "sr", "sl"}, {"da", "no"}, {"id", "ms"}, {"cs", "sk"}, {"bg", "sr", "ru", "uk"}, {"hi", "ne"})


@dataclass(frozen=True, slots=True)
class CorpusRules:
    """Languages, if they are not to be detected, and what to accept."""

    source_language: str = ""
    target_language: str = ""
    allow_empty: bool = False
    note: NoteCallback = ignore_note


def build_corpus(given: Sequence[RawDocument], rules: CorpusRules, *, name: str = "") -> Corpus:
    """Validate the documents and build the corpus."""
    if not given:
        raise InputError(f"There are no documents in {name or 'the input'}.", field="path")
    systems = tuple(given[0].outputs)
    if not systems:
        raise InputError(
            f"{given[0].location}: there is no output of any system. Give at least one system; a row of JSON has"
            " them in `systems`, by name.",
            field="system",
        )
    for document in given:
        _check_systems(document, systems)
        _check_lengths(document)
        _check_empty(document, rules)
    _note_missing(given, rules)
    source, target = _languages(given, rules)
    documents = tuple(_document(one, systems) for one in given)
    return Corpus(documents, source, target, name, tuple(_caveats(given)))


def _caveats(given: Sequence[RawDocument]) -> Iterator[str]:
    guessed = {name: None for one in given for name, lines in one.outputs.items() if lines.is_guessed}
    if guessed:
        yield (
            f"Outputs of whole documents ({', '.join(guessed)}) were split into segments by similarity to the other "
            "texts, with errors in some segments."
        )


def _document(given: RawDocument, systems: Sequence[str]) -> Document:
    return Document(
        given.id,
        {name: tuple(text or "" for text in given.outputs[name].texts) for name in systems},
        tuple(tuple(text if text and text.strip() else None for text in one.texts) for one in given.references),
        tuple(text or "" for text in given.sources.texts) if given.sources else (),
        given.book,
    )


def _check_systems(document: RawDocument, systems: Sequence[str]) -> None:
    if differing := sorted(document.outputs.keys() ^ set(systems)):
        verb = "lacks" if differing[0] in systems else "is the first with"
        raise InputError(
            f"{document.location}: document {document.id!r} {verb} an output of system {differing[0]!r}. "
            "Every document needs an output of every system.",
            field="system",
        )


def _check_lengths(document: RawDocument) -> None:
    lengths = {what: len(texts) for what, texts in document.texts_by_label().items()}
    if not any(lengths.values()):
        raise InputError(f"{document.location}: document {document.id!r} is empty.", field="document")
    if len(set(lengths.values())) == 1:
        return
    counts = ", ".join(f"{what} has {len(texts)} ({_span(texts)})" for what, texts in document.texts_by_label().items())
    raise InputError(
        f"The texts of document {document.id!r} differ in their number of segments: {counts}.", field="document"
    )


def _span(texts: TextLines) -> str:
    if not texts.numbers:
        return texts.file
    first, last = texts.numbers[0], texts.numbers[-1]
    return f"line {first} of {texts.file}" if first == last else f"lines {first} to {last} of {texts.file}"


def _blank_segments(texts: TextLines) -> Iterator[int]:
    return (place for place in range(len(texts)) if not _has_text(texts, place))


def _check_empty(document: RawDocument, rules: CorpusRules) -> None:
    if document.sources and (place := next(_blank_segments(document.sources), None)) is not None:
        raise InputError(
            f"{document.sources.location(place)}: the source is empty. Remove the segment from every text.",
            field="source",
        )
    for name, texts in document.outputs.items():
        place = next(_blank_segments(texts), None)
        if place is not None and not (rules.allow_empty or texts.is_guessed):
            raise InputError(
                f"{texts.location(place)}: the output of system {name!r} is empty. If the system left out "
                "that segment, allow empty texts, and it is scored as an empty text.",
                field="allow_empty",
            )
    for place in range(len(document.references[0]) if document.references else 0):
        said = [one.texts[place] for one in document.references]
        if any(text and text.strip() for text in said) or None in said or rules.allow_empty:
            continue
        raise InputError(
            f"{document.references[0].location(place)}: the only reference is empty. If the "
            "segment has no translation, allow empty texts, and metrics that need a reference leave it out.",
            field="allow_empty",
        )


def _note_missing(given: Sequence[RawDocument], rules: CorpusRules) -> None:
    """Note each reference that lacks segments."""
    for number in range(max(len(one.references) for one in given)):
        with_reference = [one for one in given if number < len(one.references)]
        names = {one.reference_label(number) for one in with_reference}
        label = names.pop() if len(names) == 1 else f"reference {number + 1}"
        lacking = [one for one in given if number >= len(one.references)]
        if lacking:
            rules.note(
                f"{len(lacking):,} of {len(given):,} documents have no {label}; the first is {lacking[0].id!r} "
                f"({_lowered(lacking[0].location)}). Metrics that need a reference leave out documents without any."
            )
        gaps = [(one, place) for one in with_reference for place in _blank_segments(one.references[number])]
        if gaps:
            first, place = gaps[0]
            segments = sum(len(one.references[number]) for one in with_reference)
            rules.note(
                f"{label[0].upper()}{label[1:]} lacks {len(gaps):,} of {segments:,} segments; the first is "
                f"{_lowered(first.references[number].location(place))}. {_scoring_note(gaps)}"
            )


def _scoring_note(gaps: Sequence[tuple[RawDocument, int]]) -> str:
    """How segments without this reference are scored."""
    alone = sum(not any(_has_text(one, place) for one in document.references) for document, place in gaps)
    if not alone:
        return "These are scored against the other references only."
    if alone == len(gaps):
        return "Metrics that need a reference leave these out."
    return f"Metrics that need a reference leave out {alone:,} of these and score the rest by the others."


def _has_text(texts: TextLines, place: int) -> bool:
    text = texts.texts[place]
    return bool(text and text.strip())


def _lowered(place: str) -> str:
    """Lower-case the first letter, for use within a sentence."""
    return f"{place[0].lower()}{place[1:]}"


# --- languages -----------------------------------------------------------------------------------------------------


def _languages(given: Sequence[RawDocument], rules: CorpusRules) -> tuple[str, str]:
    """The languages given or else detected; InputError if a text is plainly in another."""
    sources = [one.sources for one in given if one.sources]
    outputs = [texts for one in given for texts in one.outputs.values()]
    targets = [texts for one in given for texts in one.references] or outputs
    source = language_code(rules.source_language) if rules.source_language else _detect(sources)
    target = language_code(rules.target_language) if rules.target_language else _detect(targets)
    by_text: dict[str, list[TextLines]] = {}
    for one in given:
        for what, texts in one.texts_by_label().items():
            by_text.setdefault(what, []).append(texts)
    for what, parts in by_text.items():
        is_source = what == SOURCE_LABEL
        expected, field = (source, "source_language") if is_source else (target, "target_language")
        # Each document, and the text as a whole: short documents are not enough alone.
        for texts in (*parts, join_lines(parts)):
            _check_language(texts, expected, what, field)
    return source, target


def _detect(texts: Sequence[TextLines]) -> str:
    return detect_language(" ".join(_sample(one) for one in texts[:50])[:_SAMPLE], default="und")


def _sample(texts: TextLines) -> str:
    return " ".join(text for text in texts.texts if text)[:_SAMPLE]


def _check_language(texts: TextLines, expected: str, what: str, field: str) -> None:
    if found := detect_other_language(texts, expected):
        raise InputError(
            f"{texts.location(0)}: {what} seems to be {language_name(found)} from there on, not "
            f"{language_name(expected)}. If that is wrong, give the {field.replace('_', ' ')}.",
            field=field,
        )


def detect_other_language(texts: TextLines, expected: str) -> str:
    """The language of a text that is plainly not the expected one; "" if it is, or if the text is too short."""
    sample = _sample(texts)
    if expected not in LANGUAGE_NAMES or script_counts(sample).total() < _ENOUGH_LETTERS:
        return ""
    found = detect_language(sample, default=expected)
    alike = found == expected or any({found, expected} <= group for group in _ALIKE)
    return "" if alike else found
