"""Follow a draft through the MT, token by token: most of a post-edit is a copy of it.

Needs the standard library alone, since vLLM runs it too, in an environment of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

# How far behind the last agreement the draft is looked for in the MT, by the number of tokens that must be the same.
_REACH = {1: 3, 2: 24, 3: 96}


class MtFollower:
    """The place of a draft in the reply that leaves the MT as it is.

    Where the draft departs from it, its place is unknown until its last one to three tokens occur in what follows.
    """

    def __init__(self, unedited: Sequence[int]) -> None:
        self.unedited = tuple(unedited)
        self.at: int | None = 0  # the next token of the MT; None while the draft has departed from it
        self._departed_at = 0
        self._own: list[int] = []  # tokens of the draft since then

    def rest(self, length: int) -> Sequence[int]:
        """The tokens that probably follow, at most `length`; none while the draft differs from the MT."""
        return () if self.at is None else self.unedited[self.at : self.at + length]

    def add(self, token: int) -> bool | None:
        """Take the next token of the draft: whether it was the one of the MT, or None if none was expected."""
        expected = self.rest(1)
        if self.at is not None:
            if expected and expected[0] == token:
                self.at += 1
                return True
            self._departed_at, self.at, self._own = self.at, None, []
        self._own.append(token)
        self.at = self._find_return()
        return False if expected else None

    def _find_return(self) -> int | None:
        """The place in the MT after the last tokens of the draft: the longest match, and of these the nearest."""
        for size in sorted(_REACH, reverse=True):
            last = tuple(self._own[-size:])
            if len(last) < size:
                continue
            for end in range(self._departed_at + size, min(self._departed_at + _REACH[size], len(self.unedited)) + 1):
                if self.unedited[end - size : end] == last:
                    return end
        return None
