"""Chinese renderings of a pronoun or connective that are accepted, and those that show another reading.

Each class has renderings that carry its sense and rivals that carry only another. A sentence with one of the former is
right, with one of the latter wrong; with neither (a name instead of a pronoun, no connective) or with both and no
reason in the source, undecided. Rivals are a subset of the other sense's renderings: only unambiguous ones. Traditional
characters are supported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from eval.suites.cai_xiong.cases import CaiXiongCase, CaiXiongVerdict

_MANY = "们們俩倆仨"
_YOU = re.compile(r"\b(?:you|your|yours|yourself|yourselves|y'all)\b", re.IGNORECASE)
_THEY = re.compile(r"\b(?:they|them|their|theirs|themselves)\b", re.IGNORECASE)
_NEVER = re.compile(r"(?!)")

# "When": 当 outside 当然, 相当 or "to be a …", and 时 outside a noun.
_WHEN = (
    r"(?<![相适適应應担擔充想去来來])[当當](?![然作做成初地局真兵众眾面选選时時])"
    r"|[时時]候|(?<![小及按准準随隨有临臨暂暫平同此这這那当當])[时時](?![间間代钟鐘髦光期刻速尚常机機空])"
)
_TIME = (
    _WHEN + r"|(?:此|这|這|那|当|當|同)[时時]|趁|一边|一邊|期[间間]|之[际際]|之[后後]|以[后後]|[随隨][着著]|一旦|等到"
)
_CAUSE = r"因[为為]|由[于於]|既然|既(?=[已])|[鉴鑒][于於]|[毕畢]竟|因(?![此而素])"
_EVER_SINCE = r"自[从從]|自打|以[来來]|[从從][^，。？！]{1,10}(?:起|以[后後]|之[后後])"
_CONTRAST = r"(?<![从從因])而(?![且已言])|[却卻]|(?<![否规規原法准準])[则則]|但(?![愿願])|然而|可是|不[过過]|相反|反倒"
_CONCEDED = r"[虽雖]|[尽儘盡]管|即使|即便|[纵縱]然|哪怕|固然"
_BUT = r"但(?![愿願])|不[过過]|可是|然而|[却卻]|只是|倒是|可(?=[我你您他她它这這那])"
_ELSE = r"否[则則]|不然|要不(?![是要])"
_EITHER = r"或(?![许許])|[还還]是|抑或|亦或|要[么麼]|要不(?![然是要])"


@dataclass(frozen=True, slots=True)
class AcceptedRenderings:
    """The accepted renderings of a class and their rivals."""

    accepted: re.Pattern[str]
    rivals: re.Pattern[str]
    exempting: re.Pattern[str] = _NEVER
    """Source words that explain a rival next to an accepted rendering."""
    min_exempting: int = 1
    """How many of them are needed."""

    def judge(self, source: str, output: str) -> CaiXiongVerdict:
        """The verdict on the output."""
        accepted, rival = self.accepted.search(output), self.rivals.search(output)
        if accepted and rival:
            return "right" if len(self.exempting.findall(source)) >= self.min_exempting else "undecided"
        if accepted:
            return "right"
        return "wrong" if rival else "undecided"


def _pronoun(own: str, others: str) -> AcceptedRenderings:
    """Third person: "they call them" may have two genders."""
    return AcceptedRenderings(re.compile(f"[{own}][{_MANY}]"), re.compile(f"[{others}][{_MANY}]"), _THEY, 2)


def _connective(accepted: str, rivals: str, exempting: str = r"(?!)") -> AcceptedRenderings:
    return AcceptedRenderings(re.compile(accepted), re.compile(rivals), re.compile(exempting, re.IGNORECASE))


_PLURAL = re.compile(f"[你您妳][{_MANY}两兩]|[诸諸各]位")
_SINGULAR = re.compile(f"[你您妳](?![{_MANY}两兩])")
_ANYTHING = r"^"  # both halves of a Chinese pair such as 虽然 … 但是 occur together

RENDERINGS: Mapping[tuple[str, str], AcceptedRenderings] = {
    ("you", "你们"): AcceptedRenderings(_PLURAL, _SINGULAR, _YOU, 2),
    ("you", "你"): AcceptedRenderings(_SINGULAR, _PLURAL, _YOU, 2),
    ("they", "它们"): _pronoun("它牠祂", "他她"),
    ("they", "她们"): _pronoun("她", "他它牠"),
    ("they", "他们"): _pronoun("他", "她它牠"),
    ("while", "而"): _connective(_CONTRAST, _WHEN, r"\b(?:when|as)\b"),
    ("while", "当"): _connective(_TIME, _CONTRAST, r"\b(?:but|yet|however|although|though)\b"),
    ("as", "因为"): _connective(_CAUSE, _WHEN, r"\b(?:when|while|whenever|time)\b"),
    ("as", "当"): _connective(_TIME, _CAUSE, r"\b(?:because|since|for|so)\b"),
    # Both senses of "since" in the suite are causal, and its translators use 因为 and 既然 for either.
    ("since", "因为"): _connective(_CAUSE, _EVER_SINCE),
    ("since", "既然"): _connective(_CAUSE, _EVER_SINCE),
    ("though", "虽然"): _connective(_CONCEDED, _BUT, _ANYTHING),
    ("though", "但是"): _connective(_BUT, _CONCEDED, _ANYTHING),
    ("or", "否则"): _connective(_ELSE, r"或(?![许許])|抑或|亦或|要[么麼]"),
    ("or", "或者"): _connective(_EITHER, _ELSE),
}


def judge_rendering(case: CaiXiongCase, output: str) -> CaiXiongVerdict:
    """The verdict on the case's pronoun or connective; undecided for an unknown one."""
    renderings = RENDERINGS.get((case.word, case.expected))
    return renderings.judge(case.source, output) if renderings else "undecided"
