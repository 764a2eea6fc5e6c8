"""The text of a draft as its tokens arrive: whole characters, stop strings, and limits."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Callable, Sequence


class DraftText:
    """Joins the bytes of tokens to a text that ends before the first stop string.

    Text that may be the beginning of a stop string, or part of a character, is held back. `send` gets every other
    piece at once. `finish_reason` is None until the draft ends.
    """

    def __init__(
        self, *, stop: Sequence[str], max_tokens: int, max_characters: int, send: Callable[[str], None]
    ) -> None:
        self.text = ""
        self._starts: list[int] = []
        self.finish_reason: str | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = tuple(one for one in stop if one)
        self._max_tokens, self._max_characters = max_tokens, max_characters
        self._send = send
        self._sent = 0

    @property
    def tokens(self) -> int:
        """The number of tokens, with those of the stop string and of the end."""
        return len(self._starts)

    @property
    def tokens_of_text(self) -> int:
        """The number of tokens that begin within the text."""
        return bisect_left(self._starts, len(self.text))

    def add(self, piece: bytes, *, is_end: bool = False) -> None:
        """Take a token."""
        self._starts.append(len(self.text))
        if is_end:
            self._finish("stop")
            return
        self.text += self._decoder.decode(piece)
        if (cut := self._find_stop()) is not None:
            self.text = self.text[:cut]
            self._finish("stop")
            return
        self._release(len(self.text) - self._held())
        if self.finish_reason is None and self.tokens >= self._max_tokens:
            self.text += self._decoder.decode(b"", final=True)
            self._finish("length")

    def _find_stop(self) -> int | None:
        found = [self.text.find(one, self._sent) for one in self._stop]
        return min((at for at in found if at >= 0), default=None)

    def _held(self) -> int:
        """The length of the longest end of the text that may be the beginning of a stop string."""
        return max(
            (
                size
                for one in self._stop
                for size in range(1, min(len(one), len(self.text) + 1))
                if self.text.endswith(one[:size])
            ),
            default=0,
        )

    def _release(self, end: int) -> None:
        if end <= self._sent:
            return
        self._send(self.text[self._sent : end])
        self._sent = end
        if end > self._max_characters:
            self.text = self.text[:end]
            self.finish_reason = "length"

    def _finish(self, reason: str) -> None:
        self._release(len(self.text))
        self.finish_reason = self.finish_reason or reason
