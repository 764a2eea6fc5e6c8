"""A base model to train on or to merge into: a directory, a hub id, a GGUF file, or a name of our catalogue.

A GGUF file is unpacked to an ordinary model once, and kept in the cache under the hash of the file: transformers takes
half a minute for what it then reads in a second. The fingerprint is that of the unpacked weights, so a file and the
directory made of it are one base.
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
# The names of our catalogue that are bases.
BASE_NAMES = tuple(name for name in CATALOGUE if name != TUNED_MODEL)


@dataclass(frozen=True, slots=True)
class LoadedBase:
    """A causal language model of transformers with its tokenizer. `place` is what they were loaded from."""

    model: Any
    tokenizer: Any
    card: AdapterCardBase
    place: str


@dataclass(frozen=True, slots=True)
class BaseLocation:
    """A base that transformers can load from `place`, a directory or a hub id; and how a card names it."""

    place: str
    card: AdapterCardBase


def load_base(
    name: str,
    *,
    dtype: str | None = None,
    quantised: bool = False,
    cache: Path | None = None,
    progress: DownloadListener = ignore_progress,
) -> LoadedBase:
    """The model and its tokenizer, in float32 unless told; `quantised` to 4 bits, for training on a GPU (QLoRA).

    `cache` is where GGUF files are unpacked to: that of the settings if left out.
    """
    import torch
    from transformers import AutoModelForCausalLM

    found = find_base(name, cache=cache, progress=progress)
    options: dict[str, Any] = {"dtype": getattr(torch, dtype or "float32")}
    if quantised:
        options["quantization_config"] = _four_bit_config()
    tokenizer = load_tokenizer(found, name)
    with _explain_load_errors(name):
        model = AutoModelForCausalLM.from_pretrained(found.place, **options)
    card = found.card
    if revision := getattr(model.config, "_commit_hash", None):
        card = card.model_copy(update={"revision": revision})
    if card.fingerprint is None:  # of the hub, and only now on this machine
        card = card.model_copy(update={"fingerprint": read_base(found.place).fingerprint})
    return LoadedBase(model, tokenizer, card, found.place)


def load_tokenizer(found: BaseLocation, name: str) -> Any:
    """Its tokenizer alone; it has to have an end token, or what is trained would never stop."""
    from transformers import AutoTokenizer

    with _explain_load_errors(name):
        tokenizer = AutoTokenizer.from_pretrained(found.place)
    if tokenizer.eos_token_id is None:
        raise InputError(
            f"The base model {name} has no end token (eos_token), so a model trained on it would never stop. "
            "Set it in its tokenizer_config.json, or take another base."
        )
    return tokenizer


def find_base(
    name: str, *, cache: Path | None = None, progress: DownloadListener = ignore_progress
) -> BaseLocation:
    """Where transformers finds the model that is meant; a GGUF file is unpacked first, unless that was done before."""
    place = Path(name).expanduser()
    if place.is_dir():
        own = place.resolve().name
        card = AdapterCardBase(
            model=_catalogue_name(own) or own, fingerprint=read_base(str(place)).fingerprint
        )
        return BaseLocation(str(place), card)
    if name == TUNED_MODEL:
        raise InputError(
            f"{name} is no base, but {DEFAULT_MODEL} with an adapter on it. Give {DEFAULT_MODEL}."
        )
    if name in CATALOGUE or place.suffix == ".gguf":
        cache = cache or load_settings().cache
        return _find_unpacked(
            resolve_model(name, cache=cache, progress=progress), cache / "unpacked", progress=progress
        )
    if place.exists() or not _HUB_ID.fullmatch(name):
        raise InputError(
            f"There is no base model {name}. Give a directory with config.json and safetensors, a .gguf file, a hub "
            f"id (owner/name), or one of {', '.join(BASE_NAMES)}."
        )
    return BaseLocation(name, AdapterCardBase(model=name, fingerprint=read_base(name).fingerprint))


def unpack_gguf(gguf: Path, folder: Path) -> None:
    """Save the model of a GGUF file as an ordinary one, in float32. The folder appears when all of it is there."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder) as draft, _explain_load_errors(str(gguf)):
            _unpack(gguf, draft)
    except OSError as error:
        raise ModelError(
            f"{gguf.name} can't be unpacked to {folder.parent}: {error.strerror or error}. "
            "Make room, or choose another folder by setting APE_CACHE."
        ) from error


def _unpack(gguf: Path, folder: Path) -> None:
    """The config of what transformers loads says that it is quantised, which its weights no longer are."""
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
    """Have it take every digit by itself where llama.cpp does, which transformers does not read out of the file.

    Without it 81 of 2,112 lines of text were other tokens in training than in serving, mostly at spaces before digits.
    """
    from tokenizers.pre_tokenizers import ByteLevel, Digits
    from tokenizers.pre_tokenizers import Sequence as InTurn

    if read_gguf_header(gguf).metadata.get("tokenizer.ggml.pre") == "smollm":
        parts = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
        tokenizer.backend_tokenizer.pre_tokenizer = InTurn(parts)


def _find_unpacked(gguf: Path, within: Path, *, progress: DownloadListener) -> BaseLocation:
    digest = hash_file(gguf)
    folder = within / digest
    within.mkdir(parents=True, exist_ok=True)
    with FileLock(within / f"{digest}.lock"):
        if not folder.is_dir():
            progress(DownloadProgress(f"Unpacking {gguf.name}, which is done once"))
            unpack_gguf(gguf, folder)
    told = read_base(str(folder)).fingerprint
    card = AdapterCardBase(
        model=_catalogue_name(digest) or gguf.stem, revision=f"sha256:{digest}", fingerprint=told
    )
    return BaseLocation(str(folder), card)


def _catalogue_name(digest: str) -> str | None:
    """The name in our catalogue of the file with that hash, by which its unpacked directory is called too."""
    return next((model.name for model in CATALOGUE.values() if model.sha256 == digest), None)


def _four_bit_config() -> Any:
    from importlib.util import find_spec

    import torch
    from transformers import BitsAndBytesConfig

    if find_spec("bitsandbytes") is None or not torch.cuda.is_available():
        raise ModelError(
            "A base in 4 bits (QLoRA) needs a CUDA GPU and `pip install bitsandbytes`. Train without it here."
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
    """Whatever a library says of files that it can't use, as one sentence; and no progress bars of its own."""
    try:
        with hide_progress_bars():
            yield
    except OSError as error:
        if error.errno is not None and not isinstance(error, FileNotFoundError):
            raise  # the disk itself
        raise ModelError(_complaint(name, error)) from error
    except Exception as error:  # a damaged file comes out as anything from KeyError to SafetensorError
        raise ModelError(_complaint(name, error)) from error


def _complaint(name: str, error: Exception) -> str:
    lines = str(error).strip().splitlines()
    said = lines[0] if lines else type(error).__name__
    here = "Is it a whole causal language model, with its tokenizer?"
    elsewhere = "Is that its id on the hub, and can the hub be reached from here?"
    return f"The base model {name} can't be loaded: {said.rstrip('.')}. {here if Path(name).exists() else elsewhere}"
