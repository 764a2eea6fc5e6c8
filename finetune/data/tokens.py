"""How many tokens an example takes: by a model's own tokenizer, or an estimate that says it is one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ape.errors import InputError
from finetune.data.paragraph import Paragraph
from prompts import completion_sep, render_sep

# The end token.
_END = 1
_BATCH = 1024


class TokenCounter(Protocol):
    """Counts tokens of whole sequences, as they are trained on: separators and end token too."""

    def __call__(self, paragraphs: Sequence[Paragraph]) -> list[int]:
        """One number for each paragraph."""
        ...

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        ...


def sequence(paragraph: Paragraph) -> tuple[str, str]:
    """Prompt and completion of a paragraph."""
    question = paragraph.to_example().question
    return render_sep(question).text, completion_sep(question, paragraph.human)


class Estimate:
    """Four Latin letters a token, and two bytes of any other script: near a byte-level vocabulary of the usual size."""

    def __call__(self, paragraphs: Sequence[Paragraph]) -> list[int]:
        """One number for each paragraph."""
        return [sum(map(_estimated, sequence(paragraph))) + _END for paragraph in paragraphs]

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        return {"tokenizer": "none given: tokens are estimated"}


def _estimated(text: str) -> int:
    plain = sum(character.isascii() for character in text)
    return round(plain / 4 + (len(text.encode(errors="replace")) - plain) / 2)


class Tokenizer:
    """A model's tokenizer: of a directory, of a GGUF file, or of the hub."""

    def __init__(self, name: str) -> None:
        self.name = Path(name).name if Path(name).exists() else name
        self._tokenizer = _load(name)

    def __call__(self, paragraphs: Sequence[Paragraph]) -> list[int]:
        """One number for each paragraph. Prompt and completion are cut apart, as in training."""
        pairs = [sequence(paragraph) for paragraph in paragraphs]
        prompts, completions = (self._lengths([pair[side] for pair in pairs]) for side in (0, 1))
        return [one + other + _END for one, other in zip(prompts, completions, strict=True)]

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        found: list[int] = []
        for start in range(0, len(texts), _BATCH):
            found += map(len, self._tokenizer(list(texts[start : start + _BATCH])).input_ids)
        return found

    def describe(self) -> dict[str, str]:
        """For the manifest: its name, and a hash of its vocabulary."""
        vocabulary = json.dumps(self._tokenizer.get_vocab(), sort_keys=True).encode()
        digest = hashlib.sha256(vocabulary).hexdigest()[:16]
        return {"tokenizer": self.name, "vocabulary": f"{len(self._tokenizer):,} tokens, sha256 {digest}"}


def _load(name: str) -> Any:
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    path = Path(name)
    try:
        if path.is_file():
            tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
        else:
            tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"No tokenizer can be loaded from {name}: give a model's directory, a .gguf file or a hub id. ({error})"
        ) from error
    # A text longer than the model's window is what we count, not a fault.
    tokenizer.model_max_length = int(1e30)
    return tokenizer
