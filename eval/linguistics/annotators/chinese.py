"""Chinese annotation by jieba: its words, with its parts of speech mapped to Chinese Treebank tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from eval.linguistics.annotators.protocol import Annotation, NamedEntity, Token
from eval.linguistics.annotators.sentence_starts import sentence_starts

_RULES = 1
# By word, where jieba's part of speech covers several Treebank tags.
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
# By jieba's part of speech; the longest listed prefix counts ("nrt" is a name like "nr").
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

    Names are words that jieba tags as a person (nr), place (ns) or organisation (nt), one word each, so a name that it
    splits is two names or none. It was trained on news and knows characters of a novel only by their surnames.
    """

    @property
    def name(self) -> str:
        """The name with the version of jieba."""
        return f"jieba-{version('jieba')}+ctb-{_RULES}"

    @property
    def language(self) -> str:
        """Chinese."""
        return "zh"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        from ape.ledger.source_names import tagged_words

        return [_annotate(text, tagged_words(text)) for text in texts]


def _annotate(text: str, tagged: Iterable[tuple[str, str]]) -> Annotation:
    tokens: list[Token] = []
    entities: list[NamedEntity] = []
    place = 0
    for word, flag in tagged:
        start, place = place, place + len(word)
        if word.isspace():
            continue
        tokens.append(Token(word, start, treebank_tag(word, flag), word))
        label = _ENTITIES.get(flag[:2])
        if label and len(word) > 1:
            entities.append(NamedEntity(word, start, place, label))
    return Annotation(tuple(tokens), tuple(entities), sentence_starts(text, [token.start for token in tokens]))


def treebank_tag(word: str, part: str) -> str:
    """The Treebank tag of a word with this jieba part of speech."""
    if not any(map(str.isalnum, word)):
        return "PU"
    if word in _WORDS:
        return _WORDS[word]
    if part == "x":
        return "CD" if word[0].isdigit() else "NN"
    return next((_PARTS[part[:size]] for size in range(len(part), 0, -1) if part[:size] in _PARTS), "NN")
