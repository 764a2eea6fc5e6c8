"""Speech tags that the draft loses: `,” replied Pangloss`."""

from __future__ import annotations

import regex

from ape.guards.messages import quote, reject
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.english_verbs import verb_base

_SPEECH_VERBS = frozenset(
    map(
        verb_base,
        "say ask reply answer cry whisper shout exclaim murmur mutter add continue remark respond retort call sigh "
        "demand explain declare return begin go think tell interrupt protest insist announce laugh groan yell "
        "scream sob snap warn resume repeat inquire beg order observe object admit agree suggest stammer growl".split(),
    )
)
# What follows a closing quotation mark up to the next mark of punctuation or quotation. A single mark is also an
# apostrophe, but not between punctuation and a space.
_AFTER_SPEECH = regex.compile(r"(?<=[,.!?…—-])(?:[”\"»]|[’'](?=\s))(?P<tag>[^\p{P}”\"“«]*)")
_WORD = regex.compile(r"\p{L}+(?:['’]\p{L}+)*")
# A longer stretch is narration that follows the speech, and a translator may shorten it.
_LONGEST_TAG = 5


def speech_tags(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that loses a speech tag: it has fewer speech verbs than the MT, and those of the tag are gone.

    Only English has the table of verbs that this needs.
    """
    if not segment.target_language.startswith("en"):
        return []
    tags = _tags(segment.mt)
    if len(_tags(draft.text)) >= len(tags) or _count_verbs(draft.text) >= _count_verbs(segment.mt):
        return []
    kept = {word.lower() for word in _WORD.findall(draft.text)}
    for tag in tags:
        words = [word.lower() for word in _WORD.findall(tag)]
        verbs = {verb_base(word) for word in words} & _SPEECH_VERBS
        others = [word for word in words if verb_base(word) not in _SPEECH_VERBS]
        if verbs.isdisjoint(map(verb_base, kept)) and _lost(others, segment.mt, draft.text):
            return [reject("speech_tags", f"The draft loses the speech tag {quote(tag.strip())}: who speaks is lost.")]
    return []


def _tags(text: str) -> list[str]:
    """The speech tags after closing quotation marks: a few words with a speech verb and somebody who speaks."""
    found = []
    for match in _AFTER_SPEECH.finditer(text):
        words = _WORD.findall(match["tag"])
        if 2 <= len(words) <= _LONGEST_TAG and any(verb_base(word.lower()) in _SPEECH_VERBS for word in words):
            found.append(match["tag"])
    return found


def _count_verbs(text: str) -> int:
    return sum(verb_base(word.lower()) in _SPEECH_VERBS for word in _WORD.findall(text))


def _lost(words: list[str], mt: str, draft: str) -> bool:
    """Whether a word of the tag that names the speaker occurs less often in the draft than in the MT."""
    before, after = ([word.lower() for word in _WORD.findall(text)] for text in (mt, draft))
    return any(after.count(word) < before.count(word) for word in words)
