"""A rater's own link: a secret that nobody can guess, of which only the hash is kept."""

from __future__ import annotations

import re
import secrets

from ape.files.hashing import hash_text

# 22 letters, digits, - and _: 128 bits.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")


def new_token() -> str:
    """A secret for a link."""
    return secrets.token_urlsafe(16)


def is_complete_token(token: str) -> bool:
    """Whether it can be one of ours: a link that lost its end in a mail can't."""
    return _TOKEN.fullmatch(token) is not None


def token_hash(token: str) -> str:
    """What is kept of it. It is random enough to need no salt and no slow hash."""
    return hash_text(token, errors="surrogatepass")
