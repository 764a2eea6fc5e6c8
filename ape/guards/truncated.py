"""A draft that stops before the passage does."""

from __future__ import annotations

from dataclasses import replace

from ape.guards.messages import quote, reject, warn
from ape.guards.text_features import TextFeatures, passage_features, word_steps
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text import sentences
from ape.text.repetition import collapse_loops
from ape.text.size import text_size

# A draft nearly as long as the MT has lost a mark; a shorter one has lost its end with it.
_WHOLE = 0.97
_LONG_ENOUGH = 0.85
# Words that ask for another: articles, conjunctions, possessives and the prepositions that end no sentence.
_WAITING: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "der das ein eine einen einem einer und oder aber von mit für aus im am dem den des dass weil wenn sehr",
        "en": "the a an of and or but nor to with for from in at as than that which who whose my your his its our their"
        " every is are was were been be have has had will would shall should can could may might must these those into",
        "es": "el la los las un una y o pero de del al con por para en que su sus muy",
        "fr": "le la les un une des du de et ou mais à au aux avec pour dans sur qui que son sa ses leur très",
        "it": "il lo la gli le un una e o ma di del della da dal con per in nel che suo sua molto",
        "nl": "de het een en of maar van met voor in op aan dat die zijn haar zeer",
        "pt": "o os as um uma e ou mas de do da dos das com por para em no na que seu sua muito",
        "ru": "и или но а в на с к у о об от до из за под над по для что который которая очень",
    }.items()
}
_CLOSED = sentences.CLOSERS + "“‘ \t\n"
# A text that ends on one of these is waiting for its next word, whatever the MT does.
_UNFINISHED = tuple(",，、;；-–—(（[「『„")


def truncated(segment: Segment, draft: Draft) -> list[Finding]:
    """Cut off by the server, or ended in mid-sentence where the MT ends properly, or short of the MT's last words."""
    if draft.finish_reason == "content_filter":
        return [reject("truncated", "The model server's filter stopped the answer.")]
    if draft.finish_reason == "length":
        return [reject("truncated", "The model was cut off at its length limit before it had finished.")]
    _, mt, new = passage_features(segment, draft)
    if not (mt.words and new.words):
        return []
    if _ends(draft.text):
        return []
    # Rounds of a loop that are gone are no end that is lost.
    if (once := collapse_loops(segment.mt, segment.source)) != segment.mt:
        return truncated(replace(segment, mt=once), draft)
    lost_end = _ends(segment.mt)
    ending = quote(" ".join(draft.text.split()[-4:]))
    if missing := _missing_tail(segment, draft, mt, new):
        return [reject("truncated", f"The draft stops at {ending}; the MT goes on with {quote(missing)}.")]
    if _waits(segment, draft, mt, new) or (lost_end and draft.text.rstrip(_CLOSED).endswith(_UNFINISHED)):
        return [reject("truncated", f"The draft ends in mid-sentence, at {ending}.")]
    if not (lost_end and _ends(segment.source)):
        return []
    expected = (
        text_size(segment.source)
        * pair_thresholds(segment.source_language, segment.target_language).target_per_source
    )
    is_title = new.is_title and not mt.is_title
    if is_title or text_size(draft.text) >= max(_WHOLE * text_size(segment.mt), _LONG_ENOUGH * expected):
        return [warn("truncated", f"The mark that ends the last sentence is lost, at {ending}.")]
    return [reject("truncated", f"The last sentence has lost its end; the draft stops at {ending}.")]


def _waits(segment: Segment, draft: Draft, mt: TextFeatures, new: TextFeatures) -> bool:
    """Whether the draft's last word asks for another, and neither MT nor source breaks off so."""
    waiting = _WAITING.get(segment.target_language, frozenset())
    if new.words[-1] not in waiting or mt.words[-1] in waiting:
        return False
    return (
        _ends(segment.source) if _ends(segment.mt) else text_size(draft.text) < _WHOLE * text_size(segment.mt)
    )


def _ends(text: str) -> bool:
    """Whether the text ends as a finished sentence does."""
    end = text.rstrip(_CLOSED)
    return end.endswith((*sentences.TERMINALS, ":", "：", ":—", ":–", ":-"))


def _missing_tail(segment: Segment, draft: Draft, mt: TextFeatures, new: TextFeatures) -> str:
    """The MT's last words, where the draft follows the MT up to them and then stops, having them nowhere else."""
    path = word_steps(segment.mt, draft.text)
    if len(path) < 2 or (path[-2].kind, path[-1].kind) != ("equal", "delete"):
        return ""
    missing = mt.surfaces[path[-1].mt_start :]
    moved = any(word.lower() in new.vocabulary for word in missing if len(word) > 3)
    return "" if moved or len(new.words) >= len(mt.words) else " ".join(missing)
