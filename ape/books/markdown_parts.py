"""The parts of a Markdown paragraph as a text with marks: pair HTML tags, number marks, set off what surrounds it."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ape.text.inline_marks import closing_mark, opening_mark, standalone_mark

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)[^>]*?(?P<alone>/?)>")
_VOID = frozenset("br img hr wbr input".split())


@dataclass(frozen=True, slots=True)
class MarkdownPart:
    """Text, half of a pair, or a standalone element. `raw` is its spelling in the file."""

    kind: Literal["text", "open", "close", "alone"]
    text: str = ""
    raw: str = ""
    tag: str = ""
    pair: int = 0


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """A text with marks, the source before and after it, and the mark-up by mark.

    `spellings` maps characters that the paragraph always writes in another way, such as `&amp;`. With `keeps_lines`,
    line ends are marks too.
    """

    text: str
    prefix: str
    suffix: str
    marks: dict[str, MarkdownPart]
    spellings: dict[str, str]
    keeps_lines: bool = False

    @classmethod
    def unread(cls, source: str) -> MarkdownText:
        """A text whose mark-up is left as it is."""
        return cls(source, "", "", {}, {})


class _OpenTags:
    """Open mark-up while tags are paired. Tags are counted by name within the Markdown element around them."""

    def __init__(self) -> None:
        self._opened: list[tuple[int, str]] = []  # the index of the part, and the tag; "" for Markdown
        self._counts: list[Counter[str]] = [Counter()]

    def push(self, index: int, tag: str = "") -> None:
        self._opened.append((index, tag))
        if tag:
            self._counts[-1][tag] += 1
        else:
            self._counts.append(Counter())

    def pop(self) -> tuple[int, str] | None:
        if not self._opened:
            return None
        index, tag = self._opened.pop()
        if tag:
            self._counts[-1][tag] -= 1
        else:
            self._counts.pop()
        return index, tag

    def close(self, tag: str) -> int | None:
        """Close the innermost open tag of this name; returns its index."""
        if not self._counts[-1][tag]:
            return None
        while (found := self.pop()) and found[1] != tag:
            pass
        return found and found[0]


def pair_html_tags(parts: list[MarkdownPart]) -> list[MarkdownPart]:
    """Turn matching HTML tags into pairs where they nest properly with other mark-up."""
    opened = _OpenTags()
    for index, part in enumerate(parts):
        tag = _TAG.fullmatch(part.raw) if part.tag == "html_inline" else None
        name = tag["name"].lower() if tag else ""
        if part.kind == "open":
            opened.push(index)
        elif part.kind == "close":
            while (found := opened.pop()) and parts[found[0]].pair != part.pair:
                pass
        elif tag and tag["close"]:
            place = opened.close(name)
            if place is not None:
                pair = 1_000_000 + place
                parts[place] = replace(parts[place], kind="open", pair=pair)
                parts[index] = replace(part, kind="close", pair=pair)
        elif tag and not tag["alone"] and name not in _VOID:
            opened.push(index, name)
    return parts


def number_marks(parts: list[MarkdownPart]) -> MarkdownText:
    """Number the marks of the parts; what surrounds the text becomes its prefix and suffix."""
    inner = deque(part for part in parts if part.kind != "text" or part.text)
    prefix: list[str] = []
    suffix: list[str] = []  # from the end
    while inner:
        head, tail = inner[0], inner[-1]
        if _is_outside(head):
            prefix.append(head.raw or head.text)
            inner.popleft()
        elif _is_outside(tail):
            suffix.append(tail.raw or tail.text)
            inner.pop()
        elif head.kind == "open" and tail.kind == "close" and head.pair == tail.pair:
            prefix.append(inner.popleft().raw)
            suffix.append(inner.pop().raw)
        elif head.kind == "text" and head.text != head.text.lstrip():
            inner[0] = replace(head, text=head.text.lstrip())
            prefix.append(head.text[: len(head.text) - len(inner[0].text)])
        elif tail.kind == "text" and tail.text != tail.text.rstrip():
            inner[-1] = replace(tail, text=tail.text.rstrip())
            suffix.append(tail.text[len(inner[-1].text) :])
        else:
            break
    text, marks = _marked_text(inner)
    return MarkdownText(text, "".join(prefix), "".join(reversed(suffix)), marks, {})


def _marked_text(parts: Iterable[MarkdownPart]) -> tuple[str, dict[str, MarkdownPart]]:
    """The text with marks, and the mark-up by mark."""
    numbers: dict[int, int] = {}
    marks: dict[str, MarkdownPart] = {}
    texts: list[str] = []
    count = 0
    for part in parts:
        if part.kind == "text":
            texts.append(part.text)
            continue
        if part.kind != "close":
            count += 1
            numbers[part.pair] = count
        name = {"open": opening_mark, "close": closing_mark, "alone": standalone_mark}[part.kind](
            count if part.kind == "alone" else numbers[part.pair]
        )
        marks[name] = part
        texts.append(name)
    return "".join(texts), marks


def _is_outside(part: MarkdownPart) -> bool:
    if part.kind == "text":
        return not part.text.strip()
    return part.kind == "alone" and part.tag not in ("code_inline", "autolink")


def spellings_of(parts: Sequence[MarkdownPart]) -> dict[str, str]:
    """Characters that the paragraph always writes in another way, with their spelling."""
    texts = [part for part in parts if part.kind == "text"]
    plain = {char for part in texts if not part.raw for char in part.text}
    return {part.text: part.raw for part in texts if part.raw and len(part.text) == 1 and part.text not in plain}
