"""Log-probabilities of a given text after a prompt, by llama.cpp's C interface in this process.

The HTTP server of llama.cpp reports log-probabilities of tokens that it generates, and none of a prompt. Its library
can: one pass over a prompt and a translation tells how the model sees each token of the translation, for the price of
reading it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from ape.engines.llama_library import BatchToken, LlamaContext, LlamaModel
from ape.errors import ModelError
from ape.passage.segment import TokenLogprobs
from prompts import Prompt

_BATCH = 256


class PromptScorer:
    """A model file with a context of its own; one pass at a time.

    The tokens that two prompts have in common at their beginning are read once.
    """

    def __init__(self, path: Path, *, window: int, threads: int) -> None:
        self._window = window
        self._read: list[int] = []
        self._lock = threading.Lock()
        self._model = LlamaModel(path)
        self._context = LlamaContext(self._model, window=window, batch=_BATCH, threads=threads)

    def close(self) -> None:
        """Free the model and its memory."""
        with self._lock:
            self._context.close()
            self._model.close()

    def render(self, prompt: Prompt) -> str:
        """The prompt as the model reads it, in the chat template of its file."""
        return prompt.body if isinstance(prompt.body, str) else self._model.render(prompt.body)

    def score(self, prompt: str, continuation: str) -> tuple[TokenLogprobs, ...]:
        """The log-probability of each token of the continuation, with the likeliest token in its place.

        `prompt` is as the model reads it (`render`); the marks of the chat template count in it alone.
        """
        before = self._model.tokens(prompt, marks=True)
        after = self._model.tokens(continuation, marks=False)
        if len(before) + len(after) > self._window:
            raise ModelError(f"The prompt and the translation have more than {self._window:,} tokens.")
        with self._lock:
            return self._score(before, after)

    def _score(self, before: Sequence[int], after: Sequence[int]) -> tuple[TokenLogprobs, ...]:
        kept = 0
        while kept < min(len(before) - 1, len(self._read)) and before[kept] == self._read[kept]:
            kept += 1
        self._context.cut(0, kept)
        tokens = [*before, *after]
        # What is read now, if the pass fails.
        self._read = tokens[:kept]
        found: list[TokenLogprobs] = []
        # The last token is scored and not read.
        for start in range(kept, len(tokens) - 1, _BATCH):
            end = min(start + _BATCH, len(tokens) - 1)
            self._context.read([BatchToken(tokens[at], at, 0, at >= len(before) - 1) for at in range(start, end)])
            # What is predicted after a token is about the next one.
            for at in range(max(start, len(before) - 1), end):
                logits = self._context.logits(at - start)
                found.append(self._model.logprobs(logits, tokens[at + 1], alternatives=1))
        self._read = tokens[:-1]
        return tuple(found)
