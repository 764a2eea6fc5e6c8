"""Patterns with plain substrings that are searched first, which is far cheaper."""

from __future__ import annotations

from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class GuardPattern:
    """What a pattern finds, in a translator's words.

    It can match only where one of `needs`, written in small letters, stands.
    """

    what: str
    needs: tuple[str, ...]
    pattern: regex.Pattern[str]

    def search(self, text: str, lowered: str) -> str:
        """What it finds in the text, or nothing. `lowered` is the text in small letters."""
        for need in self.needs:
            if need in lowered:
                match = self.pattern.search(text)
                return str(match.group()) if match else ""
        return ""


def guard_pattern(what: str, needs: str, pattern: str) -> GuardPattern:
    """A cue; `needs` are parted by "|"."""
    flags = regex.MULTILINE | regex.IGNORECASE | regex.VERBOSE
    return GuardPattern(what, tuple(needs.split("|")), regex.compile(pattern, flags))


def first_match(cues: tuple[GuardPattern, ...], text: str) -> str:
    """What the first of several cues that finds anything finds."""
    lowered = text.lower()
    for each in cues:
        if found := each.search(text, lowered):
            return found
    return ""
