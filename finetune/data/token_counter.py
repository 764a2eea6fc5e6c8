"""Count the tokens of an example with a model's tokenizer, or estimate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from ape.errors import InputError
from ape.files.hashing import hash_json
from ape.models import CATALOGUE, DownloadListener, ignore_progress
from finetune.data.paragraph import TrainingParagraph
from prompts import TUNED_FORMAT

# The end token.
_END_TOKENS = 1
_BATCH = 1024


class TokenCounter(Protocol):
    """Counts the tokens of training sequences, with separators and end token."""

    def __call__(self, paragraphs: Sequence[TrainingParagraph]) -> list[int]:
        """One number for each paragraph."""
        ...

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        ...


def prompt_and_completion(paragraph: TrainingParagraph) -> tuple[str, str]:
    """Prompt and completion of a paragraph as one text."""
    question = paragraph.to_example().question
    return TUNED_FORMAT.render(question).text, TUNED_FORMAT.completion(question, paragraph.human)


class EstimatedTokenCounter:
    """Estimate: four Latin letters or two bytes of any other script per token, as in common byte-level vocabularies."""

    def __call__(self, paragraphs: Sequence[TrainingParagraph]) -> list[int]:
        """One number for each paragraph."""
        return [sum(map(_estimated, prompt_and_completion(paragraph))) + _END_TOKENS for paragraph in paragraphs]

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        return {"tokenizer": "none given: tokens are estimated"}


def _estimated(text: str) -> int:
    plain = sum(character.isascii() for character in text)
    return round(plain / 4 + (len(text.encode(errors="replace")) - plain) / 2)


class TokenizerTokenCounter:
    """Tokenizer of a model: a directory, a GGUF file, a catalogue name or a hub id."""

    def __init__(self, name: str, *, progress: DownloadListener = ignore_progress) -> None:
        self.name = Path(name).name if Path(name).exists() else name
        self._tokenizer = _load(name, progress)

    def __call__(self, paragraphs: Sequence[TrainingParagraph]) -> list[int]:
        """One number for each paragraph: as many as `finetune.training.encoding.encode` makes of it."""
        pairs = [prompt_and_completion(paragraph) for paragraph in paragraphs]
        end = self._tokenizer.eos_token_id
        prompts = (len(ids) - (ids[-1:] == [end]) for ids in self._ids([one for one, _ in pairs]))
        answers = (len(ids) for ids in self._ids([one for _, one in pairs], add_special_tokens=False))
        return [prompt + answer + _END_TOKENS for prompt, answer in zip(prompts, answers, strict=True)]

    def _ids(self, texts: Sequence[str], **options: bool) -> Iterator[list[int]]:
        for start in range(0, len(texts), _BATCH):
            yield from self._tokenizer(list(texts[start : start + _BATCH]), **options).input_ids

    def describe(self) -> dict[str, str]:
        """For the manifest: its name, and a hash of its vocabulary."""
        digest = hash_json(self._tokenizer.get_vocab(), length=16, ascii=True)
        return {"tokenizer": self.name, "vocabulary": f"{len(self._tokenizer):,} tokens, sha256 {digest}"}


def _load(name: str, progress: DownloadListener) -> Any:
    from transformers import AutoTokenizer
    from transformers.utils import logging

    from finetune.base_model import find_base

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    packed = name in CATALOGUE or Path(name).suffix == ".gguf"
    if not packed and "/" not in name and not Path(name).is_dir():
        raise _tokenizer_error(name, "there is nothing of that name")  # nor is that how the hub names models
    try:
        tokenizer = AutoTokenizer.from_pretrained(find_base(name, progress=progress).location if packed else name)
    except (OSError, ValueError, KeyError) as error:
        raise _tokenizer_error(name, str(error)) from error
    # No warning for texts longer than the context: we only count.
    tokenizer.model_max_length = int(1e30)
    return tokenizer


def _tokenizer_error(name: str, why: str) -> InputError:
    return InputError(
        f"No tokenizer can be loaded from {name}: give a model's directory, a .gguf file, a hub id (owner/name) or one "
        f"of {', '.join(CATALOGUE)}. ({why})"
    )
