"""Write training files row by row; examples that can't be sent are left out and listed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ape.errors import InputError, TooLong
from ape.files.cache import cache_key
from ape.text.token_estimate import TokenRange
from finetune.data.example import Example
from finetune.hosted.chat_rows import ChatExample, make_chat_example
from finetune.hosted.validation import MAX_FILE_BYTES, MIN_EXAMPLES, estimate_row_tokens, find_example_error

_EXAMPLES_NAMED = 5


@dataclass(frozen=True, slots=True)
class RejectedExample:
    """An example that can't be sent, and the reason."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """A finished training file, and the examples left out of it."""

    path: Path
    sha256: str
    size: int
    rows: int
    tokens: TokenRange
    rejected: tuple[RejectedExample, ...]
    questions: frozenset[bytes]


def write_training_file(
    examples: Iterable[Example], path: Path, *, max_tokens: int, excluded_questions: frozenset[bytes] = frozenset()
) -> TrainingFile:
    """Write the valid examples. `excluded_questions` are the questions of the other file, which must not occur here."""
    rejected: list[RejectedExample] = []
    tokens, rows, digest = TokenRange(), 0, hashlib.sha256()
    questions: set[bytes] = set()
    seen: dict[bytes, str] = {}
    try:
        with path.open("wb") as file:
            for example in examples:
                chat = make_chat_example(example)
                why = find_example_error(example, chat, max_tokens=max_tokens)
                why = why or _duplicate_reason(example, chat, seen, excluded_questions)
                if why:
                    rejected.append(RejectedExample(example.id, why))
                    continue
                line = (json.dumps(chat.row, ensure_ascii=False) + "\n").encode()
                file.write(line)
                digest.update(line)
                questions.add(question_key(chat))
                tokens, rows = tokens + estimate_row_tokens(chat.row), rows + 1
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.", field="out") from error
    size = path.stat().st_size
    return TrainingFile(path, digest.hexdigest(), size, rows, tokens, tuple(rejected), frozenset(questions))


def question_key(chat: ChatExample) -> bytes:
    """Hash of the question."""
    question = json.dumps([(turn.role, turn.content) for turn in chat.turns])
    return cache_key(question)


def _duplicate_reason(
    example: Example, chat: ChatExample, seen: dict[bytes, str], excluded_questions: frozenset[bytes]
) -> str | None:
    question = question_key(chat)
    if question in excluded_questions:
        return "the same passage is among the training examples"
    whole = cache_key(question + chat.answer.encode())
    first = seen.setdefault(whole, example.id)
    return None if first == example.id else f"it is the same as {first}"


def refuse_invalid_files(training: TrainingFile, validation: TrainingFile | None, *, leave_out: bool) -> None:
    """Raise InputError unless the files can be sent as they are."""
    files = [file for file in (training, validation) if file]
    rejected = [(file, one) for file in files for one in file.rejected]
    if rejected and not leave_out:
        lines = "\n".join(f"  {file.path.name}: {one.id}: {one.why}" for file, one in rejected[:_EXAMPLES_NAMED])
        more = f"\n  and {len(rejected) - _EXAMPLES_NAMED:,} more" if len(rejected) > _EXAMPLES_NAMED else ""
        raise InputError(
            f"{len(rejected):,} examples can't be sent:\n{lines}{more}\n"
            "Build the data again without them, or leave them out.",
            field="leave_out",
        )
    if training.rows < MIN_EXAMPLES:
        reasons = Counter(one.why for one in training.rejected).most_common(1)
        lost = f" Most were left out because: {reasons[0][0]}." if reasons else ""
        raise InputError(f"There are {training.rows} training examples, and at least {MIN_EXAMPLES} are needed.{lost}")
    for file in files:
        if file.size > MAX_FILE_BYTES:
            raise TooLong(
                f"{file.path} has {file.size:,} bytes, and {MAX_FILE_BYTES:,} are allowed. Build the data from fewer "
                "examples.",
                actual=file.size,
                limit=MAX_FILE_BYTES,
            )
