"""Encode an edited text: unchanged words keep their bytes, new ones follow the spelling of the paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from ape.books.markup.xml_tokenizer import XmlToken

WHITESPACE = " \t\r\n\f"
_SPACES = re.compile(r"[ \t\r\n\f]+")
# A word with the space after it, or a single character; whole words avoid accidental matches.
_WORDS = re.compile(r"[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]+ ?|.", re.DOTALL)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_COMPARISON = 500_000


def join_tokens(tokens: Iterable[XmlToken]) -> bytes:
    """Join the bytes of tokens."""
    return b"".join(token.raw for token in tokens)


def escape_text(text: str, encoding: str) -> bytes:
    """Escape text for XML; characters that the encoding lacks become references."""
    text = _NOT_XML.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.encode(encoding, "xmlcharrefreplace")


class MarkupSegment:
    """The text between two marks, and the bytes of each character."""

    def __init__(self, tokens: list[XmlToken], encoding: str, *, collapse: bool) -> None:
        self.tokens = tokens
        self.encoding = encoding
        self.collapse = collapse
        text = "".join(token.text for token in tokens)
        self.text = _SPACES.sub(" ", text) if collapse else text

    def references(self) -> Iterator[tuple[str, bytes]]:
        """Characters that are written as references, with their bytes."""
        return ((token.text, token.raw) for token in self.tokens if len(token.text) == 1 and self._is_reference(token))

    def _is_reference(self, token: XmlToken) -> bool:
        """Whether the token is a complete reference, which any text may follow."""
        start, end = (sign.encode(self.encoding) for sign in "&;")
        return token.raw.startswith(start) and token.raw.endswith(end) and not token.literal

    def encode_edited(self, new: str, *, spelling: Mapping[str, bytes]) -> bytes:
        """Encode a new text: unchanged words keep their bytes, others use `spelling`."""
        if new == self.text:
            return join_tokens(self.tokens)
        chars = self._chars()
        out: list[bytes] = []
        for same, old_span, new_span in _changes(self.text, new):
            if same:
                out += chars[old_span]
            else:
                out += [spelling.get(char) or escape_text(char, self.encoding) for char in new[new_span]]
        return b"".join(out)

    def _chars(self) -> list[bytes]:
        """The bytes of each character of `text`."""
        out: list[bytes] = []
        spaces: list[bytes] = []  # those that collapse to one
        for token in self.tokens:
            for char, raw in self._char_bytes(token):
                if self.collapse and char in WHITESPACE:
                    spaces.append(raw)
                    continue
                if spaces:
                    out.append(b"".join(spaces))
                    spaces.clear()
                out.append(raw)
        return [*out, b"".join(spaces)] if spaces else out

    def _char_bytes(self, token: XmlToken) -> Iterable[tuple[str, bytes]]:
        """Each character of a token with bytes that any text may follow."""
        bare = token.raw.startswith("&".encode(self.encoding)) or token.text == "<"
        if len(token.text) == 1 and not token.literal and (self._is_reference(token) or not bare):
            return ((token.text, token.raw),)
        if token.literal or bare:
            return [(char, escape_text(char, self.encoding)) for char in token.text]
        own = self.encoding
        return [(char, escape_text(char, own) if char == "<" else char.encode(own)) for char in token.text]


def _changes(old: str, new: str) -> Iterator[tuple[bool, slice, slice]]:
    """The spans of the new text in order, each with the span of the old text that it equals or replaces."""
    olds, news = _WORDS.findall(old), _WORDS.findall(new)
    head = _common_prefix(olds, news)
    tail = _common_prefix(olds[head:][::-1], news[head:][::-1])
    middle = olds[head : len(olds) - tail], news[head : len(news) - tail]
    steps: list[tuple[bool, int, int]] = [(True, head, head)]
    if len(middle[0]) * len(middle[1]) > MAX_COMPARISON:
        steps.append((False, len(middle[0]), len(middle[1])))
    else:
        codes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
        steps += [(tag == "equal", j - i, m - k) for tag, i, j, k, m in codes]
    steps.append((True, tail, tail))
    old_word = new_word = old_at = new_at = 0
    for same, old_words, new_words in steps:
        old_end = old_at + sum(map(len, olds[old_word : old_word + old_words]))
        new_end = new_at + sum(map(len, news[new_word : new_word + new_words]))
        yield same, slice(old_at, old_end), slice(new_at, new_end)
        old_word, new_word, old_at, new_at = old_word + old_words, new_word + new_words, old_end, new_end


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the common prefix."""
    count = 0
    for word, other in zip(first, second, strict=False):
        if word != other:
            break
        count += 1
    return count
