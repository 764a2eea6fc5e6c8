"""Log probabilities of tokens, in the two formats of OpenAI and llama.cpp's mix of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ape.passage.segment import TokenLogprobs


def read_logprobs(logprobs: Any) -> Iterator[TokenLogprobs]:
    """The tokens of one event; an unknown format yields nothing."""
    if not isinstance(logprobs, Mapping):
        return
    content = logprobs.get("content")
    if isinstance(content, list):
        yield from (_read_chat_token(entry) for entry in content)
    elif isinstance(tokens := logprobs.get("tokens"), list):
        alternatives = logprobs.get("top_logprobs") or [None] * len(tokens)
        for token, logprob, others in zip(tokens, logprobs["token_logprobs"], alternatives, strict=True):
            yield TokenLogprobs(str(token), float(logprob), tuple((others or {}).items()))


def _read_chat_token(entry: Mapping[str, Any]) -> TokenLogprobs:
    others = tuple((_text(other), float(other["logprob"])) for other in entry.get("top_logprobs") or ())
    return TokenLogprobs(_text(entry), float(entry["logprob"]), others)


def _text(entry: Mapping[str, Any]) -> str:
    """The text of a token. It may be a part of a character: bytes that are not UTF-8 become surrogates."""
    given = entry.get("bytes")
    if not isinstance(given, Sequence) or isinstance(given, str):
        return str(entry["token"])
    return bytes(given).decode(errors="surrogateescape")
