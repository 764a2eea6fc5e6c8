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

# A draft of at least this share of the length of the MT has lost only a mark; a shorter one has lost its end.
_NEARLY_WHOLE = 0.97
_LONG_ENOUGH = 0.85
# Words that can't end a sentence: articles, conjunctions, possessives and most prepositions.
_OPEN_WORDS: dict[str, frozenset[str]] = {
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
# A text that ends with one of these is incomplete, whatever the MT does.
_UNFINISHED = tuple(",，、;；-–—(（[「『„")


def truncated(segment: Segment, draft: Draft) -> list[Finding]:
    """Find a draft that the server cut off, that ends in mid-sentence, or that lacks the last words of the MT."""
    if draft.finish_reason == "content_filter":
        return [reject("truncated", "The content filter of the model server stopped the answer.")]
    if draft.finish_reason == "length":
        return [reject("truncated", "The model reached its length limit before it finished.")]
    _, mt, new = passage_features(segment, draft)
    if not (mt.words and new.words):
        return []
    if _ends(draft.text):
        return []
    # A draft without the rounds of a loop of the MT has not lost its end.
    if (once := collapse_loops(segment.mt, segment.source)) != segment.mt:
        return truncated(replace(segment, mt=once), draft)
    lost_end = _ends(segment.mt)
    ending = quote(" ".join(draft.text.split()[-4:]))
    if missing := _missing_tail(segment, draft, mt, new):
        return [reject("truncated", f"The draft stops at {ending}; the MT continues with {quote(missing)}.")]
    if _ends_on_open_word(segment, draft, mt, new) or (lost_end and draft.text.rstrip(_CLOSED).endswith(_UNFINISHED)):
        return [reject("truncated", f"The draft ends in mid-sentence, at {ending}.")]
    if not (lost_end and _ends(segment.source)):
        return []
    expected = (
        text_size(segment.source) * pair_thresholds(segment.source_language, segment.target_language).target_per_source
    )
    is_title = new.is_title and not mt.is_title
    if is_title or text_size(draft.text) >= max(_NEARLY_WHOLE * text_size(segment.mt), _LONG_ENOUGH * expected):
        return [warn("truncated", f"The last sentence has no final punctuation: {ending}.")]
    return [reject("truncated", f"The last sentence is incomplete: the draft stops at {ending}.")]


def _ends_on_open_word(segment: Segment, draft: Draft, mt: TextFeatures, new: TextFeatures) -> bool:
    """Whether the last word of the draft can't end a sentence, and neither MT nor source is incomplete."""
    open_words = _OPEN_WORDS.get(segment.target_language, frozenset())
    if new.words[-1] not in open_words or mt.words[-1] in open_words:
        return False
    return _ends(segment.source) if _ends(segment.mt) else text_size(draft.text) < _NEARLY_WHOLE * text_size(segment.mt)


def _ends(text: str) -> bool:
    """Whether the text ends with a complete sentence."""
    end = text.rstrip(_CLOSED)
    return end.endswith((*sentences.TERMINALS, ":", "：", ":—", ":–", ":-"))


def _missing_tail(segment: Segment, draft: Draft, mt: TextFeatures, new: TextFeatures) -> str:
    """The last words of the MT if the draft copies the text before them and does not contain them elsewhere."""
    path = word_steps(segment.mt, draft.text)
    if len(path) < 2 or (path[-2].kind, path[-1].kind) != ("equal", "delete"):
        return ""
    missing = mt.surfaces[path[-1].mt_start :]
    moved = any(word.lower() in new.vocabulary for word in missing if len(word) > 3)
    return "" if moved or len(new.words) >= len(mt.words) else " ".join(missing)
