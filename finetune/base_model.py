"""Load a base model from a directory, a hub id, a GGUF file or a name of our catalogue.

A GGUF file is converted to a transformers model once and cached under its hash: the conversion takes half a minute,
loading the result a second. The fingerprint is that of the converted weights, so a GGUF file and the directory made
from it count as the same base.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from ape.adapters import AdapterCardBase, read_base
from ape.errors import InputError, ModelError
from ape.files.atomic import atomic_path
from ape.files.hashing import hash_file
from ape.models import (
    CATALOGUE,
    DEFAULT_MODEL,
    TUNED_MODEL,
    DownloadListener,
    DownloadProgress,
    ignore_progress,
    resolve_model,
)
from ape.models.gguf_header import read_gguf_header
from ape.settings import load_settings
from finetune.progress_bars import hide_progress_bars

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
# The catalogue models that an adapter can be trained on.
BASE_NAMES = tuple(name for name in CATALOGUE if name != TUNED_MODEL)


@dataclass(frozen=True, slots=True)
class LoadedBase:
    """A causal language model of transformers with its tokenizer, and the location they were loaded from."""

    model: Any
    tokenizer: Any
    card: AdapterCardBase
    location: str


@dataclass(frozen=True, slots=True)
class BaseLocation:
    """A directory or hub id that transformers can load, and the base as a card names it."""

    location: str
    card: AdapterCardBase


def load_base(
    name: str,
    *,
    dtype: str | None = None,
    quantised: bool = False,
    cache: Path | None = None,
    progress: DownloadListener = ignore_progress,
) -> LoadedBase:
    """Load the model and its tokenizer, in float32 by default; `quantised` loads it in 4 bits, for QLoRA on a GPU.

    `cache` holds converted GGUF files; by default it is the cache of the settings.
    """
    import torch
    from transformers import AutoModelForCausalLM

    found = find_base(name, cache=cache, progress=progress)
    options: dict[str, Any] = {"dtype": getattr(torch, dtype or "float32")}
    if quantised:
        options["quantization_config"] = _four_bit_config()
    tokenizer = load_tokenizer(found, name)
    with _explain_load_errors(name):
        model = AutoModelForCausalLM.from_pretrained(found.location, **options)
    card = found.card
    if revision := getattr(model.config, "_commit_hash", None):
        card = card.model_copy(update={"revision": revision})
    if card.fingerprint is None:  # a hub model that was not downloaded before
        card = card.model_copy(update={"fingerprint": read_base(found.location).fingerprint})
    return LoadedBase(model, tokenizer, card, found.location)


def load_tokenizer(found: BaseLocation, name: str) -> Any:
    """Load the tokenizer alone, and check that it has an end token."""
    from transformers import AutoTokenizer

    with _explain_load_errors(name):
        tokenizer = AutoTokenizer.from_pretrained(found.location)
    if tokenizer.eos_token_id is None:
        raise InputError(
            f"The base model {name} has no end token (eos_token), so a model trained on it would never stop. "
            "Set it in its tokenizer_config.json, or use another base."
        )
    return tokenizer


def find_base(name: str, *, cache: Path | None = None, progress: DownloadListener = ignore_progress) -> BaseLocation:
    """Resolve a name to a model that transformers can load; convert a GGUF file unless the cache has it."""
    path = Path(name).expanduser()
    if path.is_dir():
        own = path.resolve().name
        card = AdapterCardBase(model=_catalogue_name(own) or own, fingerprint=read_base(str(path)).fingerprint)
        return BaseLocation(str(path), card)
    if name == TUNED_MODEL:
        raise InputError(f"{name} is not a base model: it is {DEFAULT_MODEL} with an adapter. Use {DEFAULT_MODEL}.")
    if name in CATALOGUE or path.suffix == ".gguf":
        cache = cache or load_settings().cache
        return _find_unpacked(
            resolve_model(name, cache=cache, progress=progress), cache / "unpacked", progress=progress
        )
    if path.exists() or not _HUB_ID.fullmatch(name):
        raise InputError(
            f"There is no base model {name}. Give a directory with config.json and safetensors, a .gguf file, a hub "
            f"id (owner/name), or one of {', '.join(BASE_NAMES)}."
        )
    return BaseLocation(name, AdapterCardBase(model=name, fingerprint=read_base(name).fingerprint))


def unpack_gguf(gguf: Path, folder: Path) -> None:
    """Convert a GGUF file to a transformers model in float32; the folder appears once it is complete."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder) as draft, _explain_load_errors(str(gguf)):
            _unpack(gguf, draft)
    except OSError as error:
        raise ModelError(
            f"{gguf.name} could not be converted in {folder.parent}: {error.strerror or error}. "
            "Free some space, or set APE_CACHE to another folder."
        ) from error


def _unpack(gguf: Path, folder: Path) -> None:
    """Rebuild the model without quantization_config: the loaded weights are float32 already."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    loaded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    del loaded.config.quantization_config
    model = type(loaded)(loaded.config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(**source)
    _split_digits(tokenizer, gguf)
    tokenizer.save_pretrained(folder)


def _split_digits(tokenizer: Any, gguf: Path) -> None:
    """Make each digit a token where llama.cpp does; transformers does not read this setting from the file.

    Without it, 81 of 2,112 lines of text had other tokens in training than in serving, mostly at spaces before digits.
    """
    from tokenizers.pre_tokenizers import ByteLevel, Digits
    from tokenizers.pre_tokenizers import Sequence as PreTokenizerSequence

    if read_gguf_header(gguf).metadata.get("tokenizer.ggml.pre") == "smollm":
        parts = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
        tokenizer.backend_tokenizer.pre_tokenizer = PreTokenizerSequence(parts)


def _find_unpacked(gguf: Path, within: Path, *, progress: DownloadListener) -> BaseLocation:
    digest = hash_file(gguf)
    folder = within / digest
    within.mkdir(parents=True, exist_ok=True)
    with FileLock(within / f"{digest}.lock"):
        if not folder.is_dir():
            progress(DownloadProgress(f"Converting {gguf.name} (once)"))
            unpack_gguf(gguf, folder)
    card = AdapterCardBase(
        model=_catalogue_name(digest) or gguf.stem,
        revision=f"sha256:{digest}",
        fingerprint=read_base(str(folder)).fingerprint,
    )
    return BaseLocation(str(folder), card)


def _catalogue_name(digest: str) -> str | None:
    """The catalogue model whose file has this hash; its converted directory is named by the hash too."""
    return next((model.name for model in CATALOGUE.values() if model.sha256 == digest), None)


def _four_bit_config() -> Any:
    from importlib.util import find_spec

    import torch
    from transformers import BitsAndBytesConfig

    if find_spec("bitsandbytes") is None or not torch.cuda.is_available():
        raise ModelError(
            "A base in 4 bits (QLoRA) needs a CUDA GPU and `pip install bitsandbytes`. Turn quantised off."
        )
    config: Any = BitsAndBytesConfig
    return config(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


@contextmanager
def _explain_load_errors(name: str) -> Iterator[None]:
    """Turn the errors of transformers about unusable files into a ModelError, and hide its progress bars."""
    try:
        with hide_progress_bars():
            yield
    except OSError as error:
        if error.errno is not None and not isinstance(error, FileNotFoundError):
            raise  # the disk failed
        raise ModelError(_load_error_message(name, error)) from error
    except Exception as error:  # a damaged file raises anything from KeyError to SafetensorError
        raise ModelError(_load_error_message(name, error)) from error


def _load_error_message(name: str, error: Exception) -> str:
    lines = str(error).strip().splitlines()
    reason = (lines[0] if lines else type(error).__name__).rstrip(".")
    hint = (
        "Is it a complete causal language model, with its tokenizer?"
        if Path(name).exists()
        else "Is that its id on the hub, and is the hub reachable?"
    )
    return f"The base model {name} can't be loaded: {reason}. {hint}"
