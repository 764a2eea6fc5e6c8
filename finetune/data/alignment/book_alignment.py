"""Align human translations of a book with the paragraphs of its source and MT.

The MT follows the source's paragraphs and speaks the translators' language. So its sentences are aligned with those of
a translation by their likeness, within one language, and the paragraphs of the source then cut both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from ape.errors import InputError
from ape.text.languages import detect_language, language_name
from finetune.data.alignment.encoder import MiniLmEncoder, SentenceEncoder, Vectors
from finetune.data.alignment.needleman_wunsch import PathCell, best_path
from finetune.data.alignment.sentences import split_alignment_sentences

# Called with a description, the number of finished sentences and their total.
AlignmentProgress: TypeAlias = Callable[[str, int, int], None]

_ENCODING_BATCH = 256
# Paragraph of sentences outside the path, such as a preface or endnotes.
UNALIGNED = -1
# Sample for language detection: number of paragraphs, and letters of each.
_PARAGRAPHS = 40
_LETTERS = 400


@dataclass(frozen=True, slots=True)
class AlignedParagraph:
    """A source paragraph, its MT and each translation; empty if a translator left it out."""

    index: int
    source: str
    mt: str
    human: Mapping[str, str]


def align_book(
    source: Sequence[str],
    mt: Sequence[str],
    translations: Mapping[str, Sequence[str]],
    *,
    encoder: SentenceEncoder | None = None,
    progress: AlignmentProgress | None = None,
) -> list[AlignedParagraph]:
    """The source's paragraphs with their MT and the translations, each of which is given in its own paragraphs.

    Raises InputError where source and MT do not go together, where there is no translation or an empty one, and where
    one is in another language than the MT.
    """
    encoder = encoder or MiniLmEncoder()
    progress = progress or (lambda _what, _done, _all: None)
    _refuse_mismatched_texts(source, mt, translations, encoder)
    cut_mt = [split_alignment_sentences(paragraph) for paragraph in mt]
    paragraphs = [index for index, within in enumerate(cut_mt) for _ in within]
    vectors = _encoded("the MT", [one for within in cut_mt for one in within], encoder, progress)
    humans = {
        name: _translation_by_paragraph(paragraphs, vectors, _sentences(text), len(source), name, encoder, progress)
        for name, text in translations.items()
    }
    return [
        AlignedParagraph(index, *pair, {name: texts[index] for name, texts in humans.items()})
        for index, pair in enumerate(zip(source, mt, strict=True))
    ]


def assign_sentences(paragraphs: Sequence[int], mt: Vectors, human: Vectors) -> list[int]:
    """Assign each human sentence to a paragraph by its similarity to MT sentences."""
    way = best_path(lambda start, end, columns: mt[start:end] @ human[:columns].T, (len(mt), len(human)))
    rows, columns = np.array(way, dtype=np.intp).reshape(-1, 2).T
    likeness = np.einsum("nd,nd->n", mt[rows], human[columns])
    return assign_by_path(way, likeness.tolist(), paragraphs, len(human))


def assign_by_path(
    way: Sequence[PathCell], likeness: Iterable[float], paragraphs: Sequence[int], sentences: int
) -> list[int]:
    """The paragraph of each human sentence, in order; `paragraphs` has that of each MT sentence.

    A sentence that was merged across a paragraph's end goes where it is most alike (PAR3 repeats it in both), so that
    nothing is learnt twice. `likeness` is that of each cell of the way.
    """
    places = [UNALIGNED] * sentences
    cells = zip(way, likeness, strict=True)
    for human, met in groupby(cells, key=lambda cell: cell[0][1]):
        (mt, _), _ = max(met, key=itemgetter(1))
        places[human] = paragraphs[mt]
    return places


def _translation_by_paragraph(
    paragraphs: Sequence[int],
    mt: Vectors,
    human: Sequence[str],
    count: int,
    name: str,
    encoder: SentenceEncoder,
    progress: AlignmentProgress,
) -> list[str]:
    """The text of a translation for each of `count` paragraphs."""
    texts: list[list[str]] = [[] for _ in range(count)]
    vectors = _encoded(name, human, encoder, progress)
    progress(f"aligning {name}", 0, len(human))
    places = assign_sentences(paragraphs, mt, vectors)
    progress(f"aligning {name}", len(human), len(human))
    for sentence, place in zip(human, places, strict=True):
        if place >= 0:
            texts[place].append(sentence)
    return [" ".join(within) for within in texts]


def _sentences(paragraphs: Sequence[str]) -> list[str]:
    return [sentence for paragraph in paragraphs for sentence in split_alignment_sentences(paragraph)]


def _encoded(what: str, texts: Sequence[str], encoder: SentenceEncoder, progress: AlignmentProgress) -> Vectors:
    parts = []
    for start in range(0, len(texts), _ENCODING_BATCH):
        progress(f"encoding {what}", start, len(texts))
        parts.append(encoder.encode(texts[start : start + _ENCODING_BATCH]))
    progress(f"encoding {what}", len(texts), len(texts))
    return np.concatenate(parts)


def _refuse_mismatched_texts(
    source: Sequence[str], mt: Sequence[str], translations: Mapping[str, Sequence[str]], encoder: SentenceEncoder
) -> None:
    if len(source) != len(mt):
        raise InputError(
            f"The source has {len(source):,} paragraphs and its MT has {len(mt):,}. Translate it paragraph by "
            "paragraph, so that each has one of the other."
        )
    if not translations:
        raise InputError("There is no human translation to align.")
    for name, text in {"the source": source, "the MT": mt, **translations}.items():
        if not any(map(split_alignment_sentences, text)):
            raise InputError(f"There is no text in {name}.")
    language = detect_book_language(mt)
    if encoder.language and language not in ("", encoder.language):
        raise InputError(
            f"The MT is in {language_name(language)}, and the sentence encoder {encoder.name} knows "
            f"{language_name(encoder.language)} only."
        )
    if language and detect_book_language(source) == language:
        raise InputError(
            f"The source is in {language_name(language)}, as the MT is. Give the book as its author wrote it."
        )
    for name, text in translations.items():
        if language and (other := detect_book_language(text)) not in ("", language):
            raise InputError(f"{name} is in {language_name(other)}, and the MT is in {language_name(language)}.")


def detect_book_language(paragraphs: Sequence[str]) -> str:
    """Detect the language of a book from a sample; empty if unknown."""
    every = max(1, len(paragraphs) // _PARAGRAPHS)
    return detect_language(" ".join(text[:_LETTERS] for text in paragraphs[::every]), default="")
