"""Load an adapter on its base, in transformers with peft and in the embedded engine."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ape.adapters import CARD_FILE, AdapterCard, read_adapter, read_base, read_card
from ape.adapters.gguf import GGUF_FILE, read_gguf_adapter
from ape.engines import Engine
from ape.engines.embedded import DEFAULT_WINDOW, embedded_engine
from ape.errors import InputError
from ape.models import CATALOGUE, DownloadListener, ignore_progress, resolve_model
from ape.models.gguf_header import read_gguf_header
from finetune.base_model import BaseLocation, load_base
from finetune.checks.divergence import NEAR_TIE, ROUNDED_NEAR_TIE
from finetune.export.gguf_lora import write_gguf_lora
from prompts import prompt_format

TUNED_ALIAS = "tuned"


@dataclass(frozen=True, slots=True)
class TunedModel:
    """The model with its adapter in float32, and their locations."""

    directory: Path
    card: AdapterCard
    base: BaseLocation
    model: Any
    tokenizer: Any

    @property
    def library_versions(self) -> str:
        """Library versions, for the report."""
        return ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "peft")) + ", float32"


def load_tuned_model(
    directory: Path, base: str | None, *, cache: Path, progress: DownloadListener = ignore_progress
) -> TunedModel:
    """Load the adapter on the base of its card, or on `base`, which must have the same weights."""
    from peft import PeftModel

    if not directory.is_dir():
        raise InputError(f"There is no adapter directory {directory}.")
    card = read_card(directory)
    if prompt_format(card.format).is_chat:
        raise InputError(f"{directory} was trained in the chat format {card.prompt}, which is not checked here.")
    loaded = load_base(base or card.base.model, cache=cache, progress=progress)
    read_adapter("adapter", directory, base=read_base(loaded.location))
    model = PeftModel.from_pretrained(loaded.model, str(directory)).eval()
    return TunedModel(directory, card, BaseLocation(loaded.location, loaded.card), model, loaded.tokenizer)


def find_gguf(base: str, *, cache: Path, progress: DownloadListener = ignore_progress) -> Path | None:
    """The GGUF file of the base; None if it is not a GGUF model."""
    is_gguf = base in CATALOGUE or Path(base).suffix == ".gguf"
    return resolve_model(base, cache=cache, progress=progress) if is_gguf else None


@asynccontextmanager
async def open_embedded_engine(tuned: TunedModel, base: Path, *, threads: int | None = None) -> AsyncIterator[Engine]:
    """Open the embedded engine with the adapter as TUNED_ALIAS; one slot, so that answers do not depend on order."""
    with _gguf_directory(tuned) as directory:
        adapter = read_gguf_adapter(TUNED_ALIAS, directory, base=base)
        async with embedded_engine(
            base,
            name="base",
            concurrency=1,
            window=DEFAULT_WINDOW,
            threads=threads,
            repeatable=True,
            adapters=[adapter],
        ) as engine:
            yield engine


def embedded_engine_name(base: Path) -> str:
    """Name of the engine with the quantisation of its weights."""
    return f"llama.cpp (xllamacpp {version('xllamacpp')}), {base.name}, weights in {quantisation(base)}"


def quantisation(base: Path) -> str:
    """The tensor type of most weights in a GGUF file.

    For quantised weights, transformers computes with the same values in float32, while llama.cpp rounds the inputs to 8
    bits. So the two may differ by more than the order of sums explains, with neither wrong.
    """
    from gguf import GGMLQuantizationType

    kinds: Counter[int] = Counter()
    for tensor in read_gguf_header(base).tensors.values():
        kinds[tensor.kind] += prod(tensor.shape)
    return str(GGMLQuantizationType(kinds.most_common(1)[0][0]).name)


def near_tie_margin(base: Path) -> float:
    """Margin below which rounding with these weights may choose another token."""
    return NEAR_TIE if quantisation(base) in ("F32", "F16", "BF16") else ROUNDED_NEAR_TIE


@contextmanager
def _gguf_directory(tuned: TunedModel) -> Iterator[Path]:
    """The adapter's directory if it was exported to GGUF, else a temporary one."""
    if (tuned.directory / GGUF_FILE).exists():
        yield tuned.directory
        return
    with TemporaryDirectory(prefix="ape-check-") as folder:
        place = Path(folder)
        shutil.copyfile(tuned.directory / CARD_FILE, place / CARD_FILE)
        write_gguf_lora(tuned.directory, tuned.base, place / GGUF_FILE)
        yield place
