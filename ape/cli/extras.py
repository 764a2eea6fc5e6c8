"""Parts that are installed on request: without them, a sentence that says what to type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ape.errors import InputError


@contextmanager
def require_extra(extra: str) -> Iterator[None]:
    """Import what belongs to an extra of this package, or say how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"This needs {error.name}, which is not installed. Type: pip install 'ape-books[{extra}]'"
        ) from error
