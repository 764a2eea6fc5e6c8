"""Patterns with plain substrings that are searched first, which is far cheaper."""

from __future__ import annotations

from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class GuardPattern:
    """A pattern with a description for translators; it can match only in a text that contains a required substring."""

    description: str
    required_substrings: tuple[str, ...]
    pattern: regex.Pattern[str]

    def search(self, text: str, lowered: str) -> str:
        """The first match, or "". `lowered` is the text in lower case."""
        for substring in self.required_substrings:
            if substring in lowered:
                match = self.pattern.search(text)
                return str(match.group()) if match else ""
        return ""


def guard_pattern(description: str, required: str, pattern: str) -> GuardPattern:
    """Compile a pattern; `required` holds the required substrings in lower case, separated by "|"."""
    flags = regex.MULTILINE | regex.IGNORECASE | regex.VERBOSE
    return GuardPattern(description, tuple(required.split("|")), regex.compile(pattern, flags))


def first_match(patterns: tuple[GuardPattern, ...], text: str) -> str:
    """The match of the first pattern that matches, or ""."""
    lowered = text.lower()
    for pattern in patterns:
        if found := pattern.search(text, lowered):
            return found
    return ""
