"""Read and check an adapter directory before it is passed to a server.

A server fails on a bad adapter with a stack trace, or loads it and writes nonsense. These checks give a clear reason:
they cover the location of the files, the kind of adapter, the integrity of its weights, and the base model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ape.adapters.base_model import AdapterBase
from ape.adapters.card import CARD_FILE, AdapterCard, read_card
from ape.adapters.safetensors_header import DamagedSafetensors, SafetensorsTensor, read_safetensors_header
from ape.errors import AdapterRefused

CONFIG_FILE = "adapter_config.json"
WEIGHTS_FILE = "adapter_model.safetensors"
_FILES = (CONFIG_FILE, WEIGHTS_FILE, CARD_FILE)
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_LORA = re.compile(r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?P<side>[AB])\.weight")
# Initialisations that do not change the base model.
_HARMLESS_INITS = ("gaussian", "eva", "orthogonal", "mica", "lora_ga")
# Features of PEFT that change what an adapter computes and that servers do not support.
_UNSUPPORTED = {
    "use_dora": "DoRA",
    "lora_bias": "a LoRA bias",
    "modules_to_save": "whole modules in addition to the LoRA",
    "layer_replication": "replicated layers",
    "alora_invocation_tokens": "activated LoRA",
    "use_qalora": "QALoRA",
    "use_bdlora": "block-diagonal LoRA",
    "trainable_token_indices": "trained token embeddings",
}


@dataclass(frozen=True, slots=True)
class Adapter:
    """A checked adapter.

    `revision` is a hash of its weights and prompt format: adapters with the same revision give the same answers.
    """

    name: str
    directory: Path
    card: AdapterCard
    format: str
    rank: int
    revision: str


def check_adapter_name(name: str) -> str:
    """Return the name if it is valid, so that it is safe in URLs and logs."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise AdapterRefused(
            f"{name!r} is not a valid adapter name: use at most 64 letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit.",
            field="name",
        )
    return name


def locate_adapter(given: str, roots: Sequence[Path]) -> Path:
    """The adapter directory below one of the roots, with links resolved."""
    if not roots:
        raise AdapterRefused(
            "This service may not load adapters from any directory. Set `adapter_dirs` to allow some.",
            field="directory",
        )
    for root in roots:
        with suppress(OSError, ValueError, RuntimeError):  # a name that is too long, a NUL, a loop of links
            place = (root / given).resolve()
            if place.is_dir() and _within(place, roots):
                _refuse_links_to_elsewhere(place, roots)
                return place
    raise AdapterRefused(
        f"There is no adapter directory {given!r} in the directories that this service may load adapters from "
        "(links that lead out of them are not followed).",
        field="directory",
    )


def _within(place: Path, roots: Sequence[Path]) -> bool:
    return any(place.is_relative_to(root.resolve()) for root in roots)


def _refuse_links_to_elsewhere(place: Path, roots: Sequence[Path]) -> None:
    for name in _FILES:
        path = place / name
        if path.exists() and not _within(path.resolve(), roots):
            raise AdapterRefused(
                f"{name} of that adapter is a link to a file outside the directories that this service may read.",
                field="directory",
            )


def list_adapters(roots: Sequence[Path]) -> Iterator[Path]:
    """The adapter directories directly below the roots."""
    for root in roots:
        if root.is_dir():
            yield from sorted(place for place in root.iterdir() if (place / CONFIG_FILE).is_file())


def snapshot_adapter(directory: Path, into: Path) -> Path:
    """Copy the files of an adapter to a directory named by their hash.

    Retraining may overwrite the original at any time, while a server may read an adapter again after evicting it, and
    caches by its path.
    """
    into.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".copy-", dir=into))
    try:
        for name in _FILES:
            if (directory / name).is_file():
                shutil.copyfile(directory / name, draft / name)
        place = into / _hash(draft, _FILES)
        if not place.exists():
            os.replace(draft, place)  # noqa: PTH105 - atomic, and there is no file to be in the way
    except OSError as error:
        raise AdapterRefused(f"{directory} can't be read: {error.strerror}.", field="directory") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return place


def read_adapter(name: str, directory: Path, *, base: AdapterBase, max_rank: int | None = None) -> Adapter:
    """The adapter, or AdapterRefused with the reason why it can't be served on that base."""
    check_adapter_name(name)
    card = read_card(directory)
    form = card.format
    config = _config(directory)
    tensors = _weights(directory)
    rank = _rank(config, tensors)
    if max_rank is not None and rank > max_rank:
        raise AdapterRefused(
            f"It has rank {rank}, and vLLM was started for ranks up to {max_rank}. "
            f"Start the service with this adapter, or with --max-lora-rank {rank} in `vllm_flags`."
        )
    _refuse_other_base(card, base)
    _refuse_other_shape(tensors, base)
    _refuse_invalid_weights(tensors)
    revision = _hash(directory, (CONFIG_FILE, WEIGHTS_FILE), prefix=card.decides)
    return Adapter(name, directory, card, form, rank, revision)


def read_rank(directory: Path) -> int:
    """The rank that a server needs for the adapter, read from its configuration only."""
    return _configured_rank(_config(directory))


def _config(directory: Path) -> dict[str, Any]:
    try:
        config = json.loads((directory / CONFIG_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise AdapterRefused(f"It has no {CONFIG_FILE}: is {directory.name!r} a PEFT adapter?") from error
    except (ValueError, RecursionError) as error:
        raise AdapterRefused(f"Its {CONFIG_FILE} is not JSON.") from error
    if not isinstance(config, dict) or str(config.get("peft_type")).upper() != "LORA":
        kind = config.get("peft_type") if isinstance(config, dict) else None
        raise AdapterRefused(f"It is an adapter of the kind {kind!r}, and only LoRA can be served.")
    for key, what in _UNSUPPORTED.items():
        if config.get(key):
            raise AdapterRefused(f"It uses {what} ({key}), which can't be served.")
    if config.get("bias", "none") != "none":
        raise AdapterRefused("It trains biases too (bias), which can't be served.")
    init = config.get("init_lora_weights")
    if isinstance(init, str) and init.lower() not in _HARMLESS_INITS:
        raise AdapterRefused(
            f"It was initialised by {init} (init_lora_weights), which changes the base too. Convert it to a plain LoRA."
        )
    alpha = config.get("lora_alpha")
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise AdapterRefused(f"Its {CONFIG_FILE} states no lora_alpha.")
    if not config.get("target_modules"):
        raise AdapterRefused(f"Its {CONFIG_FILE} states no target_modules.")
    return config


def _configured_rank(config: dict[str, Any]) -> int:
    pattern = config.get("rank_pattern") or {}
    ranks = [config.get("r"), *(pattern.values() if isinstance(pattern, dict) else ())]
    if not all(isinstance(rank, int) and rank > 0 for rank in ranks):
        raise AdapterRefused(f"Its {CONFIG_FILE} states no rank (r).")
    return max(rank for rank in ranks if isinstance(rank, int))


def _weights(directory: Path) -> dict[str, SafetensorsTensor]:
    path = directory / WEIGHTS_FILE
    try:
        tensors = read_safetensors_header(path)
    except FileNotFoundError as error:
        pickled = directory / "adapter_model.bin"
        also = " A .bin file may run arbitrary code when it is read, and is never loaded." if pickled.exists() else ""
        raise AdapterRefused(f"It has no {WEIGHTS_FILE}.{also}") from error
    except (DamagedSafetensors, OSError) as error:
        raise AdapterRefused(f"Its {WEIGHTS_FILE} is damaged: {error}. Copy it again.") from error
    others = [name for name in tensors if not _LORA.fullmatch(name)]
    if others or not tensors:
        what = f"has {others[0]!r}" if others else "is empty"
        raise AdapterRefused(f"Its {WEIGHTS_FILE} {what}, and should hold only LoRA weights.")
    return tensors


def _rank(config: dict[str, Any], tensors: dict[str, SafetensorsTensor]) -> int:
    """The largest rank of the weights. It must be the configured rank, by which they are scaled."""
    stated = _configured_rank(config)
    found = 0
    for module, pair in _pairs(tensors).items():
        if set(pair) != {"A", "B"}:
            raise AdapterRefused(f"Its {WEIGHTS_FILE} has one half of {module} and not the other.")
        first, second = pair["A"].shape, pair["B"].shape
        if len(first) != 2 or len(second) != 2 or first[0] != second[1]:
            raise AdapterRefused(f"In its {WEIGHTS_FILE} the two halves of {module} do not fit: {first}, {second}.")
        found = max(found, first[0])
    if found != stated:
        raise AdapterRefused(f"Its {CONFIG_FILE} states rank {stated}, and its weights have rank {found}.")
    return found


def _pairs(tensors: dict[str, SafetensorsTensor]) -> dict[str, dict[str, SafetensorsTensor]]:
    pairs: dict[str, dict[str, SafetensorsTensor]] = {}
    for name, tensor in tensors.items():
        if found := _LORA.fullmatch(name):
            pairs.setdefault(found["module"], {})[found["side"]] = tensor
    return pairs


def _refuse_other_base(card: AdapterCard, base: AdapterBase) -> None:
    theirs = card.base
    if theirs.fingerprint and base.fingerprint:
        if theirs.fingerprint != base.fingerprint:
            raise AdapterRefused(
                f"It was trained on {theirs.model} ({theirs.fingerprint}), and {base.name} ({base.fingerprint}) "
                "is served here: another model."
            )
    elif theirs.model.rstrip("/") != base.name.rstrip("/"):
        missing = "the model's files are not on this machine" if theirs.fingerprint else "it has no fingerprint"
        raise AdapterRefused(
            f"It was trained on {theirs.model}, and {base.name} is served here. They can't be compared: {missing}."
        )


def _refuse_other_shape(tensors: dict[str, SafetensorsTensor], base: AdapterBase) -> None:
    if base.dimensions is None:
        return
    for module, pair in _pairs(tensors).items():
        expected = base.dimensions.get(f"{module}.weight")
        if expected is None:
            raise AdapterRefused(f"It changes {module}, which {base.name} does not have.")
        actual = (pair["B"].shape[0], pair["A"].shape[1])
        if actual != expected:
            raise AdapterRefused(f"For {module} it has the shape {actual}, and {base.name} has {expected}.")


def _refuse_invalid_weights(tensors: dict[str, SafetensorsTensor]) -> None:
    for name, tensor in tensors.items():
        if not tensor.is_float or not np.isfinite(tensor.read()).all():
            raise AdapterRefused(f"Its {WEIGHTS_FILE} is damaged: {name} holds values that are not numbers.")


def _hash(directory: Path, names: Sequence[str], *, prefix: bytes = b"") -> str:
    digest = hashlib.sha256(prefix)
    for name in names:
        path = directory / name
        if path.is_file():
            digest.update(name.encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
