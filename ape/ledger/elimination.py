"""Link wordings that translate a name word by word, then by elimination what is left for the one name that is missing.

A translation of a Chinese name, character by character, is recognised wherever the source has the name. Any other
wording is the entity's for certain only if it belongs to no other name, occurs nowhere else in the book, and sounds or
is spelt a little like the name: "Black Eagle" for "Black Hawk".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import regex

from ape.ledger.character_glosses import CharacterGlosses
from ape.ledger.entity import Entity, EntityKind, Ledger, LedgerParagraph, Variant
from ape.ledger.links import LedgerIndex
from ape.ledger.renderings import HEARD
from ape.ledger.source_names import names_in
from ape.ledger.target_names import ADDRESS, NameWord, is_ordinary, mentions_of_run, name_runs
from ape.text.common_words import is_common_word
from ape.text.inline_marks import strip_marks
from ape.text.lexicon import load_lexicon
from ape.text.romanisation import letter_similarity, plain_letters, sound_similarity, syllables

# Less than what links by sound alone: here no other name of the paragraph is left.
_LIKE = 0.5
# A translation of the characters may also stand in paragraphs whose source has a pronoun instead.
_SPECIFIC = 0.8
# One word alone may mean a character by chance.
_TRANSLATED_WORDS = 2


def link_by_elimination(ledger: Ledger, paragraphs: Sequence[LedgerParagraph], seen: Mapping[str, int]) -> Ledger:
    """The ledger with the variants found; `seen` has the number of paragraphs with each wording."""
    index = LedgerIndex(ledger)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    forms = "".join(form.text for entity in index.entities.values() for form in entity.source_forms)
    glosses = CharacterGlosses.load(forms if ledger.source_language == "zh" else "")
    for paragraph in paragraphs:
        for key, wording in _links(paragraph, index, glosses, seen):
            votes[key][wording] += 1
    entities = (
        _with_variants(entity, votes[entity.id], seen, glosses, ledger.source_language) for entity in ledger.entities
    )
    return replace(ledger, entities=tuple(entities))


def _links(
    paragraph: LedgerParagraph, index: LedgerIndex, glosses: CharacterGlosses, seen: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """Translations of names, doubtful wordings of entities without another one, and what is left by elimination."""
    source, mt = strip_marks(paragraph.source), strip_marks(paragraph.mt)
    keys = index.counts_in(source)
    if not keys:
        return
    known = {key: (*index.wordings[key].right, *index.wordings[key].wrong) for key in keys}
    runs = name_runs(mt)
    translated = {found for run in runs for found in _translations(run, mt, keys, index, glosses)}
    found = {key for key, _ in translated}
    missing = [
        key
        for key in keys
        if index.entities[key].target and key not in found and not any(text in mt for text in known[key])
    ]
    doubtful = {(key, text) for key in missing for text in index.wordings[key].doubtful if text in mt}
    yield from translated | doubtful
    taken = {*(one for texts in known.values() for one in texts), *(text for _, text in translated)}
    parts = {_name_part(run, mt, seen) for run in runs} - {""}
    free = {text for text in parts if not any(one in text for one in taken)}
    recurring = {text for text in free if " " in text and seen.get(text, 0) > 1} if glosses.words else set()
    recurrent = _translated_again(recurring, mt, keys, known, found, index, glosses) if recurring else set()
    yield from recurrent - doubtful
    if len(missing) == len(free) == 1 and not recurrent and not _has_other_names(source, keys, index):
        yield from {(missing[0], free.pop())} - doubtful


def _mentions(mt: str, wordings: Iterable[str]) -> int:
    """How often the known wordings of an entity occur, parts of longer ones not counted."""
    choice = "|".join(map(regex.escape, sorted(wordings, key=len, reverse=True)))
    return len(regex.findall(rf"\b(?:{choice})\b", mt)) if choice else 0


def _translated_again(
    recurring: Iterable[str],
    mt: str,
    keys: Counter[str],
    known: Mapping[str, Iterable[str]],
    found: Container[str],
    index: LedgerIndex,
    glosses: CharacterGlosses,
) -> set[tuple[str, str]]:
    """Wordings that recur and translate a character of one entity that is named more often than rendered."""
    links = [
        (key, text)
        for key in keys
        if index.entities[key].target and key not in found and _mentions(mt, known[key]) < keys[key]
        for text in recurring
        if any(glosses.translates(form.text, text) for form in index.entities[key].source_forms)
    ]
    owners, texts = Counter(key for key, _ in links), Counter(text for _, text in links)
    return {(key, text) for key, text in links if owners[key] == texts[text] == 1}


def _translations(
    run: list[NameWord], mt: str, keys: Iterable[str], index: LedgerIndex, glosses: CharacterGlosses
) -> Iterator[tuple[str, str]]:
    """The longest part of a run that translates the characters of one entity only: "East Palace" for 东宫.

    A form of address after it belongs to it, a grammatical word before it does not: "Third Young Master" is no
    translation of two characters, and "Before Tang Dancing" of none.
    """
    if not glosses.words or len(run) < _TRANSLATED_WORDS:
        return
    grammatical = load_lexicon("en").grammatical
    addressed = {before.end for before, word in pairwise(run) if word.text.lower() in ADDRESS}
    grammar = {word.start for word in run if word.text.lower() in grammatical}
    mentions = (one for one in mentions_of_run(run, mt) if one.end not in addressed and one.start not in grammar)
    for mention in sorted(mentions, key=lambda one: -one.words):
        if mention.words < _TRANSLATED_WORDS:
            return
        owners = [
            key
            for key in keys
            if _is_open(mention.text, index.entities[key], glosses)
            and any(glosses.spells_out(form.text, mention.text) for form in index.entities[key].source_forms)
        ]  # fmt: skip
        if owners:
            if len(owners) == 1:
                yield owners[0], mention.text
            return


def _is_open(wording: str, entity: Entity, glosses: CharacterGlosses) -> bool:
    """Whether a translation may be linked: the right wording is no part of it, and a reading or translation itself."""
    if not entity.target or f" {entity.target} " in f" {wording} ":
        return False
    if _is_short(entity):
        return False
    return entity.vouched or any(
        sound_similarity(form.text, entity.target, "zh") >= HEARD or glosses.translates(form.text, entity.target)
        for form in entity.source_forms
    )


def _is_short(entity: Entity) -> bool:
    """Whether the right wording reads only the start of the name, and a translation says more: Guanglong, 光龙匕."""
    if entity.vouched:
        return False
    readings = [syllables(form.text, "zh") for form in entity.source_forms]
    starts = {"".join(reading[:size]) for reading in readings for size in range(1, len(reading))}
    return plain_letters(entity.target) in starts - {"".join(reading) for reading in readings}


def _name_part(run: Sequence[NameWord], mt: str, seen: Mapping[str, int]) -> str:
    """The run without the ordinary words that begin its sentence; "" if nothing of a name is left.

    A run that is in another paragraph too is a name as it is: "Forest Prosper".
    """
    grammatical = load_lexicon("en").grammatical
    while run and (run[0].text.lower() in grammatical or (run[0].initial and is_common_word(run[0].text.lower()))):
        if len(run) > 1 and run[0].text.lower() not in grammatical and seen.get(mt[run[0].start : run[-1].end], 0) > 1:
            break
        run = run[1:]
    while run and run[0].text.lower() in ADDRESS:
        run = run[1:]
    return mt[run[0].start : run[-1].end] if run else ""


def _has_other_names(source: str, keys: Counter[str], index: LedgerIndex) -> bool:
    forms = [form.text for key in keys for form in index.entities[key].source_forms]
    names = names_in(source, index.ledger.source_language)
    return any(not any(name in form or form in name for form in forms) for name in names)


def _with_variants(
    entity: Entity, votes: Counter[str], seen: Mapping[str, int], glosses: CharacterGlosses, language: str
) -> Entity:
    known = {variant.text: variant for variant in entity.variants}
    for text, count in votes.items():
        if language != "zh" and entity.kind is not EntityKind.PERSON:
            continue
        translates = not _is_short(entity) and any(glosses.translates(form.text, text) for form in entity.source_forms)
        if (translates and count >= _SPECIFIC * seen.get(text, 0)) or (
            count == seen.get(text) and _is_alike(text, entity, language)
        ):
            known[text] = Variant(text, max(count, known[text].count if text in known else 0))
    return replace(entity, variants=tuple(sorted(known.values(), key=lambda one: (-one.count, one.text))))


def _is_alike(text: str, entity: Entity, language: str) -> bool:
    if is_ordinary(text) and " " in text:
        return False
    heard = (sound_similarity(form.text, text, language) for form in entity.source_forms)
    return max(letter_similarity(plain_letters(text), plain_letters(entity.target)), *heard) >= _LIKE
