"""Words that were translated in several ways, with every rendering in its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eval.linguistics.annotators.protocol import Token
from eval.metrics.ltcr.chains import LexicalChain
from eval.metrics.ltcr.linked_document import LinkedDocument
from eval.metrics.ltcr.renderings import WordRendering
from eval.metrics.metric import Mark

NOT_FOUND = "(not found)"
# Tags of names in the Chinese and the Penn Treebank.
_NAMES = frozenset({"NR", "NNP", "NNPS"})


@dataclass(frozen=True, slots=True)
class RenderedOccurrence:
    """One occurrence: the source sentence and its translation, with the spans of the word and of its rendering."""

    segment: int
    source: str
    at: tuple[int, int]
    output: str
    spans: tuple[tuple[int, int], ...]
    """Empty if no rendering was found."""
    group: int
    """The index of its rendering; 0 is the most frequent."""

    @property
    def rendering(self) -> str:
        """The rendering as it is in the output."""
        words = [self.output[start:end] for start, end in self.spans]
        return " ".join(words) or NOT_FOUND

    def highlighted_output(self, before: str = "[", after: str = "]") -> str:
        """The translation with the rendering highlighted."""
        pieces, place = [], 0
        for start, end in self.spans:
            pieces += [self.output[place:start], before, self.output[start:end], after]
            place = end
        return "".join((*pieces, self.output[place:]))


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A source word of one document with all its occurrences, in reading order."""

    document: str
    word: str
    different: int
    """Pairs of occurrences that are not translated alike."""
    pairs: int
    occurrences: tuple[RenderedOccurrence, ...]
    is_name: bool = False
    """Whether most occurrences are tagged as names."""

    @property
    def clashes(self) -> int:
        """Pairs of occurrences with different renderings, both found."""
        found = [one.group for one in self.occurrences if one.spans]
        alike = sum(found.count(group) for group in found)
        return (len(found) ** 2 - alike) // 2

    @property
    def examples(self) -> tuple[tuple[RenderedOccurrence, int], ...]:
        """The first occurrence and the number of each rendering, most frequent first; not found last."""
        seen: dict[str | int, list[RenderedOccurrence]] = {}
        for one in self.occurrences:
            seen.setdefault(one.group if one.spans else NOT_FOUND, []).append(one)
        in_order = sorted(seen.values(), key=lambda group: (not group[0].spans, -len(group)))
        return tuple((group[0], len(group)) for group in in_order)

    @property
    def renderings(self) -> tuple[tuple[str, int], ...]:
        """Each rendering in its first form with its number, most frequent first."""
        groups: dict[int, list[RenderedOccurrence]] = {}
        for one in self.occurrences:
            groups.setdefault(one.group, []).append(one)
        return tuple((groups[group][0].rendering, len(groups[group])) for group in sorted(groups))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: each rendering with one sentence."""
        return {
            "document": self.document,
            "word": self.word,
            "clashes": self.clashes,
            "renderings": [
                {
                    "rendering": one.rendering if one.spans else None,
                    "times": times,
                    "segment": one.segment + 1,
                    "source": one.source,
                    "output": one.output,
                }
                for one, times in self.examples
            ],
        }

    def marks(self) -> Iterator[Mark]:
        """Marks of the renderings that are not the most frequent, and of their source words."""
        usual = self.renderings[0][0]
        for one in self.occurrences:
            if one.group:
                note = f"{self.word}: {one.rendering}, elsewhere {usual}"
                yield Mark(self.document, one.segment, "source", *one.at, kind="inconsistent", note=note)
                for start, end in one.spans:
                    yield Mark(self.document, one.segment, "output", start, end, kind="inconsistent", note=note)


def build_inconsistency(linked: LinkedDocument, chain: LexicalChain, found: Sequence[WordRendering]) -> Inconsistency:
    """Build from a chain and its renderings; `different` is 0 if they are all alike."""
    groups = _groups(found)
    occurrences = []
    for (segment, place), rendering, group in zip(chain.places, found, groups, strict=True):
        here = linked.segments[segment]
        token = here.source[place]
        occurrences.append(
            RenderedOccurrence(
                segment,
                linked.document.sources[segment],
                (token.start, token.end),
                linked.outputs[segment],
                _spans(here.target, rendering.places),
                group,
            )
        )
    pairs = [(one, other) for one, other, _ in chain.pairs()]
    different = sum(not found[one].equals(found[other]) for one, other in pairs)
    tags = [linked.segments[segment].source[place].tag for segment, place in chain.places]
    return Inconsistency(
        linked.document.id,
        chain.word,
        different,
        len(pairs),
        tuple(occurrences),
        2 * sum(tag in _NAMES for tag in tags) > len(tags),
    )


def _groups(found: Sequence[WordRendering]) -> list[int]:
    """The rendering index of each occurrence, by frequency; each one not found is alone."""
    members: list[list[int]] = []
    for number, rendering in enumerate(found):
        fitting = (group for group in members if found[group[0]].equals(rendering))
        group = next(fitting, None)
        if group is None:
            members.append([number])
        else:
            group.append(number)
    members.sort(key=lambda group: (-len(group), not found[group[0]].stems, group[0]))
    return [place for number in range(len(found)) for place, group in enumerate(members) if number in group]


def _spans(target: Sequence[Token], places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Spans of the words; adjacent words are one span."""
    spans: list[tuple[int, int]] = []
    last = -2
    for place in places:
        start = spans.pop()[0] if place == last + 1 else target[place].start
        spans.append((start, target[place].end))
        last = place
    return tuple(spans)
