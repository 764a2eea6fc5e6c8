"""How sure a model was, token by token, as servers tell it: OpenAI's two shapes, and llama.cpp's mix of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ape.passage.segment import TokenLogprobs


def read_logprobs(told: Any) -> Iterator[TokenLogprobs]:
    """The tokens of one event; what is not in a known shape is left out, and so nothing is made of it."""
    if not isinstance(told, Mapping):
        return
    content = told.get("content")
    if isinstance(content, list):
        yield from (_of_chat(entry) for entry in content)
    elif isinstance(told.get("tokens"), list):
        beside = told.get("top_logprobs") or [None] * len(told["tokens"])
        for token, logprob, others in zip(told["tokens"], told["token_logprobs"], beside, strict=True):
            yield TokenLogprobs(str(token), float(logprob), tuple((others or {}).items()))


def _of_chat(entry: Mapping[str, Any]) -> TokenLogprobs:
    others = tuple((_text(other), float(other["logprob"])) for other in entry.get("top_logprobs") or ())
    return TokenLogprobs(_text(entry), float(entry["logprob"]), others)


def _text(entry: Mapping[str, Any]) -> str:
    """A token may be a part of a character: bytes that are no text stand in it as Python escapes them."""
    given = entry.get("bytes")
    if not isinstance(given, Sequence) or isinstance(given, str):
        return str(entry["token"])
    return bytes(given).decode(errors="surrogateescape")
