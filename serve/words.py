"""Sentences of the command line in the words of the HTTP fields."""

from __future__ import annotations

import re

_FLAG = "--(source-language|target-language|encoding|format)"
_BOTH = re.compile(f"{_FLAG} and {_FLAG}")
_WITH_VALUE = re.compile(f"{_FLAG} ([a-z]+-[0-9][a-z0-9-]*)")
_ALONE = re.compile(f"{_FLAG}(?: NAME)?")
_RUN_AGAIN = re.compile(r"Run `ape book edit` again[^.]*\.")


def for_http(text: str) -> str:
    """The same sentence for one who has no command line: its flags are fields there, its arguments are parts."""
    text = _BOTH.sub(lambda found: f"the fields {_field(found[1])} and {_field(found[2])}", text)
    text = _WITH_VALUE.sub(lambda found: f"{_field(found[1])}={found[2]}", text)
    text = _ALONE.sub(lambda found: f"the field {_field(found[1])}", text)
    return _RUN_AGAIN.sub("Send the book again.", text).replace("SRC and MT", "source and mt")


def _field(flag: str) -> str:
    return flag.replace("-", "_")
