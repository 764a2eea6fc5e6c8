"""Speculation for vLLM that starts from the MT: the class of `--speculative-config '{"method": "custom_class", …}'`.

A post-edit repeats most of the MT that its prompt contains. So the MT is looked for among the tokens of the prompt, and
the tokens of a draft are proposed from it, beginning with the first; where a draft departs from the MT, nothing is
proposed until it returns. vLLM compares every token with the model's own choice, so drafts stay as they are.

Runs inside vLLM, without any other module of ours but `mt_follower.py`, which lies two folders above.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How a prompt shows the MT, and whether the reply repeats the marks around it: the formats of the package `prompts`.
MARKS = (("<translation>", "</translation>", True), ("\n\n###\n\n", "\n\n###\n\n", False))
# The longest proposal by the number of requests in the batch: the last row that is not above it. Measured on two cores
# with AVX2 and 135 million parameters (benchmarks/LOG.md).
LENGTHS = ((1, 32), (2, 24), (3, 16), (5, 8), (9, 4), (17, 0))

Tokens = NDArray[np.int32]


def _load_follower() -> ModuleType:
    """Load the module by its path: our package is not installed where vLLM is."""
    path = Path(__file__).resolve().parents[2] / "mt_follower.py"
    spec = importlib.util.spec_from_file_location("ape_mt_follower", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} can't be loaded.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["ape_mt_follower"] = module
    spec.loader.exec_module(module)
    return module


@dataclass(slots=True)
class _Request:
    """A request under way: the tokens of its prompt and draft that were seen, and the place of the draft in the MT."""

    seen: Tokens
    follower: Any

    def continues_in(self, tokens: Tokens) -> bool:
        """Whether these tokens begin with those that were seen."""
        return len(tokens) >= len(self.seen) and np.array_equal(tokens[: len(self.seen)], self.seen)

    def take(self, tokens: Tokens) -> None:
        """Take the tokens of the draft that are new."""
        for token in tokens[len(self.seen) :].tolist():
            self.follower.add(token)
        self.seen = tokens.copy()


class MtSpeculation:
    """Proposes the next tokens of each request in the batch."""

    def __init__(self, vllm_config: Any, text_of: Callable[[int], str] | None = None) -> None:
        """`text_of` gives the text of a token; by default it is that of the model's tokenizer."""
        self._longest = int(vllm_config.speculative_config.num_speculative_tokens)
        self._window = int(vllm_config.model_config.max_model_len)
        self._text_of = text_of or _token_texts(vllm_config.model_config)
        self._follower = _load_follower().MtFollower
        self._texts: dict[int, str] = {}
        self._requests: list[_Request | None] = []

    def load_model(self, *_args: Any, **_named: Any) -> None:
        """There is no model to load."""

    def propose(
        self, sampled: Sequence[Sequence[int]], counts: NDArray[np.int32], tokens: NDArray[np.int32], **_named: Any
    ) -> list[list[int]]:
        """A proposal for each row of the batch, after the tokens that were just `sampled` for it.

        `tokens` has the prompts and drafts so far, one row for each request, and `counts` their lengths. A row without
        sampled tokens is still reading its prompt. Rows change their places when requests end.
        """
        length = min(self._longest, self.length_of_proposals(sum(map(bool, sampled))))
        before, self._requests = self._requests, []
        proposals: list[list[int]] = []
        for row, new in enumerate(sampled):
            if not new:
                self._requests.append(None)
                proposals.append([])
                continue
            text = tokens[row, : counts[row]]
            request = _find(before, row, text) or self._begin(text[: len(text) - len(new)])
            request.take(text)
            self._requests.append(request)
            room = min(length, self._window - len(text) - 1)
            proposals.append(list(request.follower.rest(room)) if room > 0 else [])
        return proposals

    @staticmethod
    def length_of_proposals(requests: int) -> int:
        """The longest proposal in a batch of so many requests."""
        return next((length for least, length in reversed(LENGTHS) if requests >= least), LENGTHS[0][1])

    def _begin(self, prompt: Tokens) -> _Request:
        return _Request(prompt.copy(), self._follower(self._unedited(prompt.tolist())))

    def _unedited(self, prompt: Sequence[int]) -> Sequence[int]:
        """The tokens of the reply that leaves the MT as it is, as they stand in the prompt; none if there is no MT."""
        texts = [self._text(token) for token in prompt]
        whole = "".join(texts)
        for opening, closing, in_reply in MARKS:
            end = whole.rfind(closing)
            start = whole.rfind(opening, 0, end) if end > 0 else -1
            if start < 0:
                continue
            if in_reply:
                return _tokens_between(prompt, texts, start, end + len(closing))
            return _tokens_between(prompt, texts, start + len(opening), end)
        return ()

    def _text(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = self._text_of(token)
        return self._texts[token]


def _find(requests: Sequence[_Request | None], row: int, text: Tokens) -> _Request | None:
    """The request that these tokens continue: usually that of the same row."""
    usual = requests[row] if row < len(requests) else None
    if usual and usual.continues_in(text):
        return usual
    return next((one for one in requests if one and one.continues_in(text)), None)


def _tokens_between(prompt: Sequence[int], texts: Sequence[str], start: int, end: int) -> list[int]:
    """The tokens that begin within a span of the text that all of them form."""
    found, at = [], 0
    for token, text in zip(prompt, texts, strict=True):
        if start <= at < end:
            found.append(token)
        at += len(text)
    return found


def _token_texts(model_config: Any) -> Callable[[int], str]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(
        model_config.tokenizer,
        revision=model_config.tokenizer_revision,
        trust_remote_code=model_config.trust_remote_code,
    )
    return lambda token: str(tokenizer.decode([token], clean_up_tokenization_spaces=False))
