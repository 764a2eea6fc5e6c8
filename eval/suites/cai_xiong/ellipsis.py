"""Check whether a verb that English omits ("So do I.") is present in Chinese, which requires it.

The reference shows the verb: its characters shared with the preceding sentence, without function words; if it
paraphrases, its own characters. An output with any of them is right. It is wrong if it translates "do" literally (做)
or has only function words. With other words, or with a pro-form such as 这样 where the reference has none, it is
undecided.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.suites.cai_xiong.cases import CaiXiongCase, CaiXiongVerdict

# Never the omitted verb: pronouns, particles, negation, copula, adverbs, conjunctions, question words, fillers.
_FUNCTION = frozenset(
    "我你您妳他她它們们咱自己这這那哪谁誰什么麼怎为為的得地了着著过過吗嗎呢吧啊呀哦噢喔嗯哈唉欸是不没沒别別也都就才还還很真太"
    "当當然确確实實或许許可但而且和跟与與于於从從对對把被让讓以所因如果只已经經一二两兩个個些再又更最每"
)
# Full verbs or auxiliaries: used only if there are no other characters.
_WEAK = frozenset("在给給有会會能想要敢应應该該需必须須用得愿願意肯行")
_PRO_FORM = re.compile(
    r"如此|[这這那][样樣么麼]|一[样樣]|同[样樣]|真的|[确確][实實]|的[确確]|是[吗嗎]|是的|也是|[对對](?=[，。？！]|$)"
)
_LITERAL_DO = re.compile(r"做|[干幹](?![净淨吗嗎嘛])|作")
# "…, Brad." and its Chinese: a vocative is shared by any translation.
_CALLED = re.compile(r",\s*(?:[A-Z][\w.'-]*\s?){1,3}[.!?]*$|,\s*(?:sir|madam|ma'am|darling|honey|dear)[.!?]*$")
_CALLED_ZH = re.compile(r"[，,][^，,。！？!?]{1,6}[。！？!?]*$")
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class EllipsisEvidence:
    """Characters that show the verb, and whether a pro-form does."""

    characters: frozenset[str]
    pro_form: bool

    def __bool__(self) -> bool:
        return bool(self.characters or self.pro_form)


def ellipsis_evidence(case: CaiXiongCase) -> EllipsisEvidence:
    """What the reference restores from the preceding sentence; empty if it restores nothing."""
    reference = _CALLED_ZH.sub("", case.reference) if _CALLED.search(case.source) else case.reference
    here, before = _content(reference), _content(case.reference_context)
    shared = here & before
    own = next(filter(None, (shared - _WEAK, shared, here - _WEAK, here)), frozenset[str]())
    return EllipsisEvidence(own, not shared - _WEAK and bool(_PRO_FORM.search(reference)))


def judge_ellipsis(case: CaiXiongCase, output: str) -> CaiXiongVerdict:
    """Whether the output has the omitted verb."""
    wanted = ellipsis_evidence(case)
    if not wanted:
        return "undecided"
    said = _content(output)
    pro_form = bool(_PRO_FORM.search(output))
    if said & wanted.characters or (pro_form and wanted.pro_form):
        return "right"
    if _LITERAL_DO.search(output):
        return "wrong"
    return "undecided" if said or pro_form else "wrong"


def _content(text: str) -> frozenset[str]:
    return frozenset(_HAN.findall(_PRO_FORM.sub("", text))) - _FUNCTION
