"""Synthetic chapters in Chinese and English, with six systems of different error rates."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CHAPTERS = 80
SENTENCES = 50

_PEOPLE = (
    "安娜 Anna she, 玛丽 Mary she, 海伦 Helen she, 露西 Lucy she, "
    "彼得 Peter he, 约翰 John he, 汤姆 Tom he, 亨利 Henry he"
)
_THINGS = (
    "灯笼 lantern lamp, 信 letter note, 船 boat vessel, 面包 bread loaf, 桥 bridge crossing, 剑 sword blade, "
    "书 book volume, 钥匙 key latchkey, 马 horse mare, 钟 bell gong, 地图 map chart, 帽子 hat cap, 杯子 cup mug, "
    "箱子 chest box, 鼓 drum tabor, 伞 umbrella parasol, 镜子 mirror glass, 绳子 rope cord, 斧头 axe hatchet"
)
_PLACES = "港口 harbour, 厨房 kitchen, 花园 garden, 森林 forest, 塔楼 tower, 市场 market, 山谷 valley, 客栈 inn"
_DEEDS = (
    "找到 found finds, 藏起 hid hides, 卖掉 sold sells, 画下 drew draws, 擦亮 polished polishes, 丢失 lost loses, "
    "买下 bought buys, 修好 mended mends, 打破 broke breaks, 举起 lifted lifts, 带走 carried carries, 看见 saw sees"
)
_LINKS = "但是 but, 因为 because, 所以 so, 然后 then, 如果 if, 虽然 although"
_DROPPED = {"he": "他", "she": "她"}
_OTHER = {"he": "she", "she": "he"}
_MANNERS = "quietly slowly gladly sadly quickly calmly proudly boldly".split()


# Error rate of each system for a noun, a pronoun, a tense or a connective.
SYSTEMS: Mapping[str, float] = {f"system {number}": 0.08 * number for number in range(1, 7)}
# Rate at which a system adds a word, so that its sentences are unique.
_ADDITION_RATE = 0.9


@dataclass(frozen=True, slots=True)
class SentenceContent:
    """Content of a sentence: for each word the Chinese, then its English renderings."""

    person: list[str]
    things: tuple[list[str], list[str]]
    deeds: tuple[list[str], list[str]]
    link: list[str]
    place: list[str]

    def source(self) -> str:
        """The Chinese sentence, with the dropped pronoun marked."""
        (thing, *_), (other, *_) = self.things
        (deed, *_), (next_deed, *_) = self.deeds
        dropped = f"<{_DROPPED[self.person[2]]}>_S"
        return f"{self.person[0]}在{self.place[0]}{deed}{thing}，{self.link[0]}{dropped}{next_deed}{other}。"

    def english(self, chance: random.Random, rate: float = 0.0, added: float = 0.0) -> str:
        """The English sentence with errors at this rate; without errors it is the reference."""

        def wrong() -> bool:
            return chance.random() < rate

        (_, name, pronoun) = self.person
        nouns = [thing[2 if wrong() else 1] for thing in self.things]
        verbs = [deed[2 if wrong() else 1] for deed in self.deeds]
        subject = _OTHER[pronoun] if wrong() else pronoun
        link = "and" if wrong() else self.link[1]
        manner = f" {chance.choice(_MANNERS)}" if chance.random() < added else ""
        first = f"{name} {verbs[0]} the {nouns[0]} in the {self.place[1]}{manner}"
        return f"{first}, {link} {subject} {verbs[1]} the {nouns[1]}."


def write_chapters(path: Path, *, chapters: int = CHAPTERS, sentences: int = SENTENCES, seed: int = 1) -> None:
    """Write a table for `ape eval score`, with a row for each chapter."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(chapters):
            plots = [_sentence_content(chance) for _ in range(sentences)]
            row = {
                "id": f"chapter {number + 1}",
                "source": [one.source() for one in plots],
                "reference": [one.english(chance) for one in plots],
                "systems": {
                    name: [one.english(chance, rate, _ADDITION_RATE) for one in plots] for name, rate in SYSTEMS.items()
                },
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _sentence_content(chance: random.Random) -> SentenceContent:
    def draw(words: str) -> list[str]:
        return chance.choice(words.split(",")).split()

    return SentenceContent(
        draw(_PEOPLE), (draw(_THINGS), draw(_THINGS)), (draw(_DEEDS), draw(_DEEDS)), draw(_LINKS), draw(_PLACES)
    )
