"""Chinese by jieba: its words, and its parts of speech as tags of the Chinese Treebank."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token
from eval.linguistics.annotators.sentence_starts import sentence_starts

_RULES = 1
# By the word, where jieba's part of speech is wider than the Treebank's.
_WORDS: Mapping[str, str] = (
    dict.fromkeys("是 为".split(), "VC")
    | dict.fromkeys("有 没有 无".split(), "VE")
    | dict.fromkeys("的 之".split(), "DEG")
    | {"地": "DEV", "得": "DER", "把": "BA", "将": "BA", "被": "SB"}
    | dict.fromkeys("了 着 过".split(), "AS")
    | dict.fromkeys("吗 呢 吧 啊 呀 嘛".split(), "SP")
    | dict.fromkeys("这 那 这些 那些 该 每 各 某 此".split(), "DT")
    | dict.fromkeys("和 与 及 以及 或 或者 并 而且 并且 但 但是 而".split(), "CC")
    | dict.fromkeys("因为 虽然 如果 由于 尽管 即使 只要 除非 既然 若".split(), "CS")
    | dict.fromkeys("上 下 里 中 内 外 前 后 之间 以后 以前 之后 之前".split(), "LC")
)
# By jieba's part of speech: the longest beginning that is here counts ("nrt" is a name as "nr" is).
_PARTS: Mapping[str, str] = {
    "n": "NN", "nr": "NR", "ns": "NR", "nt": "NR", "nz": "NR", "t": "NT", "s": "NN", "f": "LC", "v": "VV",
    "vn": "NN", "vd": "AD", "a": "VA", "ad": "AD", "an": "NN", "b": "JJ", "z": "VA", "r": "PN", "m": "CD",
    "mq": "CD", "q": "M", "d": "AD", "p": "P", "c": "CC", "u": "AS", "y": "SP", "e": "IJ", "o": "ON",
    "h": "JJ", "k": "NN", "i": "VV", "l": "VV", "j": "NN", "g": "NN", "eng": "FW", "x": "PU", "w": "PU",
}  # fmt: skip
_ENTITIES = {"nr": "PERSON", "ns": "GPE", "nt": "ORG"}


@dataclass(frozen=True, slots=True)
class JiebaAnnotator:
    """Words by jieba's dictionary and its model of unknown words; a word is its own lemma.

    Names are the words that jieba takes for a person (nr), a place (ns) or a body (nt): one word each, so that a name
    of which it makes two is two, or none. It was made for news; the heroes of a novel it knows only by their surnames.
    """

    @property
    def name(self) -> str:
        """With the version of jieba."""
        return f"jieba-{version('jieba')}+ctb-{_RULES}"

    @property
    def language(self) -> str:
        """Chinese."""
        return "zh"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        cut = _cutter()
        return [_annotate(text, cut) for text in texts]


@lru_cache(maxsize=1)
def _cutter() -> Any:
    """jieba's, with a dictionary of its own: what others add to theirs must not change what is found here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        import jieba.posseg

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer.initialize()
    return jieba.posseg.POSTokenizer(tokenizer)


def _annotate(text: str, cut: Any) -> Annotation:
    tokens: list[Token] = []
    entities: list[NamedEntity] = []
    place = 0
    for piece in cut.cut(text):
        start, place = place, place + len(piece.word)
        if piece.word.isspace():
            continue
        tokens.append(Token(piece.word, start, treebank_tag(piece.word, piece.flag), piece.word))
        label = _ENTITIES.get(piece.flag[:2])
        if label and len(piece.word) > 1:
            entities.append(NamedEntity(piece.word, start, place, label))
    return Annotation(
        tuple(tokens), tuple(entities), sentence_starts(text, [token.start for token in tokens])
    )


def treebank_tag(word: str, part: str) -> str:
    """The Treebank's tag of a word that has this part of speech in jieba."""
    if not any(map(str.isalnum, word)):
        return "PU"
    if word in _WORDS:
        return _WORDS[word]
    if part == "x":
        return "CD" if word[0].isdigit() else "NN"
    return next((_PARTS[part[:size]] for size in range(len(part), 0, -1) if part[:size] in _PARTS), "NN")
