"""llama.cpp's C interface in this process, by ctypes: a model file, and a context that reads tokens.

The functions are exported by xllamacpp's library; of the two parameter structures only the fields that are set here
must lie where they are expected, which is checked against their default values.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Sequence
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint8, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.errors import ModelError
from ape.passage.segment import TokenLogprobs
from prompts import Message

# n_ctx, n_batch, n_ubatch, n_seq_max and both numbers of threads: their places in llama_context_params as integers, and
# their defaults.
_CONTEXT_DEFAULTS = {0: 512, 1: 2048, 2: 512, 3: 1, 7: 4, 8: 4}
# The switches of llama_model_params as bytes, and their defaults: the third one packs weights anew in memory.
_MODEL_DEFAULTS = {72: 0, 73: 0, 74: 1, 75: 0, 76: 0}
_PACK_SWITCH = 74
# More than either structure has. They are the last argument wherever they are passed, so what follows is not read.
_STRUCTURE_BYTES = 512
# Likelier than one in a million of the likeliest token; nearly always more tokens than alternatives are asked for.
_NEAR_LOGITS = 14.0
Logits = NDArray[np.float32]


class _Parameters(ctypes.Structure):
    _fields_ = (("bytes", c_uint8 * _STRUCTURE_BYTES),)


class _Batch(ctypes.Structure):
    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", c_void_p),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    )


class _Message(ctypes.Structure):
    _fields_ = (("role", c_char_p), ("content", c_char_p))


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "llama_backend_init": (None, []),
    "llama_model_default_params": (_Parameters, []),
    "llama_context_default_params": (_Parameters, []),
    "llama_model_load_from_file": (c_void_p, [c_char_p, _Parameters]),
    "llama_model_free": (None, [c_void_p]),
    "llama_model_chat_template": (c_char_p, [c_void_p, c_char_p]),
    "llama_model_is_recurrent": (c_bool, [c_void_p]),
    "llama_model_is_hybrid": (c_bool, [c_void_p]),
    "llama_chat_apply_template": (c_int32, [c_char_p, POINTER(_Message), c_size_t, c_bool, c_char_p, c_int32]),
    "llama_model_get_vocab": (c_void_p, [c_void_p]),
    "llama_vocab_n_tokens": (c_int32, [c_void_p]),
    "llama_vocab_is_eog": (c_bool, [c_void_p, c_int32]),
    "llama_init_from_model": (c_void_p, [c_void_p, _Parameters]),
    "llama_free": (None, [c_void_p]),
    "llama_set_n_threads": (None, [c_void_p, c_int32, c_int32]),
    "llama_get_memory": (c_void_p, [c_void_p]),
    "llama_memory_seq_rm": (c_bool, [c_void_p, c_int32, c_int32, c_int32]),
    "llama_tokenize": (c_int32, [c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool]),
    "llama_token_to_piece": (c_int32, [c_void_p, c_int32, c_char_p, c_int32, c_int32, c_bool]),
    "llama_batch_init": (_Batch, [c_int32, c_int32, c_int32]),
    "llama_batch_free": (None, [_Batch]),
    "llama_decode": (c_int32, [c_void_p, _Batch]),
    "llama_get_logits_ith": (POINTER(c_float), [c_void_p, c_int32]),
}


@lru_cache
def _library() -> Any:
    """xllamacpp's library with the types of its functions; ModelError if it is another version's."""
    import xllamacpp.xllamacpp as extension

    library = ctypes.CDLL(str(extension.__file__))
    try:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise _unknown_version() from error
    fields = _as_integers(library.llama_context_default_params())
    switches = library.llama_model_default_params().bytes
    if any(fields[at] != value for at, value in _CONTEXT_DEFAULTS.items()) or any(
        switches[at] != value for at, value in _MODEL_DEFAULTS.items()
    ):
        raise _unknown_version()
    library.llama_backend_init()
    return library


def _unknown_version() -> ModelError:
    return ModelError("This version of xllamacpp has another C interface. Install the version in constraints.txt.")


def _as_integers(parameters: _Parameters) -> Any:
    return (c_int32 * (_STRUCTURE_BYTES // 4)).from_buffer(parameters)


@dataclass(frozen=True, slots=True)
class BatchToken:
    """A token to read at a position of a sequence; with `scored`, what follows it is predicted."""

    token: int
    position: int
    sequence: int
    scored: bool


def packs_weights() -> bool:
    """Whether llama.cpp should pack the weights anew for this processor, which takes memory for a copy of most of them.

    On x86 the published build reads prompts a fifth faster without it and writes a sixth more slowly; instances of one
    model then share the memory of its file. Other processors gain several times.
    """
    return platform.machine().lower() not in ("x86_64", "amd64")


class LlamaModel:
    """A model file: its weights, vocabulary and chat template."""

    def __init__(self, path: Path) -> None:
        self.library = _library()
        parameters = self.library.llama_model_default_params()
        parameters.bytes[_PACK_SWITCH] = packs_weights()
        self.handle = self.library.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.handle:
            raise ModelError(f"{path} can't be loaded as a model. Is it a complete GGUF file of a known architecture?")
        self._vocabulary = self.library.llama_model_get_vocab(self.handle)
        self.vocabulary_size: int = self.library.llama_vocab_n_tokens(self._vocabulary)

    def close(self) -> None:
        """Free the weights; contexts must have been closed."""
        if self.handle:
            self.library.llama_model_free(self.handle)
            self.handle = None

    @property
    def can_forget(self) -> bool:
        """Whether the last tokens of a sequence can be taken back; recurrent models cannot."""
        return not (
            self.library.llama_model_is_recurrent(self.handle) or self.library.llama_model_is_hybrid(self.handle)
        )

    @property
    def template(self) -> str:
        """The chat template of the file; "" if it has none."""
        return (self.library.llama_model_chat_template(self.handle, None) or b"").decode(errors="replace")

    def render(self, messages: Sequence[Message]) -> str:
        """The messages as the model reads them."""
        turns = (_Message * len(messages))(*(_Message(one.role.encode(), one.content.encode()) for one in messages))
        room = 1000 + 2 * sum(len(one.content.encode()) for one in messages)
        text = ctypes.create_string_buffer(room)
        template = self.template.encode()
        size = self.library.llama_chat_apply_template(template, turns, len(messages), True, text, room)
        if not 0 < size <= room:
            raise ModelError("llama.cpp does not know the chat template of the model.")
        return text.raw[:size].decode()

    def tokens(self, text: str, *, marks: bool, as_prompt: bool = False) -> list[int]:
        """Tokenise; `marks` reads the marks of the chat template as such, `as_prompt` adds the token of a beginning."""
        content = text.encode()
        room = len(content) + 8
        tokens = (c_int32 * room)()
        count = self.library.llama_tokenize(self._vocabulary, content, len(content), tokens, room, as_prompt, marks)
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of a token, which may be a part of a character; none for a mark of the chat template."""
        piece = ctypes.create_string_buffer(256)
        size = self.library.llama_token_to_piece(self._vocabulary, token, piece, 256, 0, False)
        return piece.raw[: max(size, 0)]

    def text(self, token: int) -> str:
        """The text of a token; bytes that are not UTF-8 become surrogates."""
        return self.piece(token).decode(errors="surrogateescape")

    def ends(self, token: int) -> bool:
        """Whether the token ends an answer."""
        return bool(self.library.llama_vocab_is_eog(self._vocabulary, token))

    def logprobs(self, logits: Logits, token: int, *, alternatives: int) -> TokenLogprobs:
        """The log-probability of the token, and the likeliest tokens in its place, the likeliest first."""
        top = logits.max()
        total = float(top) + float(np.log(np.exp(logits - top).sum()))
        near = np.flatnonzero(logits > top - _NEAR_LOGITS)
        if len(near) < alternatives:
            near = np.argpartition(logits, -alternatives)[-alternatives:]
        best = near[np.argsort(-logits[near], kind="stable")[:alternatives]]
        others = tuple((self.text(int(other)), float(logits[other]) - total) for other in best)
        return TokenLogprobs(self.text(token), float(logits[token]) - total, others)


class LlamaContext:
    """What a model has read, as sequences of tokens. One thread at a time."""

    def __init__(self, model: LlamaModel, *, window: int, batch: int, threads: int, sequences: int = 1) -> None:
        """`window` is the number of tokens of each sequence, `batch` that which one call of `read` takes at most."""
        self._model, self._library = model, model.library
        parameters = self._library.llama_context_default_params()
        fields = _as_integers(parameters)
        fields[0], fields[1], fields[2], fields[3] = window * sequences, batch, batch, sequences
        fields[7] = fields[8] = threads
        self._handle = self._library.llama_init_from_model(model.handle, parameters)
        if not self._handle:
            raise ModelError(f"There is not enough memory for {window * sequences:,} tokens.")
        self._memory = self._library.llama_get_memory(self._handle)
        self._batch = self._library.llama_batch_init(batch, 0, 1)

    def close(self) -> None:
        """Free the memory of the sequences."""
        if self._handle:
            self._library.llama_batch_free(self._batch)
            self._library.llama_free(self._handle)
            self._handle = None

    def set_threads(self, threads: int) -> None:
        """Use another number of threads from the next batch on."""
        self._library.llama_set_n_threads(self._handle, threads, threads)

    def cut(self, sequence: int, length: int) -> None:
        """Take back all tokens of the sequence after the first `length`."""
        if not self._library.llama_memory_seq_rm(self._memory, sequence, length, -1):
            self._library.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            raise ModelError("llama.cpp could not take back tokens of this model.")

    def read(self, tokens: Sequence[BatchToken]) -> None:
        """Read the tokens as one batch."""
        batch = self._batch
        batch.n_tokens = len(tokens)
        for at, one in enumerate(tokens):
            batch.token[at] = one.token
            batch.pos[at] = one.position
            batch.n_seq_id[at] = 1
            batch.seq_id[at][0] = one.sequence
            batch.logits[at] = one.scored
        if status := self._library.llama_decode(self._handle, batch):
            raise ModelError(f"llama.cpp could not read the prompt (status {status}).")

    def logits(self, index: int) -> Logits:
        """The prediction after a scored token of the last batch; valid until the next one."""
        pointer = self._library.llama_get_logits_ith(self._handle, index)
        return np.ctypeslib.as_array(pointer, (self._model.vocabulary_size,))
