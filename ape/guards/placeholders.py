"""Links, inline tags and placeholders, which must be kept character for character."""

from __future__ import annotations

from collections import Counter

import regex

from ape.guards.messages import quote, quote_list, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.inline_marks import MARK, describe_misplaced_marks

_HINTS = ("@", "<", "{", "}", "⟦", "%", "://", "www.", "[[")
_ENTITY = regex.compile(r"&\w+;")
_ADDRESS = r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{2,24}){1,4} |"
_FIXED, _FIXED_OR_ADDRESS = (
    regex.compile(
        rf"""
          https?://[^\s<>"”»）]+[^\s<>"”».,;:!?)\]}}）]
        | \bwww\.[^\s<>"”»]+[^\s<>"”».,;:!?)\]}}]
        | {address}
          ⟦[^⟦⟧\n]{{0,40}}⟧
        | \[\[[^\[\]\n]{{0,80}}\]\]
        | \{{\{{?[^{{}}\n]{{0,40}}\}}?\}}
        | \$\{{[^{{}}\n]{{0,40}}\}}
        | %(?:\(\w{{1,40}}\))?[sdif](?!\w) | %\d\$[sd]
        | &(?:\#\d{{1,6}}|[a-z]{{2,8}});
        """,
        regex.VERBOSE | regex.IGNORECASE,
    )
    for address in ("", _ADDRESS)
)
_TAG = regex.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:-]{0,30})(?P<rest>[^<>\n]{0,200}?)(?P<single>/?)>")
_SINGLE = frozenset({"br", "hr", "img", "wbr", "input", "meta", "link"})


def placeholders(segment: Segment, draft: Draft) -> list[Finding]:
    """Compare links, placeholders and tags with those of the MT and the source; tags must also nest properly."""
    if not (_may_have_pieces(draft.text) or _may_have_pieces(segment.mt)):
        return []
    return _marks(segment, draft) + _pieces(segment, draft) + _nesting(segment, draft)


def _marks(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft that does not have each inline mark of the MT exactly once: it can't be written to the book."""
    wrong = describe_misplaced_marks(draft.text, segment.mt)
    return [reject("placeholders", f"{wrong} Italics, links and notes of the MT must be kept.")] if wrong else []


def _may_have_pieces(text: str) -> bool:
    """Whether the text may contain such pieces; a cheap check, since most texts have none."""
    for hint in _HINTS:
        if hint in text:
            return True
    return "&" in text and _ENTITY.search(text) is not None


def _pieces(segment: Segment, draft: Draft) -> list[Finding]:
    source, mt, new = (_count_pieces(text) for text in (segment.source, segment.mt, draft.text))
    findings = []
    if lost := list((mt - new).elements()):
        message = f"The MT contains {quote_list(lost)}; the draft does not."
        # A piece that the source lacks may be an error of the MT.
        supported = [piece for piece in lost if piece in source]
        findings.append((reject if supported else warn)("placeholders", message))
    if invented := [piece for piece in (new - mt).elements() if new[piece] > source[piece]]:
        message = f"Neither the source nor the MT contains {quote_list(invented)}."
        findings.append(reject("placeholders", message))
    return findings


def _count_pieces(text: str) -> Counter[str]:
    fixed = _FIXED_OR_ADDRESS if "@" in text else _FIXED  # matching addresses is slow
    text = MARK.sub(" ", text) if "⟦" in text else text  # inline marks are checked separately
    pieces = Counter(match.group().rstrip(".") for match in fixed.finditer(text))
    pieces.update(match.group() for match in _TAG.finditer(text))
    return pieces


def _nesting(segment: Segment, draft: Draft) -> list[Finding]:
    wrong = _misnested(draft.text)
    if not wrong or _misnested(segment.mt):
        return []
    return [reject("placeholders", f"The tag {quote(wrong)} is not properly nested, as it is in the MT.")]


def _misnested(text: str) -> str:
    """The first tag without a counterpart, or ""."""
    open_tags: list[str] = []
    for match in _TAG.finditer(text):
        name = match["name"].lower()
        if match["single"] or name in _SINGLE:
            continue
        if not match["close"]:
            open_tags.append(name)
        elif open_tags and open_tags[-1] == name:
            open_tags.pop()
        else:
            return match.group()
    return f"<{open_tags[-1]}>" if open_tags else ""
