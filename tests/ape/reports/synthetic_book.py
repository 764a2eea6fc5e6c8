"""A reproducible synthetic book of any length: French or Chinese sources, a faulty MT, and its post-edit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from ape.edits.diff import edit_rate, find_edits
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage

# French, Chinese, MT, post-edit.
SENTENCES = (
    ("{name} posa la lampe près du puits.", "{name}把灯放在井边。", "{name} put the lamp near the well.", ""),
    (
        "Elle compta les marches, une à une, jusqu'au grenier.",
        "她一级一级地数着台阶，一直数到阁楼。",
        "He counts the steps, one to one, until the granary.",
        "She counted the steps, one by one, up to the attic.",
    ),
    (
        "Le facteur n'était plus passé depuis l'automne.",
        "从秋天起邮差就没有再来过。",
        "The factor was no more passed since the autumn.",
        "The postman had not come by since autumn.",
    ),
    (
        "On entendait la rivière derrière le mur.",
        "墙后传来河水的声音。",
        "One could hear the river behind the wall.",
        "",
    ),
    (
        "Pourtant, personne ne lui demanda son nom.",
        "然而没有人问她叫什么名字。",
        "So, nobody asked him his name.",
        "Yet nobody asked her name.",
    ),
    (
        "« Trente-deux barques, dit {name}, et pas une seule voile. »",
        "“三十二条船，”{name}说，“一面帆也没有。”",
        "“Twenty-three boats, said {name}, and not a single sail.”",
        "“Thirty-two boats,” said {name}, “and not a single sail.”",
    ),
    (
        "Le vieux relieur lisait ⟦1⟧à voix basse⟦/1⟧ les pages qu'il cousait.",
        "老装订匠⟦1⟧低声⟦/1⟧念着他缝的书页。",
        "The old binder read ⟦1⟧at low voice⟦/1⟧ the pages that he sewed.",
        "The old bookbinder read the pages he was sewing ⟦1⟧under his breath⟦/1⟧.",
    ),
    (
        "La neige tenait encore au nord des toits.",
        "屋顶北面的雪还没有化。",
        "The snow still held on the north of the roofs.",
        "",
    ),
    (
        "Il pleuvait des cordes quand la barque toucha le quai.⟦2/⟧",
        "船靠码头时大雨倾盆。⟦2/⟧",
        "It rained ropes when the bark touched the platform.⟦2/⟧",
        "It was pouring when the boat touched the quay.⟦2/⟧",
    ),
    (
        "Dans le tiroir il restait un bouton, deux clefs et une lettre sans timbre.",
        "抽屉里还剩一颗纽扣、两把钥匙和一封没贴邮票的信。",
        "In the drawer there remained a button, two keys and a letter without stamp.",
        "In the drawer there were a button, two keys and an unstamped letter.",
    ),
)
NAMES = (("Maëlle", "梅拉"), ("Odilon", "奥迪隆"), ("Tiphaine", "蒂芬"))
TITLES = (
    "The Well",
    "Low Water",
    "A Letter Without a Stamp",
    "The North Side",
    "Thirty-two Boats",
    "What the Binder Read",
)


def invented_book(language: str = "fr", *, words: int = 100_000, unfinished: bool = True) -> Iterator[JobParagraph]:
    """Rows of a book of about this many English words, with every status."""
    chance = random.Random(f"{language} {words}")
    written = 0
    for position in count():
        if written >= words:
            return
        row = _row(chance, language, position, late=unfinished and written > 0.97 * words)
        written += len(row.planned.mt.split())
        yield row


def _row(chance: random.Random, language: str, position: int, *, late: bool) -> JobParagraph:
    chapter = int((position / 62) ** 0.98)
    source, mt, good = _texts(chance, language)
    aligned = chapter % 5 == 4
    planned = PlannedParagraph(
        id=f"text/ch{chapter + 1:02}.xhtml:{position}",
        position=position,
        chapter=chapter,
        title=f"{TITLES[chapter % len(TITLES)]}",
        stretch=chapter,
        source=source,
        mt=mt,
        how="alignment" if aligned else "structure",
        confidence=round(chance.uniform(0.3, 0.99), 2) if aligned else 1.0,
    )
    if late:
        return JobParagraph(planned, ParagraphState.WAITING)
    fate = chance.random()
    if fate < 0.01:
        return JobParagraph(
            planned, ParagraphState.QUARANTINED, reason="The model server did not answer in time.", failures=3
        )
    if fate < 0.03:
        return JobParagraph(planned, ParagraphState.SKIPPED, reason="no source was found for it")
    return _finished(chance, planned, good, fate)


def _texts(chance: random.Random, language: str) -> tuple[str, str, str]:
    column, name = (0, 0) if language == "fr" else (1, 1)
    picked = chance.sample(SENTENCES, chance.randint(2, 9))
    person = chance.choice(NAMES)
    joint = " " if language == "fr" else ""
    source = joint.join(sentence[column] for sentence in picked).format(name=person[name])
    mt = " ".join(sentence[2] for sentence in picked).format(name=person[0])
    good = " ".join(sentence[3] or sentence[2] for sentence in picked).format(name=person[0])
    return source, mt, good


def _finished(chance: random.Random, planned: PlannedParagraph, good: str, fate: float) -> JobParagraph:
    findings: tuple[Finding, ...] = ()
    made, text = Decision.EDITED, good
    if fate < 0.09:
        guard = chance.choice(("length", "names", "numbers", "source_left_in", "placeholders"))
        findings = tuple(
            Finding(guard, Severity.REJECT, "The draft does not keep what the MT has.", attempt=attempt)
            for attempt in (1, 2)
        )
        made, text = Decision.REJECTED, planned.mt
    elif fate < 0.3 or good == planned.mt:
        made, text = Decision.UNCHANGED, planned.mt
    elif fate < 0.4:
        findings = (Finding("names", Severity.WARN, "Odilon stands in the source only.", attempt=1),)
    result = PostEdit(
        id=planned.id,
        post_edit=text,
        decision=made,
        findings=findings,
        edits=find_edits(planned.mt, text),
        edit_rate=edit_rate(planned.mt, text),
        model="an-invented-model",
        prompt="chat@3f2a",
        usage=Usage(700, 90),
        attempt=1,
    )
    return JobParagraph(planned, ParagraphState.DONE, result, seconds=0.4)
