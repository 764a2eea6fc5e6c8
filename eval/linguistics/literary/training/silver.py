"""Tags and names by spaCy's English model, the teacher of the tags; stored as JSON for training without spaCy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ape.files.atomic import write_text_atomic
from eval.linguistics.literary.litbank import LitBankDocument, read_litbank
from eval.linguistics.literary.training.examples import LabelledText, litbank_stretch, ontonotes_names, without_overlap


def tag_texts(litbank: Path, model: str, sentences: Sequence[Sequence[str]], output: Path) -> None:
    """Tag LitBank, and tokenised sentences of other text so that names of news are known too, and write both."""
    import spacy
    from spacy.tokens import Doc

    pipeline: Any = spacy.load(model)

    def parse(texts: Sequence[Sequence[str]]) -> list[Any]:
        return list(pipeline.pipe([Doc(pipeline.vocab, words=list(words)) for words in texts]))

    tags = {}
    for document in read_litbank(litbank):
        texts = [document.words[start:end] for start, end in document.sentence_spans()]
        tags[document.name] = [token.tag_ for parsed in parse(texts) for token in parsed]
    rows = [
        [list(words), [token.tag_ for token in parsed], [(one.start, one.end, one.label_) for one in parsed.ents]]
        for words, parsed in zip(sentences, parse(sentences), strict=True)
    ]
    write_text_atomic(output, json.dumps({"litbank": tags, "sentences": rows}, ensure_ascii=False) + "\n")


def read_stretches(litbank: Path, tags: Path) -> tuple[list[tuple[LitBankDocument, LabelledText]], list[LabelledText]]:
    """The excerpts of LitBank with their labels, and the other sentences with theirs."""
    silver = json.loads(tags.read_text(encoding="utf-8"))
    documents = [(one, litbank_stretch(one, silver["litbank"][one.name])) for one in read_litbank(litbank)]
    others = [
        LabelledText(words, its_tags, without_overlap(ontonotes_names(words, entities)))
        for words, its_tags, entities in silver["sentences"]
    ]
    return documents, others
