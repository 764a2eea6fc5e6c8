"""An adapter on its base: in transformers and peft as it was trained, and in the embedded engine as it is served."""

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
    """The model with its adapter in float32, and where both came from."""

    directory: Path
    card: AdapterCard
    base: BaseLocation
    model: Any
    tokenizer: Any

    @property
    def called(self) -> str:
        """What runs it."""
        return (
            ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "peft")) + ", float32"
        )


def load_tuned_model(
    directory: Path, base: str | None, *, cache: Path, progress: DownloadListener = ignore_progress
) -> TunedModel:
    """Load it on the base that its card names, unless another place of that base is told."""
    from peft import PeftModel

    if not directory.is_dir():
        raise InputError(f"There is no adapter directory {directory}.")
    card = read_card(directory)
    if prompt_format(card.format).is_chat:
        raise InputError(
            f"{directory} was trained in the chat format {card.prompt}, which is not checked here."
        )
    loaded = load_base(base or card.base.model, cache=cache, progress=progress)
    read_adapter("adapter", directory, base=read_base(loaded.location))
    model = PeftModel.from_pretrained(loaded.model, str(directory)).eval()
    return TunedModel(directory, card, BaseLocation(loaded.location, loaded.card), model, loaded.tokenizer)


def find_gguf(base: str, *, cache: Path, progress: DownloadListener = ignore_progress) -> Path | None:
    """The base as a GGUF file, where it is one."""
    is_gguf = base in CATALOGUE or Path(base).suffix == ".gguf"
    return resolve_model(base, cache=cache, progress=progress) if is_gguf else None


@asynccontextmanager
async def open_embedded_engine(
    tuned: TunedModel, base: Path, *, threads: int | None = None
) -> AsyncIterator[Engine]:
    """The embedded engine with the adapter, as SERVED; one slot, so that the order of prompts decides nothing."""
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
    """The engine, and the weights that it computes with."""
    return f"llama.cpp (xllamacpp {version('xllamacpp')}), {base.name}, weights in {quantisation(base)}"


def quantisation(base: Path) -> str:
    """The kind that most of a GGUF file's weights are of.

    Where it is a quantised one, transformers has the same weights unpacked to float32; llama.cpp multiplies them
    packed, and rounds what goes in to 8 bits for that. So the two may part where neither is wrong, and by more than the
    order of sums alone would do.
    """
    from gguf import GGMLQuantizationType

    kinds: Counter[int] = Counter()
    for tensor in read_gguf_header(base).tensors.values():
        kinds[tensor.kind] += prod(tensor.shape)
    return str(GGMLQuantizationType(kinds.most_common(1)[0][0]).name)


def near_tie_margin(base: Path) -> float:
    """The margin below which the engine's arithmetic with these weights may choose another token."""
    return NEAR_TIE if quantisation(base) in ("F32", "F16", "BF16") else ROUNDED_NEAR_TIE


@contextmanager
def _gguf_directory(tuned: TunedModel) -> Iterator[Path]:
    """The adapter's own directory where it has been exported, else one for the time being."""
    if (tuned.directory / GGUF_FILE).exists():
        yield tuned.directory
        return
    with TemporaryDirectory(prefix="ape-check-") as folder:
        place = Path(folder)
        shutil.copyfile(tuned.directory / CARD_FILE, place / CARD_FILE)
        write_gguf_lora(tuned.directory, tuned.base, place / GGUF_FILE)
        yield place
