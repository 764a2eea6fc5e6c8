"""Compact serialisation of an annotation, relative to its text."""

from __future__ import annotations

import json
import zlib

from eval.linguistics.annotators.protocol import Annotation, EntityMention, NamedEntity, Token


def pack_annotation(annotation: Annotation) -> bytes:
    """Pack what the text does not show: token offsets, tags, and lemmas that differ from the word."""
    tokens = annotation.tokens
    fields = [
        [token.start for token in tokens],
        [len(token.text) for token in tokens],
        "\t".join(token.tag for token in tokens),
        {place: token.lemma for place, token in enumerate(tokens) if token.lemma != token.text.lower()},
        [[one.start, one.end, one.label] for one in annotation.entities],
        annotation.sentences,
        [[one.start, one.end, one.kind, one.label] for one in annotation.mentions],
    ]
    return zlib.compress(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(), 1)


def unpack_annotation(packed: bytes, text: str) -> Annotation:
    """Unpack the annotation of this text."""
    starts, lengths, tags, lemmas, entities, sentences, mentions = json.loads(zlib.decompress(packed))
    tokens = []
    each = zip(starts, lengths, tags.split("\t") if starts else (), strict=True)
    for place, (start, length, tag) in enumerate(each):
        word = text[start : start + length]
        lemma = lemmas.get(str(place)) if lemmas else None
        tokens.append(Token(word, start, tag, word.lower() if lemma is None else lemma))
    names = tuple(NamedEntity(text[start:end], start, end, label) for start, end, label in entities)
    return Annotation(tuple(tokens), names, tuple(sentences), tuple(EntityMention(*one) for one in mentions))
