"""Findings of both severities, and quotations that are safe in any page or log."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from ape.passage.result import Finding, Severity

_MAX_LENGTH = 60
_UNSAFE = regex.compile(r"[\p{C}\s]+")


def reject(guard: str, message: str) -> Finding:
    """A finding that rejects the draft."""
    return Finding(guard=guard, severity=Severity.REJECT, message=message)


def warn(guard: str, message: str) -> Finding:
    """A finding that does not reject the draft."""
    return Finding(guard=guard, severity=Severity.WARN, message=message)


def quote(text: str) -> str:
    """Quote a text on one line, without control characters, shortened in the middle."""
    plain = _UNSAFE.sub(" ", text).strip()
    if len(plain) > _MAX_LENGTH:
        plain = f"{plain[: _MAX_LENGTH - 20]} … {plain[-15:]}"
    return f"“{plain}”"


def quote_list(items: Iterable[str], *, most: int = 5) -> str:
    """Quote the first few of several texts."""
    all_items = list(dict.fromkeys(items))
    quoted = ", ".join(quote(item) for item in all_items[:most])
    return f"{quoted} and {len(all_items) - most} more" if len(all_items) > most else quoted
