"""Gendered pronouns that contradict the source."""

from __future__ import annotations

import regex

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import passage_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

_SHE = frozenset(("she", "her", "hers", "herself"))
_HE = frozenset(("he", "him", "his", "himself"))
# Written Chinese tells the two apart; 其他, 吉他 and the plurals are other words.
_WRITTEN_SHE = regex.compile("她(?![们們])")
_WRITTEN_HE = regex.compile("(?<![其吉])他(?![们們])|[它牠祂]")
# A rewritten stretch longer than this pairs its words by chance.
_SHORT_STEP = 2


def pronouns(segment: Segment, draft: Draft) -> list[Finding]:
    """A pronoun of the MT exchanged for the other, where a Chinese source has only the one the MT had.

    Refused where 她 is then said nowhere in the draft. 他 alone proves less: older books write it of women too. In
    688 lines of fiction, each in two MTs, no published translation has such an exchange.
    """
    if (segment.source_language, segment.target_language) != ("zh", "en"):
        return []
    she, he = _WRITTEN_SHE.search(segment.source), _WRITTEN_HE.search(segment.source)
    if bool(she) == bool(he):
        return []
    right, wrong = (_SHE, _HE) if she else (_HE, _SHE)
    _, mt, new = passage_features(segment, draft)
    for step in word_steps(segment.mt, draft.text):
        if step.kind != "replace" or step.end - step.start > _SHORT_STEP:
            continue
        old = right.intersection(mt.words[step.mt_start : step.mt_end])
        now = wrong.intersection(new.words[step.start : step.end])
        if old and now:
            message = (
                f"The source has only {quote('她' if she else '他')}; "
                f"{quote(min(old))} of the MT has become {quote(min(now))}."
            )
            unsaid = she and new.vocabulary.isdisjoint(right)
            return [(reject if unsaid else warn)("pronouns", message)]
    return []
