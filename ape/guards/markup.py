"""Marks that belong to chats, code and our own requests, not to books."""

from __future__ import annotations

from typing import NamedTuple

import regex

from ape.guards.wording import quoted, reject
from ape.segment import Draft, Segment
from ape.verdict import Finding


class Mark(NamedTuple):
    """A kind of mark, in a translator's words, a few characters it cannot do without, and its pattern."""

    what: str
    needs: tuple[str, ...]
    pattern: regex.Pattern[str]


def _mark(what: str, needs: str, pattern: str) -> Mark:
    return Mark(what, tuple(needs.split()), regex.compile(pattern, regex.MULTILINE | regex.IGNORECASE))


# `needs` is searched first: a substring search is far cheaper than a pattern, and most drafts have none of these.
MARKS: tuple[Mark, ...] = (
    _mark("a chat marker", "<|", r"<\|[^|<>\n]{0,40}\|>?"),
    _mark("a chat marker", "[inst <<sys </s> <s> [/inst", r"\[/?INST\]|<</?SYS>>|</?s>"),
    _mark("a turn marker", "_turn>", r"</?(?:start|end)_of_turn>"),
    _mark("a speaker label", ":", r"^\W{0,3}(?:assistant|user|system|human|ai|bot|chatgpt|model)\W{0,3}:"),
    _mark("a code fence", "``` ~~~", r"^\s{0,3}(?:`{3}|~{3})|`{3}"),
    _mark("bold or italic stars", "**", r"\*\*(?=\S)[^*\n]{1,200}(?<=\S)\*\*"),
    _mark("bold underscores", "__", r"(?<!\w)__(?=\S)[^_\n]{1,200}(?<=\S)__(?!\w)"),
    _mark("a heading mark", "#", r"^\s{0,3}#{1,6}(?:\s|$)|###"),
    _mark("inline code", "`", r"`[^`\n]{1,100}`"),
    # A dash at one line's head may open direct speech; a list has several.
    _mark("a list", "- * •", r"^\s{0,3}[-*•]\s++[^\n]*+\n++\s{0,3}[-*•]\s"),
    _mark("a dividing line", "--- === ___", r"^\s{0,3}(?:-{3,}|={3,}|_{3,})\s*$"),
    _mark("a separator of ours", "sep> <eos>", r"</?(?:sep|eos|bos|pad|unk)>"),
    _mark(
        "a tag of ours",
        ">",
        r"</?(?:source|src|mt|target|tgt|draft|post[-_ ]?edit|translation|context|glossary|style|instructions"
        r"|output|input|answer|response|think|thinking|system|assistant|user|text|passage|paragraph)>",
    ),
)


def markup(segment: Segment, draft: Draft) -> list[Finding]:
    """Chat, code and markdown marks, and our own delimiters, that neither the MT nor the source has."""
    lower = draft.text.lower()
    found = []
    for mark in MARKS:
        if not any(need in lower for need in mark.needs):
            continue
        match = mark.pattern.search(draft.text)
        if match and not (mark.pattern.search(segment.mt) or mark.pattern.search(segment.source)):
            found.append(reject("markup", f"The draft has {mark.what} that the MT does not have: {quoted(match.group())}."))
    return found
