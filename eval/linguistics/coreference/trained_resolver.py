"""Coreference by the trained ranker: all mentions of a text, grouped into entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.linguistics.coreference.described_mention import DescribedText, describe_mentions
from eval.linguistics.coreference.entity_ranker import group_mentions, load_ranker
from eval.linguistics.coreference.genders import pronoun_type
from eval.linguistics.coreference.resolver import CoreferenceResolver, Mention, RuleCoreferenceResolver

_LABELS = {"PERSON": "PER", "FAC": "FAC", "GPE": "GPE", "LOC": "LOC", "ORG": "ORG", "PRODUCT": "VEH"}


@dataclass(frozen=True, slots=True)
class TrainedCoreferenceResolver:
    """English fiction: names, common nouns and pronouns of persons, places, vehicles and organisations.

    Common nouns take the literary annotator; of other annotations, names and pronouns are grouped.
    """

    @property
    def name(self) -> str:
        """The name with a digest of the weights."""
        return f"ranker-{load_ranker().version}"

    def resolve(self, segments: Sequence[Annotation]) -> list[tuple[Mention, ...]]:
        """The mentions of each segment with the number of their entity, in order."""
        text, places = describe_annotations(segments)
        mentions: list[list[tuple[int, Mention]]] = [[] for _ in segments]
        for number, members in enumerate(group_mentions(load_ranker().weights, text)):
            for member in members:
                described = text.mentions[member]
                segment, first = places[described.start]
                tokens = segments[segment].tokens
                last = tokens[first + described.end - described.start - 1]
                found = Mention(str(number), tokens[first].start, last.end, described.kind == "pronoun")
                mentions[segment].append((member, found))
        return [tuple(one for _, one in sorted(inside, key=lambda pair: pair[0])) for inside in mentions]


def default_resolver(annotator: Annotator) -> CoreferenceResolver:
    """The trained resolver for an annotator that finds mentions, else the rules."""
    return TrainedCoreferenceResolver() if annotator.name.startswith("literary") else RuleCoreferenceResolver()


def describe_annotations(
    segments: Sequence[Annotation], *, all_pronouns: bool = False
) -> tuple[DescribedText, list[tuple[int, int]]]:
    """All segments as one text, and the segment and token of each of its words.

    With `all_pronouns`, pronouns that the annotator does not take for mentions are mentions too.
    """
    places = [(number, at) for number, one in enumerate(segments) for at in range(len(one.tokens))]
    tokens = [segments[number].tokens[at] for number, at in places]
    sentences: list[int] = []
    mentions: dict[tuple[int, int], str] = {}
    before = 0
    for one in segments:
        sentences += [before + at for at in one.sentences if at < len(one.tokens)]
        starts = {token.start: at for at, token in enumerate(one.tokens)}
        ends = {token.end: at + 1 for at, token in enumerate(one.tokens)}
        for start, end, kind in _mentions(one, all_pronouns=all_pronouns):
            if start in starts and end in ends:
                mentions[before + starts[start], before + ends[end]] = kind
        before += len(one.tokens)
    words, tags = [token.text for token in tokens], [token.tag for token in tokens]
    return describe_mentions(words, tags, sentences or [0], mentions), places


def _mentions(annotation: Annotation, *, all_pronouns: bool) -> Iterator[tuple[int, int, str]]:
    for one in annotation.mentions:
        yield one.start, one.end, one.kind if one.kind == "pronoun" else f"{one.kind} {one.label}"
    if all_pronouns or not annotation.mentions:
        for token in annotation.tokens:
            if pronoun_type(token.text):
                yield token.start, token.end, "pronoun"
    if annotation.mentions:
        return
    for entity in annotation.entities:
        if entity.label in _LABELS:
            yield entity.start, entity.end, f"name {_LABELS[entity.label]}"
