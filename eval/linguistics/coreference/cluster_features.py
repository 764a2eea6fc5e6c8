"""Features of a mention beside each entity found so far, and beside the choice of a new entity.

The entities are arrays that grow as the text is read, so that a mention is compared with all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.linguistics.coreference.described_mention import DescribedMention, DescribedText
from eval.linguistics.coreference.genders import GENDERS, PRONOUN_TYPES, REFLEXIVES

Floats: TypeAlias = NDArray[np.float32]

TYPES = ("name", "common", *PRONOUN_TYPES)
LABELS = ("PER", "FAC", "GPE", "LOC", "VEH", "ORG")
_DETERMINERS = ("none", "definite", "indefinite", "possessive")
_ROLES = ("subject", "object", "complement", "other")
_SENTENCES = (0, 1, 2, 4, 8, 16, 32)
_RECENT = 6
"""Sentences that count as recent."""
_MENTION = len(TYPES) + len(GENDERS) + len(_DETERMINERS) + len(_ROLES) + 3
_CLUSTER = 2 * len(TYPES) + len(GENDERS) + len(_ROLES) + 3
_PAIR = len(_SENTENCES) + 32
FEATURES = 1 + _MENTION + _CLUSTER + _PAIR
_COPULAS = frozenset("is was are were be been being am became".split())


@dataclass(slots=True)
class EntityClusters:
    """The entities of a text so far."""

    text: DescribedText
    members: list[list[int]] = field(default_factory=list)
    _last: list[DescribedMention] = field(default_factory=list)
    _counts: Floats = field(default_factory=lambda: np.zeros((64, len(TYPES) + len(GENDERS) + len(LABELS)), np.float32))
    _strings: dict[str, dict[int, None]] = field(default_factory=dict)
    _heads: dict[str, dict[int, None]] = field(default_factory=dict)
    _names: dict[str, dict[int, None]] = field(default_factory=dict)
    _name_words: list[set[str]] = field(default_factory=list)
    _of: dict[int, int] = field(default_factory=dict)
    """The entity of each mention."""

    def add(self, place: int, entity: int) -> None:
        """Put a mention into an entity, which may be a new one."""
        mention = self.text.mentions[place]
        if entity == len(self.members):
            self.members.append([])
            self._last.append(mention)
            self._name_words.append(set())
            if entity == len(self._counts):
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self.members[entity].append(place)
        self._of[place] = entity
        self._last[entity] = mention
        counts = self._counts[entity]
        counts[_type(mention)] += 1
        if mention.gender != "unknown":
            counts[len(TYPES) + GENDERS.index(mention.gender)] += 1
        counts[len(TYPES) + len(GENDERS) + LABELS.index(mention.label)] += 1
        if mention.kind != "pronoun":
            self._strings.setdefault(mention.text, {})[entity] = None
            self._heads.setdefault(mention.head, {})[entity] = None
            if mention.kind == "name":
                self._name_words[entity] |= mention.content
                for word in mention.content:
                    self._names.setdefault(word, {})[entity] = None

    def features(self, place: int, mention: DescribedMention | None = None) -> Floats:
        """One row for each entity, and a last one for a new entity; `mention` is another one to put in this place."""
        mention = mention or self.text.mentions[place]
        number = len(self.members)
        rows = np.zeros((number + 1, FEATURES), np.float32)
        rows[:, 1 : 1 + _MENTION] = self._mention_features(mention)
        rows[number, 0] = 1
        if number:
            known = rows[:number, 1 + _MENTION :]
            self._cluster_features(known[:, :_CLUSTER])
            self._pair_features(place, mention, known[:, _CLUSTER:])
        return rows

    def fitting(self, mention: DescribedMention) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """The entities that a mention does not contradict, and how many sentences ago each was mentioned."""
        return self._fits(mention), mention.sentence - np.array([one.sentence for one in self._last], dtype=np.intp)

    def _mention_features(self, mention: DescribedMention) -> Floats:
        row = np.zeros(_MENTION, np.float32)
        row[_type(mention)] = 1
        at = len(TYPES)
        if mention.gender != "unknown":
            row[at + GENDERS.index(mention.gender)] = 1
        at += len(GENDERS)
        row[at + _DETERMINERS.index(mention.determiner)] = 1
        at += len(_DETERMINERS)
        row[at + _ROLES.index(mention.role)] = 1
        at += len(_ROLES)
        row[at : at + 3] = (mention.quotation >= 0, mention.label == "PER", np.log1p(mention.end - mention.start))
        return row

    def _cluster_features(self, rows: Floats) -> None:
        number = len(rows)
        counts = self._counts[:number]
        types = len(TYPES)
        rows[:, :types] = np.minimum(counts[:, :types], 3) / 3
        rows[np.arange(number), [types + _type(one) for one in self._last]] = 1
        genders = counts[:, types : types + len(GENDERS)]
        at = 2 * types
        rows[:, at : at + len(GENDERS)] = genders / np.maximum(1, genders.sum(axis=1, keepdims=True))
        at += len(GENDERS)
        rows[np.arange(number), [at + _ROLES.index(one.role) for one in self._last]] = 1
        at += len(_ROLES)
        rows[:, at] = np.log1p(counts[:, :types].sum(axis=1))
        rows[:, at + 1] = [one.quotation >= 0 for one in self._last]
        rows[:, at + 2] = counts[:, types + len(GENDERS)] / np.maximum(1, counts[:, types + len(GENDERS) :].sum(axis=1))

    def _pair_features(self, place: int, mention: DescribedMention, rows: Floats) -> None:
        number = len(rows)
        everyone = np.arange(number)
        lasts = self._last
        last_places = np.array([members[-1] for members in self.members])
        distance = mention.sentence - np.array([one.sentence for one in lasts])
        rows[everyone, np.searchsorted(_SENTENCES, distance, side="right") - 1] = 1
        pair = rows[:, len(_SENTENCES) :]
        pair[:, 0] = np.log1p(place - last_places)
        order = np.argsort(-last_places)
        rank = np.empty(number)
        rank[order] = np.arange(number)
        pair[:, 1] = np.log1p(rank)
        fits = self._fits(mention)
        ranked = np.cumsum(fits[order])[rank.astype(int)] - fits
        pair[:, 2] = np.log1p(ranked)
        pair[:, 3] = fits
        pair[:, 4] = fits * (ranked == 0)
        counts = self._counts[:number]
        labels = counts[:, len(TYPES) + len(GENDERS) :]
        pair[:, 5] = labels[:, LABELS.index(mention.label)] / np.maximum(1, labels.sum(axis=1))
        if mention.kind != "pronoun":
            self._match_strings(mention, pair)
        self._speech(place, mention, pair)
        pair[:, 12] = [one.start <= mention.start and mention.end <= one.end for one in lasts]
        for entity, column in self._nearby_entities(place, mention):
            pair[entity, column] = 1
        recent = mention.sentence - _RECENT
        pair[:, 17] = np.log1p(
            [sum(self.text.mentions[at].sentence >= recent for at in members[-12:]) for members in self.members]
        )
        same = distance == 0
        is_reflexive = self.text.words[mention.start].lower() in REFLEXIVES
        pair[:, 18] = same & is_reflexive
        subjects = np.array([one.role == "subject" for one in lasts])
        pair[:, 19] = same & subjects & (mention.role != "subject") & (mention.kind == "pronoun") & (not is_reflexive)
        pair[:, 20] = subjects & (mention.role == "subject")
        own = _type(mention)
        pair[:, 21] = (counts[:, own] > 0) & (mention.kind == "pronoun")
        pair[:, 22] = [one.kind == mention.kind and one.text == mention.text and one.kind != "pronoun" for one in lasts]
        pair[:, 23] = [one.quotation == mention.quotation for one in lasts]
        pair[:, 24] = pair[:, 23] * (mention.quotation >= 0) * pair[:, 21]
        pair[:, 25] = (mention.quotation < 0) & np.array([one.quotation < 0 for one in lasts]) & (pair[:, 21] > 0)

    def _fits(self, mention: DescribedMention) -> NDArray[np.bool_]:
        """The entities whose known gender and type do not contradict the mention's."""
        counts = self._counts[: len(self.members)]
        genders = counts[:, len(TYPES) : len(TYPES) + len(GENDERS)]
        known = genders.sum(axis=1)
        labels = counts[:, len(TYPES) + len(GENDERS) :]
        persons = labels[:, 0] >= labels.sum(axis=1) / 2
        if mention.pronoun == "it":
            return np.asarray(~persons & ((known == 0) | (genders[:, 2] > 0)))
        if mention.gender == "unknown":
            return np.asarray(persons == (mention.label == "PER"))
        own = genders[:, GENDERS.index(mention.gender)]
        fits = (known == 0) | (own * 2 >= known)
        if mention.gender in ("masculine", "feminine"):
            fits &= persons
        return np.asarray(fits)

    def _match_strings(self, mention: DescribedMention, pair: Floats) -> None:
        for entity in self._strings.get(mention.text, ()):
            pair[entity, 6] = 1
        for entity in self._heads.get(mention.head, ()):
            pair[entity, 7] = 1
        if mention.kind != "name":
            return
        for word in mention.content:
            for entity in self._names.get(word, ()):
                known = self._name_words[entity]
                pair[entity, 8] = 1
                pair[entity, 9] = mention.content <= known or known <= mention.content
                pair[entity, 10] = bool(mention.content - known) and bool(known - mention.content)
        known_names = np.array([bool(words) for words in self._name_words])
        pair[:, 11] = known_names & (pair[:, 8] == 0)

    def _speech(self, place: int, mention: DescribedMention, pair: Floats) -> None:
        """Whether an entity speaks, or is spoken to, in the quotation of the mention."""
        speakers, of = self.text.speakers, self._of
        here = mention.quotation
        if here >= 0:
            own = of.get(speakers.get(here, -1), -1)
            if own >= 0:
                pair[own, 13] = 1
            for back, column in ((1, 14), (2, 15)):
                other = of.get(speakers.get(here - back, -1), -1)
                if other >= 0:
                    pair[other, column] = 1
        for number, speaker in speakers.items():
            if speaker == place:
                for entity, last in enumerate(self._last):
                    said = [self.text.mentions[at] for at in self.members[entity][-8:]]
                    pair[entity, 16] = any(one.quotation == number and one.pronoun == "I" for one in said)
                    pair[entity, 26] = any(one.quotation == number and one.pronoun == "you" for one in said)
                    pair[entity, 27] = last.quotation == number

    def _nearby_entities(self, place: int, mention: DescribedMention) -> list[tuple[int, int]]:
        """Entities whose last mention stands right before, by a comma or a copula, or that the mention lies in."""
        found: list[tuple[int, int]] = []
        words = self.text.words
        for back in range(place - 1, max(-1, place - 6), -1):
            other = self.text.mentions[back]
            entity = self._of.get(back)
            if entity is None:
                continue
            if other.start <= mention.start and mention.end <= other.end:
                found.append((entity, 28))
            gap = [word.lower() for word in words[other.end : mention.start]]
            if gap == [","]:
                found.append((entity, 29))
            elif 0 < len(gap) <= 3 and gap[0] in _COPULAS:
                found.append((entity, 30))
            elif not gap and other.end == mention.start:
                found.append((entity, 31))
        return found


def _type(mention: DescribedMention) -> int:
    return TYPES.index(mention.pronoun or mention.kind)
