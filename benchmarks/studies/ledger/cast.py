"""Genders of the main characters of the web novels, as a reader of the human translations would confirm them."""

from __future__ import annotations

from ape.ledger.build import entity_id
from ape.ledger.entity import Entity, EntityKind, EntityStatus, Gender, Ledger, SourceForm

# By chapter: men, then women. Who the references give no pronoun for is left out.
_CAST = (
    ("罗德", ""),
    ("江晨 萨尔德斯", "阿伊莎"),
    ("裴逸 吴莲止", "安小柠"),
    ("慕言君", "白薇薇"),
    ("路易斯 杰森 叶三少 黑鹰 宁宁 小奶包 楚离 白夜 黑杰克 叶琛", "程安雅 程小姐 叶薇 许诺"),
    ("唐舞麟", "琰凤"),
    ("林盛", "天工霞"),
    ("苗毅 宋扶 阎修 邱绍群", ""),
    ("陈歌 王一城 周图", ""),
)


def confirmed_cast(chapter: int) -> Ledger:
    """The entries of a person who confirms genders and leaves the renderings to the book."""
    genders = zip((Gender.MALE, Gender.FEMALE), _CAST[chapter], strict=True)
    entities = (
        Entity(
            entity_id(form), EntityKind.PERSON, (SourceForm(form),), "", gender=gender, status=EntityStatus.CONFIRMED
        )
        for gender, forms in genders
        for form in forms.split()
    )
    return Ledger("zh", "en", tuple(entities))
