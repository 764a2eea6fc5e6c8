"""What a resolver knows of each mention: kind, type, gender, words, place, and the speech around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eval.linguistics.coreference.genders import POSSESSIVES, MentionGender, gender_of_words, pronoun_type
from eval.linguistics.coreference.quotations import find_quotations, quotation_of_words

_DETERMINERS = {
    **dict.fromkeys(("the", "this", "that", "these", "those"), "definite"),
    **dict.fromkeys(("a", "an", "some", "any", "no", "every", "each", "another", "many", "several"), "indefinite"),
    **dict.fromkeys(POSSESSIVES, "possessive"),
}
_PHRASE_END = frozenset((",", "(", "--", "-", ":", ";", "who", "whom", "whose", "which", "that", "where", "and", "or"))
_FINITE = frozenset(("VBD", "VBZ", "VBP", "MD"))
_TITLES = frozenset("mr mrs miss ms dr sir lord lady captain colonel the of de and von van".split())
_SPEECH = frozenset(
    """said says say cried asked replied answered exclaimed returned added continued whispered observed remarked
    shouted repeated murmured muttered inquired began called responded demanded told went growled sighed laughed
    screamed declared thought""".split()
)
_SPEAKER_DISTANCE = 8


@dataclass(frozen=True, slots=True)
class DescribedMention:
    """A mention by its words and its place in the text."""

    start: int
    end: int
    kind: str
    """name, common or pronoun."""
    label: str
    """PER, FAC, GPE, LOC, VEH or ORG."""
    pronoun: str
    gender: MentionGender
    head: str
    head_place: int
    content: frozenset[str]
    """Its words without determiners and titles, in lower case."""
    determiner: str
    sentence: int
    quotation: int
    role: str
    """subject, object, complement or other, by the tags around it."""

    @property
    def text(self) -> str:
        """Its content in alphabetical order, for exact matches."""
        return " ".join(sorted(self.content))


@dataclass(frozen=True, slots=True)
class DescribedText:
    """The words of a text and its mentions in order."""

    words: Sequence[str]
    tags: Sequence[str]
    mentions: Sequence[DescribedMention]
    speakers: Mapping[int, int] = field(default_factory=dict)
    """The place in `mentions` of the speaker of a quotation."""


def describe_mentions(
    words: Sequence[str], tags: Sequence[str], sentences: Sequence[int], mentions: Mapping[tuple[int, int], str]
) -> DescribedText:
    """Describe mentions given by their spans and kinds ("pronoun", "name PER", "common FAC" …)."""
    quotations = find_quotations(words)
    of_word = quotation_of_words(len(words), quotations)
    found: list[DescribedMention] = []
    for (start, end), described in sorted(mentions.items(), key=lambda one: (one[0][0], -one[0][1])):
        kind, _, label = described.partition(" ")
        head = head_place(words, tags, start, end)
        inside = words[start:end]
        found.append(
            DescribedMention(
                start,
                end,
                kind,
                label or "PER",
                (pronoun_type(words[start]) or "other") if kind == "pronoun" else "",
                gender_of_words(inside, tags[start:end], kind=kind, head=head - start),
                words[head].lower(),
                head,
                _content(words[start : head + 1]),
                _DETERMINERS.get(words[start].lower(), "none") if kind == "common" else "none",
                bisect_right(sentences, start) - 1,
                of_word[start],
                _role(words, tags, start, end),
            )
        )
    speakers = _speakers(words, [(one.start, one.end) for one in quotations], found)
    return DescribedText(words, tags, found, speakers)


def head_place(words: Sequence[str], tags: Sequence[str], start: int, end: int) -> int:
    """The last noun before a preposition, comma or relative clause."""
    stop = end
    for place in range(start + 1, end):
        if words[place].lower() in _PHRASE_END or tags[place] in ("IN", "VBG", "VBN", "VBD", "TO", "WP", "WDT"):
            stop = place
            break
    for place in range(stop - 1, start - 1, -1):
        if tags[place].startswith(("NN", "PRP", "FW")) or words[place][:1].isupper():
            return place
    return max(start, stop - 1)


def _content(words: Iterable[str]) -> frozenset[str]:
    low = (word.lower().rstrip(".") for word in words)
    return frozenset(word for word in low if word not in _DETERMINERS and word not in _TITLES and word.isalnum())


def _role(words: Sequence[str], tags: Sequence[str], start: int, end: int) -> str:
    after = end
    while after < len(words) and tags[after].startswith("RB"):
        after += 1
    if after < len(words) and tags[after] in _FINITE:
        return "subject"
    before = tags[start - 1] if start else ""
    return "object" if before.startswith("V") else "complement" if before in ("IN", "TO") else "other"


def _speakers(
    words: Sequence[str], quotations: Sequence[tuple[int, int]], mentions: Sequence[DescribedMention]
) -> dict[int, int]:
    """The mention beside a verb of speech that stands next to a quotation."""
    starts = [one.start for one in mentions]
    found: dict[int, int] = {}
    for number, (start, end) in enumerate(quotations):
        limit = quotations[number + 1][0] if number + 1 < len(quotations) else len(words)
        since = quotations[number - 1][1] if number else 0
        after = range(end, min(limit, end + _SPEAKER_DISTANCE))
        before = range(max(since, start - _SPEAKER_DISTANCE), start)
        for window in (after, before):
            if not any(words[place].lower() in _SPEECH for place in window):
                continue
            places = [
                place
                for place in range(bisect_right(starts, window.start - 1), bisect_right(starts, window.stop - 1))
                if mentions[place].label == "PER" and mentions[place].end - mentions[place].start <= 6
            ]
            if places:
                found[number] = places[0]
                break
    return found
