"""Secret tokens of rater links; only their hashes are stored."""

from __future__ import annotations

import re
import secrets

from ape.files.hashing import hash_text

# 22 letters, digits, - and _: 128 bits.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")


def new_token() -> str:
    """Create a token."""
    return secrets.token_urlsafe(16)


def is_complete_token(token: str) -> bool:
    """Whether the token has the right form; a truncated link does not."""
    return _TOKEN.fullmatch(token) is not None


def token_hash(token: str) -> str:
    """Hash of a token. The token is random, so it needs no salt and no slow hash."""
    return hash_text(token, errors="surrogatepass")
