"""Gendered pronouns that contradict the source."""

from __future__ import annotations

import regex

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import passage_features, word_steps
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

_SHE = frozenset(("she", "her", "hers", "herself"))
_HE = frozenset(("he", "him", "his", "himself"))
# Written Chinese distinguishes the two; 其他, 吉他 and the plurals are other words.
_WRITTEN_SHE = regex.compile("她(?![们們])")
_WRITTEN_HE = regex.compile("(?<![其吉])他(?![们們])|[它牠祂]")
# In a longer replacement words are paired by chance.
_SHORT_STEP = 2


def pronouns(segment: Segment, draft: Draft) -> list[Finding]:
    """Find a pronoun of the MT replaced by the other gender, although a Chinese source has only the gender of the MT.

    Reject if the source has only 她 and the draft has no feminine pronoun. 他 alone is weaker evidence, since older
    books use it of women too. No published translation of 688 lines of fiction, each in two MTs, has such a change.
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
                f"The source uses only {quote('她' if she else '他')}; "
                f"the draft changes {quote(min(old))} to {quote(min(now))}."
            )
            is_missing = she and new.vocabulary.isdisjoint(right)
            return [(reject if is_missing else warn)("pronouns", message)]
    return []
