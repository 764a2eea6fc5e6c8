"""Pronouns that Chinese leaves out and English needs: of those marked in the source, how many does an output have?

A mark is `<他>_S`: the pronoun and its part in the sentence (subject, object, possessive, reflexive, or unsure).
In each segment and for each person, the pronouns in the output beyond those that the source says outright count as
recovered, up to the number marked. English may do without one too ("before leaving"), so where there is a reference no
more is asked than the reference has. The person counts and not the case, which follows the wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import regex

from ape.errors import InputError
from eval.corpus.annotation_issue import AnnotationIssue
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import Fold, Mark, Metric, MetricCounts, Unmeasured, metric_signature, ratio

PRONOUN_ROLES: Mapping[str, str] = {
    "S": "subject",
    "O": "object",
    "Pa": "possessive",
    "R": "reflexive",
    "UN": "unsure",
}
PRONOUN_FORMS: Mapping[str, frozenset[str]] = {
    "he": frozenset("he him his himself".split()),
    "she": frozenset("she her hers herself".split()),
    "it": frozenset("it its itself".split()),
    "they": frozenset("they them their theirs themselves themself".split()),
    "I": frozenset("i me my mine myself".split()),
    "we": frozenset("we us our ours ourselves".split()),
    "you": frozenset("you your yours yourself yourselves".split()),
    "this": frozenset("this that these those it".split()),
}
_CHINESE = {
    "我们": "we", "咱们": "we", "你们": "you", "他们": "they", "她们": "they", "它们": "they",
    "我": "I", "你": "you", "您": "you", "他": "he", "她": "she", "它": "it", "这": "this", "那": "this",
}  # fmt: skip
_MARK = regex.compile(r"<\s*(?P<pronoun>[^<>_]{1,6}?)\s*(?:>\s*_(?P<role>[A-Za-z]+)|>|_(?P<open>[A-Za-z]+))")
# 其他 is "other", 吉他 a guitar, 他人 other people; 这 and 那 said outright are mostly no pronouns.
_OUTRIGHT = regex.compile(r"我们|咱们|你们|他们|她们|它们|我|你|您|(?<![其吉])他(?!人)|她|(?<!其)它")
_WORD = regex.compile(r"\p{Latin}+")
CHAPTER_LINE = "[doc]"


@dataclass(frozen=True, slots=True)
class DroppedPronoun:
    """A pronoun that is not in the source: where its mark stands, and whom it is about (one of PERSONS)."""

    start: int
    end: int
    pronoun: str
    role: str
    """One of ROLES' values; "unsure" where the mark doesn't say."""
    person: str


def parse_dropped_pronouns(source: str) -> list[DroppedPronoun]:
    """The marks of a source segment."""
    return list(_read(source))


def remove_pronoun_marks(source: str) -> str:
    """The source as its author wrote it; <b>, which names no pronoun and no part of a sentence, is left there."""
    return _MARK.sub(lambda mark: "" if _is_mark(mark) else mark.group(), source)


def dropped_pronoun_share(sources: Sequence[str]) -> float | None:
    """Of the pronouns of a text, said outright or not, those not said; None where there is neither."""
    dropped = sum(len(parse_dropped_pronouns(source)) for source in sources)
    outright = sum(len(_OUTRIGHT.findall(remove_pronoun_marks(source))) for source in sources)
    return dropped / (dropped + outright) if dropped + outright else None


def find_mark_issues(sources: Sequence[str]) -> list[AnnotationIssue]:
    """Marks that are not as they should be; all of them are read nevertheless, but for the pronouns we don't know."""
    slips = []
    for number, source in enumerate(sources, 1):
        for mark in _MARK.finditer(source):
            what = _wrong(mark)
            if what:
                slips.append(AnnotationIssue(number, mark.start() + 1, f"{mark.group()}: {what}"))
        rest = _MARK.sub(lambda mark: " " * len(mark.group()), source)
        slips += [
            AnnotationIssue(number, one.start() + 1, f"a {one.group()!r} of no mark")
            for one in regex.finditer("[<>]", rest)
        ]
    return slips


def _wrong(mark: regex.Match[str]) -> str:
    role = mark["role"] or mark["open"]
    if mark["open"]:
        return "the closing > is missing"
    if role is None:
        return "it doesn't say which part of the sentence is left out"
    if role not in PRONOUN_ROLES:
        return f"{role} is none of {', '.join(PRONOUN_ROLES)}"
    return "" if _person(mark["pronoun"]) else "not a pronoun we know"


def _is_mark(mark: regex.Match[str]) -> bool:
    return bool(_person(mark["pronoun"])) or (mark["role"] or mark["open"]) in PRONOUN_ROLES


def _person(pronoun: str) -> str:
    bare = pronoun.replace("們", "们").replace("自己", "").removesuffix("的").removesuffix("个")
    return _CHINESE.get(bare.strip(), "")


def _read(source: str) -> Iterator[DroppedPronoun]:
    for mark in _MARK.finditer(source):
        person = _person(mark["pronoun"])
        if person:
            role = PRONOUN_ROLES.get(mark["role"] or mark["open"] or "", "unsure")
            yield DroppedPronoun(mark.start(), mark.end(), mark["pronoun"], role, person)


@dataclass(frozen=True, slots=True)
class ZeroPronouns:
    """The share of dropped pronouns that an English output has; by person in its parts."""

    name: str = "zero-pronouns"
    higher_is_better: bool = True
    reads_marks: bool = True
    """Alone among the metrics, it is given the source with its marks."""

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Of each segment, by person: recovered, and how many could be."""
        if why := _undefined(corpus):
            return Unmeasured(why)
        rows, documents = [], []
        for number, document in enumerate(corpus.documents):
            for segment in range(len(document.sources)):
                recovered, wanted = _recovery(document, segment, document.outputs[system][segment])
                rows.append([side[person] for person in PRONOUN_FORMS for side in (recovered, wanted)])
                documents.append(number)
        against = "reference" if any(document.references for document in corpus.documents) else "marks"
        return MetricCounts(
            np.asarray(rows, dtype=float),
            np.asarray(documents, dtype=np.intp),
            _share(range(len(PRONOUN_FORMS))),
            metric_signature(self.name, case="no", against=against),
            parts={person: _share([place]) for place, person in enumerate(PRONOUN_FORMS)},
        )

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """The marks in the source of persons that the output has too few pronouns of."""
        for document in corpus.documents:
            for segment, source in enumerate(document.sources):
                recovered, wanted = _recovery(document, segment, document.outputs[system][segment])
                for one in parse_dropped_pronouns(source):
                    if recovered[one.person] < wanted[one.person]:
                        yield Mark(document.id, segment, "source", one.start, one.end, "lost", one.pronoun)


def _undefined(corpus: Corpus) -> str:
    if corpus.target_language != "en":
        return f"it is defined for English and not for {corpus.target_language}"
    if not any(
        parse_dropped_pronouns(source) for document in corpus.documents for source in document.sources
    ):
        return "no dropped pronoun is marked in the source, as <他>_S"
    return ""


def _recovery(document: Document, segment: int, output: str) -> tuple[Counter[str], Counter[str]]:
    source = document.sources[segment]
    dropped = Counter(one.person for one in parse_dropped_pronouns(source))
    outright = Counter(_CHINESE[match.group()] for match in _OUTRIGHT.finditer(remove_pronoun_marks(source)))
    wanted, references = dropped, document.references_of(segment)
    if references:
        wanted = Counter()
        for reference in references:
            wanted |= _beyond(reference, outright) & dropped
    return _beyond(output, outright) & wanted, wanted


def _beyond(text: str, outright: Counter[str]) -> Counter[str]:
    """By person, the pronouns of an English text beyond those that the source says."""
    # In a text with small letters US is a country.
    words = [word for word in _WORD.findall(text) if word != "US" or text.isupper()]
    lowered = [word.lower() for word in words]
    said = Counter(
        {person: sum(word in forms for word in lowered) for person, forms in PRONOUN_FORMS.items()}
    )
    return said - outright


def _share(places: Sequence[int]) -> Fold:
    above, below = [2 * place for place in places], [2 * place + 1 for place in places]
    return lambda sums: ratio(sums[..., above].sum(axis=-1), sums[..., below].sum(axis=-1))


# --- reading -----------------------------------------------------------------------------------------------------


def read_marked_chapters(source: Path, reference: Path) -> Corpus:
    """Chapters parted by lines `[doc]` on both sides, the marks left in the source; an empty reference is none."""
    ours, theirs = (
        path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n") for path in (source, reference)
    )
    if len(ours) != len(theirs):
        raise InputError(f"{source} has {len(ours)} lines and {reference} {len(theirs)}.")
    chapters: list[list[tuple[str, str]]] = []
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True), 1):
        if (one == CHAPTER_LINE) != (other == CHAPTER_LINE):
            raise InputError(f"Line {number}: only one of {source} and {reference} has {CHAPTER_LINE} there.")
        if one == CHAPTER_LINE:
            chapters.append([])
        elif not chapters:
            raise InputError(
                f"{source}, line {number}: the first chapter should begin with a line {CHAPTER_LINE}."
            )
        else:
            chapters[-1].append((one, other))
    documents = tuple(
        Document(
            f"{source.stem}-{number}",
            {},
            (tuple(other.strip() or None for _, other in lines),),
            tuple(one for one, _ in lines),
        )
        for number, lines in enumerate(filter(None, chapters), 1)
    )
    return Corpus(documents, "zh", "en", source.stem)


def remove_corpus_marks(corpus: Corpus) -> Corpus:
    """The same without the marks, for all that reads the source as a text; the corpus itself if it has none."""
    plain = (replace(one, sources=tuple(map(remove_pronoun_marks, one.sources))) for one in corpus.documents)
    without = replace(corpus, documents=tuple(plain))
    return corpus if without == corpus else without


def corpus_for_metric(metric: Metric, corpus: Corpus) -> Corpus:
    """What a metric is to count: marks of dropped pronouns are words to any but the one that is about them."""
    return corpus if getattr(metric, "reads_marks", False) else remove_corpus_marks(corpus)
