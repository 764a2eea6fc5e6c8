"""How the translation renders each source form: by sound in the same paragraph, then by co-occurrence.

In each paragraph the forms of its source compete for the capitalised wordings of its translation, so that a wording
counts for the form that it sounds most like. Forms that are translated, not transliterated, are linked to the wording
that occurs where they do and hardly anywhere else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from ape.ledger.entity import LedgerParagraph
from ape.ledger.form_finder import FormFinder
from ape.ledger.source_names import is_chinese_word
from ape.ledger.target_names import ADDRESS, NameMention, is_ordinary, mentions_of_run, name_runs
from ape.text.inline_marks import strip_marks
from ape.text.lexicon import load_lexicon
from ape.text.romanisation import letter_similarity, plain_letters, sound_similarity, syllables

# Measured on fiction in seven outputs: below, wordings are other names by chance.
HEARD = 0.6
# Two forms that sound like a wording nearly as much as each other both lose it.
_TIE = 0.04
_MIN_JOINT = 3
_MIN_SHARE = 0.5
_MIN_SPECIFICITY = 0.7
_WORD_BEFORE = regex.compile(r"([\p{L}\p{M}]+['’]|[\p{L}\p{M}.]+(?=[ \u00a0]))[ \u00a0]?$")


@dataclass(slots=True)
class FormEvidence:
    """What was seen of one source form."""

    form: str
    occurrences: int = 0
    paragraphs: int = 0
    covered: int = 0
    first: str = ""
    last: str = ""
    wordings: Counter[str] = field(default_factory=Counter)
    """Wordings linked to the form, by number of mentions."""
    together: Counter[str] = field(default_factory=Counter)
    """In how many paragraphs of the form a wording that sounds a little like it occurs."""
    with_closer: Counter[str] = field(default_factory=Counter)
    """In how many paragraphs a linked wording occurs together with another one that sounds more like the form."""
    preceded: Counter[str] = field(default_factory=Counter)
    """The source word before the form."""
    swollen: Counter[str] = field(default_factory=Counter)
    """In how many paragraphs a wording also reads the start of the word after the form: "Song Fuli" of 宋扶厉声."""

    @property
    def coverage(self) -> float:
        """The share of its paragraphs with a linked wording."""
        return self.covered / self.paragraphs if self.paragraphs else 0.0


@dataclass(slots=True)
class RenderingCounts:
    """Everything counted over a book."""

    forms: dict[str, FormEvidence]
    wordings: Counter[str] = field(default_factory=Counter)
    """In how many paragraphs each capitalised wording occurs."""
    by_translation: dict[str, str] = field(default_factory=dict)
    """The main wording of forms that do not sound like it."""


def count_renderings(
    paragraphs: Sequence[LedgerParagraph], forms: Iterable[str], language: str, *, targets: Mapping[str, str]
) -> RenderingCounts:
    """Link the forms of each paragraph to wordings of its translation; `targets` are renderings known already."""
    counted = RenderingCounts({form: FormEvidence(form) for form in forms})
    finder = FormFinder(counted.forms, language)
    joint: dict[str, Counter[str]] = defaultdict(Counter)
    for paragraph in paragraphs:
        _count_paragraph(paragraph, finder, counted, joint, language, targets)
    _link_translations(counted, joint)
    return counted


def _count_paragraph(
    paragraph: LedgerParagraph,
    finder: FormFinder,
    counted: RenderingCounts,
    joint: dict[str, Counter[str]],
    language: str,
    targets: Mapping[str, str],
) -> None:
    source, mt = strip_marks(paragraph.source), strip_marks(paragraph.mt)
    hits: Counter[str] = Counter()
    swollen: dict[str, set[str]] = defaultdict(set)
    for place, form in finder.find(source):
        hits[form] += 1
        swollen[form].update(swollen_readings(source, place, form, language))
        before = _WORD_BEFORE.search(source, max(0, place - 20), place)
        counted.forms[form].preceded[before[1].lower().replace("’", "'") if before else ""] += 1
    mentions = [mention for run in name_runs(mt) for mention in mentions_of_run(run, mt)]
    counted.wordings.update({mention.text for mention in mentions})
    for form, times in hits.items():
        evidence = counted.forms[form]
        evidence.occurrences += times
        evidence.paragraphs += 1
        evidence.first = evidence.first or paragraph.id
        evidence.last = paragraph.id
    taken: list[tuple[int, int]] = []
    linked: dict[str, list[str]] = defaultdict(list)
    exact = {form: {plain_letters(targets.get(form, "")), *swollen[form]} for form in hits}
    for form, mention in link_by_sound(list(hits), mentions, language, exact=exact):
        counted.forms[form].wordings[mention.text] += 1
        taken.append((mention.start, mention.end))
        linked[form].append(mention.text)
    for text in {mention.text for mention in mentions}:
        letters = plain_letters(text)
        for form in hits:
            if sound_similarity(form, text, language) >= HEARD or letters in exact[form]:
                counted.forms[form].together[text] += 1
                counted.forms[form].swollen[text] += letters in swollen[form]
    for form, texts in linked.items():
        counted.forms[form].covered += 1
        counted.forms[form].with_closer.update(set(texts) - {texts[0]})
    free = {mention.text for mention in mentions if not _overlaps(mention, taken)}
    for form in hits.keys() - linked:
        joint[form].update(free)


def swollen_readings(source: str, start: int, form: str, language: str) -> Iterator[str]:
    """Readings of a Chinese name with the first characters of the word after it, which MT takes for its end."""
    end = start + len(form)
    if language == "zh" and any(is_chinese_word(source[end : end + size]) for size in (2, 3)):
        yield from ("".join(syllables(source[start : end + more], language)) for more in (1, 2))


def link_by_sound(
    forms: Sequence[str], mentions: Sequence[NameMention], language: str, *, exact: Mapping[str, Container[str]]
) -> Iterator[tuple[str, NameMention]]:
    """The wordings that sound like forms, the most similar first; no two overlap, and ties are left out.

    `exact` has letters that are a form's for certain.
    """
    heard = []
    for mention in mentions:
        letters = plain_letters(mention.text)
        scores = sorted(
            (
                (1.0 if letters in exact[form] else sound_similarity(form, mention.text, language), form)
                for form in forms
            ),
            reverse=True,
        )
        if scores and scores[0][0] >= HEARD:
            tied = len(scores) > 1 and scores[0][0] - scores[1][0] < _TIE
            heard.append((scores[0][0], mention.words, scores[0][1], mention, tied))
    heard.sort(key=lambda one: (-one[0], one[1], one[3].start))
    taken: list[tuple[int, int]] = []
    for _, _, form, mention, tied in heard:
        if not _overlaps(mention, taken):
            taken.append((mention.start, mention.end))
            if not tied:
                yield form, mention


def _overlaps(mention: NameMention, taken: Iterable[tuple[int, int]]) -> bool:
    return any(mention.start < last and first < mention.end for first, last in taken)


def _link_translations(counted: RenderingCounts, joint: dict[str, Counter[str]]) -> None:
    """Link forms that are mostly not heard to the wording that occurs with them and hardly elsewhere."""
    heard = {
        wording
        for evidence in counted.forms.values()
        if evidence.coverage >= _MIN_SHARE
        for wording in evidence.wordings
    }
    for form, texts in joint.items():
        evidence = counted.forms[form]
        if evidence.coverage >= _MIN_SHARE or evidence.paragraphs < _MIN_JOINT:
            continue
        best = ("", 0.0)
        for text, both in texts.items():
            if both < max(_MIN_JOINT, _MIN_SHARE * evidence.paragraphs) or text in heard:
                continue
            if both < _MIN_SPECIFICITY * counted.wordings[text] or not _may_be_name(text):
                continue
            dice = 2 * both / (evidence.paragraphs + counted.wordings[text])
            # "Black Hawk" rather than "Black" or "Hawk".
            if dice * (1 + 0.1 * text.count(" ")) > best[1]:
                best = (text, dice * (1 + 0.1 * text.count(" ")))
        if best[0]:
            counted.by_translation[form] = best[0]
            right = plain_letters(best[0])
            evidence.wordings = Counter(
                {
                    text: n
                    for text, n in texts.items()
                    if letter_similarity(plain_letters(text), right) >= HEARD and _may_be_name(text)
                }
            )
            evidence.together = Counter(texts)
            evidence.covered = max(evidence.covered, texts[best[0]])


def _may_be_name(text: str) -> bool:
    """Whether a wording can be the rendering of a name: not a form of address, not one ordinary word."""
    words = text.lower().split()
    if words[0] in load_lexicon("en").grammatical or set(words) <= ADDRESS:
        return False
    return len(words) > 1 or not is_ordinary(text)
