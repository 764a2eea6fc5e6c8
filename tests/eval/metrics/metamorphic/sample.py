"""Four short stories with their Chinese source, and changes of one word each.

The source has marks of its dropped pronouns. The English renders every repeated source word in one way, so that all
metrics give it their best score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ape.text.word_alignment.protocol import Bitext, WordLinks
from eval.corpus.corpus import Corpus, Document

STORIES: Mapping[str, Sequence[tuple[str, str]]] = {
    "harbour": (
        ("安娜点亮灯笼，因为港口太黑。", "Anna lit the lantern because the harbour was too dark."),
        ("灯笼已旧，但是烧得好。", "The lantern was old, but it burned well."),
        ("水手望见灯笼，<她>_S向他挥手。", "A sailor saw the lantern, and she waved to him."),
        ("安娜拴住船，他谢<她>_O。", "Anna tied up the boat while he thanked her."),
        ("后来安娜离开港口。", "Then Anna walked away from the harbour."),
    ),
    "letter": (
        ("彼得找到信。", "Peter found a letter under the door."),
        ("<他>_S读信，但是不懂。", "He read the letter, but he did not understand a word."),
        ("因为信长，彼得问妹妹。", "Because the letter was long, Peter asked his sister."),
        ("她认识写信人。", "She knew the hand of the writer."),
        ("<他>_S笑，然后烧掉信。", "He laughed, and then he burned the letter."),
    ),
    "kitchen": (
        ("花园湿，所以孩子留在厨房。", "The garden was wet, so the children stayed in the kitchen."),
        ("厨房有面包香。", "The kitchen smelled of bread."),
        ("雨停时，孩子跑进花园。", "When the rain stopped, the children ran into the garden."),
        ("后来<他们>_S回来，面包吃光。", "After an hour they came back, and the bread was gone."),
        ("虽然没人说话，老狗睡着。", "Although nobody spoke, the old dog slept."),
    ),
    "bridge": (
        ("约翰修桥，桥高。", "John built a bridge, and the bridge was high."),
        ("如果河涨，桥会断。", "If the river rises, the bridge will break."),
        ("玛丽怕河，<她>_S不走。", "Mary feared the river, so she did not go."),
        ("约翰笑，他牵<她>_Pa手。", "John smiled, and he took her hand."),
        ("玛丽终于过桥。", "Mary crossed the bridge before the night."),
    ),
}
GLOSSARY: Mapping[str, tuple[str, ...]] = {
    "安娜": ("Anna", "Maria"), "灯笼": ("lantern",), "港口": ("harbour",), "彼得": ("Peter",), "信": ("letter",),
    "花园": ("garden",), "孩子": ("children",), "厨房": ("kitchen",), "面包": ("bread",), "约翰": ("John",),
    "桥": ("bridge",), "河": ("river",), "玛丽": ("Mary", "Helen"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Swap:
    """A replacement of one word in one segment."""

    kind: str
    story: str
    segment: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """The name of the system with this change."""
        return f"{self.kind} in {self.story}"


SWAPS = (
    Swap("pronoun", "harbour", 2, "she waved", "he waved"),
    Swap("pronoun", "kitchen", 3, "they came", "she came"),
    Swap("name", "harbour", 3, "Anna", "Maria"),
    Swap("name", "bridge", 4, "Mary", "Helen"),
    Swap("tense", "harbour", 4, "walked", "walks"),
    Swap("tense", "kitchen", 1, "smelled", "smells"),
    Swap("connective", "letter", 1, ", but he", ", if he"),
    Swap("connective", "kitchen", 0, ", so the", ", but the"),
)


@dataclass(frozen=True, slots=True)
class GlossaryAligner:
    """Links words by the glossary; a sampling aligner is not deterministic."""

    name: str = "glossary"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        return [
            frozenset(
                (i, j)
                for i, word in enumerate(source)
                for j, other in enumerate(target)
                if other in GLOSSARY.get(word, ())
            )
            for source, target in bitext
        ]


def sample() -> Corpus:
    """Systems: "same" (the reference), one for each swap, and some that are much worse."""
    english = {name: [text for _, text in lines] for name, lines in STORIES.items()}
    systems: dict[str, Mapping[str, Sequence[str]]] = {"same": english}
    systems |= {swap.name: {**english, swap.story: _swapped(english, swap)} for swap in SWAPS}
    systems["thinned"] = {name: [_thinned(text) for text in texts] for name, texts in english.items()}
    systems["backwards"] = {name: texts[::-1] for name, texts in english.items()}
    systems["others'"] = dict(zip(english, [*list(english.values())[1:], english["harbour"]], strict=True))
    documents = (
        Document(
            name,
            {system: tuple(texts[name]) for system, texts in systems.items()},
            (tuple(english[name]),),
            tuple(source for source, _ in lines),
        )
        for name, lines in STORIES.items()
    )
    return Corpus(tuple(documents), "zh", "en", "sample")


def wordings(word: str) -> Mapping[tuple[str, int], Sequence[str]]:
    """Annotate a word wherever the references have it, in both copies of a doubled sample."""
    return {
        (f"{name}{copy}", place): (word,)
        for name, lines in STORIES.items()
        for place, (_, text) in enumerate(lines)
        for copy in ("", " again")
        if word in text.split()
    }


def backwards(corpus: Corpus) -> Corpus:
    """The documents in reverse order."""
    return replace(corpus, documents=corpus.documents[::-1])


def doubled(corpus: Corpus) -> Corpus:
    """Every document twice."""
    again = tuple(replace(one, id=f"{one.id} again") for one in corpus.documents)
    return replace(corpus, documents=corpus.documents + again)


def _swapped(english: Mapping[str, Sequence[str]], swap: Swap) -> list[str]:
    texts = list(english[swap.story])
    if swap.old not in texts[swap.segment]:
        raise LookupError(swap.old)
    texts[swap.segment] = texts[swap.segment].replace(swap.old, swap.new)
    return texts


def _thinned(text: str) -> str:
    """The text without every third word."""
    return " ".join(word for place, word in enumerate(text.split()) if place % 3 != 1)
