"""Our sentences for those who ask by HTTP: fields instead of flags, and nothing of where we keep things."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from ape.errors import ApeError, InputError, StoreError

log = logging.getLogger("ape.serve")

_FLAG = "--(source-language|target-language|encoding|format)"
_BOTH = re.compile(f"{_FLAG} and {_FLAG}")
_WITH_VALUE = re.compile(f"{_FLAG} ([a-z]+-[0-9][a-z0-9-]*)")
_ALONE = re.compile(f"{_FLAG}(?: NAME)?")
_RUN_AGAIN = re.compile(r"Run `ape book edit` again[^.]*\.")


def http_message(text: str) -> str:
    """The same sentence for one who has no command line: its flags are fields there, its arguments are parts."""
    text = _BOTH.sub(lambda found: f"the fields {_field(found[1])} and {_field(found[2])}", text)
    text = _WITH_VALUE.sub(lambda found: f"{_field(found[1])}={found[2]}", text)
    text = _ALONE.sub(lambda found: f"the field {_field(found[1])}", text)
    return _RUN_AGAIN.sub("Send the book again.", text).replace("SRC and MT", "source and mt")


def _field(flag: str) -> str:
    return flag.replace("-", "_")


def redact_locations(error: ApeError, *, folder: Path, store: str) -> str:
    """What an error says, without the folder of the uploads and the address of the store."""
    text = http_message(str(error)).replace(f"{folder}/", "")
    if not _is_of_store(error):
        return text
    if "://" in store:  # what a database says has its address in several forms
        log.warning("the job store fails: %s", error)
        return "The job store fails; the log of the service says why."
    return text.replace(store, "the job store")


def _is_of_store(error: ApeError) -> bool:
    """Whether it is about the database; a disk that is full of results is told as an OSError."""
    if isinstance(error, StoreError):
        return not isinstance(error.__cause__, OSError)
    return isinstance(error, InputError) and error.field == "store"
