"""Check that the serving engine tokenises examples as training does.

transformers builds its own tokenizer from a GGUF file, and does not read every setting that llama.cpp uses. So the
examples are tokenised by llama.cpp itself, with the file that it will serve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ape.engines.embedded import embedded_engine
from finetune.checks.example_faults import ExampleFault
from finetune.checks.token_marks import printable_token
from finetune.data.example import Example
from finetune.training.encoding import encode_example
from prompts import TUNED_FORMAT

# Examples per request; one at a time took six times as long.
_BATCH = 64
# llama.cpp passes numbers on unchanged, and this one is not a token.
_DELIMITER_TOKEN = -1
# Nothing is generated, so no space is reserved for output.
_WINDOW = 256


class TokenReader(Protocol):
    """An engine with its own tokenizer."""

    async def tokens(self, *parts: str | int, as_prompt: bool = False) -> list[int]:
        """Tokens of each text, with what the engine adds around a prompt."""
        ...


async def find_engine_faults(
    gguf: Path, tokenizer: Any, examples: Sequence[Example], *, progress: Callable[[int], None] = lambda _: None
) -> list[ExampleFault]:
    """Faults of examples that the embedded engine tokenises differently with this GGUF file."""
    async with embedded_engine(gguf, name="base", concurrency=1, window=_WINDOW) as engine:
        return await find_token_faults(engine, tokenizer, examples, progress=progress)


async def find_token_faults(
    reader: TokenReader,
    tokenizer: Any,
    examples: Sequence[Example],
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> list[ExampleFault]:
    """The same for any tokenising engine."""
    front, back = await _special_tokens(reader)
    found = []
    for start in range(0, len(examples), _BATCH):
        part = examples[start : start + _BATCH]
        texts = [text for example in part for text in _texts(example)]
        read = await _each(reader, texts)
        for example, prompt, completion in zip(part, read[::2], read[1::2], strict=True):
            served = (*front, *prompt, *back, *completion)
            if fault := _fault(tokenizer, example, served):
                found.append(fault)
        progress(len(part))
    return found


def _texts(example: Example) -> tuple[str, str]:
    return TUNED_FORMAT.render(example.question).text, TUNED_FORMAT.completion(example.question, example.human)


async def _special_tokens(reader: TokenReader) -> tuple[list[int], list[int]]:
    """Tokens that the engine adds before and after any prompt."""
    bare, whole = await reader.tokens("a"), await reader.tokens("a", as_prompt=True)
    before = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
    return whole[:before], whole[before + len(bare) :]


async def _each(reader: TokenReader, texts: Sequence[str]) -> list[list[int]]:
    """Tokenise all texts in one request."""
    parts: list[str | int] = [part for text in texts for part in (text, _DELIMITER_TOKEN)]
    found: list[list[int]] = [[]]
    for token in await reader.tokens(*parts):
        if token == _DELIMITER_TOKEN:
            found.append([])
        else:
            found[-1].append(token)
    return found[:-1]


def _fault(tokenizer: Any, example: Example, served: tuple[int, ...]) -> ExampleFault | None:
    encoded = encode_example(tokenizer, example)
    trained = encoded.tokens[:-1]
    if trained == served:
        return None
    pairs = enumerate(zip(trained, served, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), min(len(trained), len(served)))
    where = "prompt" if place < encoded.prompt_length else "answer"
    here, there = _named(tokenizer, trained, place), _named(tokenizer, served, place)
    return ExampleFault("engine", example.id, f"at token {place}, in its {where}: {here} trained, {there} served")


def _named(tokenizer: Any, tokens: Sequence[int], place: int) -> str:
    return f"{printable_token(tokenizer, tokens[place])!r} ({tokens[place]})" if place < len(tokens) else "none"
