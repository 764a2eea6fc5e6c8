"""Wordings of an English text that may be names: runs of capitalised words, and all parts of such runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ape.text.common_words import is_common_word
from ape.text.inline_marks import MARK
from ape.text.lexicon import load_lexicon

MAX_WORDS = 4
_LETTER = "A-Za-zÀ-ÖØ-öø-ɏ"
_WORD = re.compile(rf"[{_LETTER}]+(?:[-'’][{_LETTER}]+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_NEXT_CAPITAL = re.compile(r"[ \u00a0][A-ZÀ-ÖØ-Þ]")
_JOINT = re.compile(r"[ \u00a0]")
# A capital after one of these is grammar's, not a name's.
_SENTENCE_START = re.compile(r"(?:^|[.!?…:;—–\"“”‘«»([\n]|[.!?]['’])[\s\"“”‘’'«»(\[—–-]*$")
_LOOK_BACK = 12
ADDRESS = frozenset(
    "mr mrs ms miss sir madam madame lord lady master mistress dr doctor professor uncle aunt brother sister old young "
    "little big king queen prince princess captain general colonel elder senior junior president chief boss teacher "
    "maître monsieur mademoiselle grandpa grandma father mother young lady".split()
)


@dataclass(frozen=True, slots=True)
class NameWord:
    """A capitalised word; `initial` if grammar requires the capital there."""

    text: str
    start: int
    end: int
    initial: bool


@dataclass(frozen=True, slots=True)
class NameMention:
    """A wording that may be a name, with its place in the text."""

    text: str
    start: int
    end: int
    initial: bool
    words: int


def name_runs(text: str) -> list[list[NameWord]]:
    """The runs of capitalised words, each word joined to the next by one space."""
    runs: list[list[NameWord]] = []
    last = -2
    grammatical = load_lexicon("en").grammatical
    for match in _WORD.finditer(text):
        raw = match.group()
        if not raw[0].isupper():
            continue
        word = _POSSESSIVE.sub("", raw)
        start, end = match.start(), match.start() + len(word)
        initial = starts_sentence(text, start)
        lower = word.lower()
        # Also "An Xiaoning" and "He Ning": the sound tells which part is the name.
        if lower.startswith(("i'", "i’")) or (lower in grammatical and not _NEXT_CAPITAL.match(text, end)):
            continue
        if last >= 0 and runs and _JOINT.fullmatch(text[last:start]):
            runs[-1].append(NameWord(word, start, end, initial))
        else:
            runs.append([NameWord(word, start, end, initial)])
        # A possessive ends a run: "Anya's Mei".
        last = match.end() if end == match.end() else -2
    return runs


def mentions_of_run(run: list[NameWord], text: str) -> Iterator[NameMention]:
    """Every part of a run of up to four words; a single ordinary word at the start of a sentence is none."""
    for first in range(len(run)):
        for last in range(first, min(len(run), first + MAX_WORDS)):
            start, end = run[first].start, run[last].end
            if first == last and _is_grammar(run[first]):
                continue
            yield NameMention(text[start:end], start, end, run[first].initial, last - first + 1)


def _is_grammar(word: NameWord) -> bool:
    lower = word.text.lower()
    return (word.initial and is_common_word(lower)) or lower in load_lexicon("en").grammatical


def starts_sentence(text: str, start: int) -> bool:
    """Whether the word at this place begins a sentence, a quotation or a title."""
    before = MARK.sub("", text[max(0, start - 4 * _LOOK_BACK) : start])
    if not before and start == 0:
        return True
    # A full stop after a form of address ends no sentence: "Mr. Pons".
    if re.search(r"\b(?:Mr|Mrs|Ms|Dr|St|M|Mme|Mlle)\.\s$", before):
        return False
    return _SENTENCE_START.search(before) is not None


def is_ordinary(wording: str) -> bool:
    """Whether every word of the wording is also an ordinary English word: Will, Grace, Hope, Little Man."""
    return all(is_common_word(word) or word in _NAMES_THAT_ARE_WORDS for word in wording.lower().split())


# Given names and family names that are left out of the list of common words because they are names too.
_NAMES_THAT_ARE_WORDS = frozenset(
    "will grace hope faith joy may june april august rose lily violet ivy olive pearl ruby jade amber mark bill bob "
    "rob jack frank art gene grant guy harry jay ray rich rusty sandy sonny ted victor ward angel autumn dawn eve fern "
    "heather iris jasmine melody miller penny summer sunny wade chance chase cliff dale drew earnest forest glen "
    "hunter mason miles pierce reed rod sky skip stone storm wolf young bell day dean king prince song tang long sun "
    "son wang an he she men min pan pin ping shao tan ye you".split()
)
