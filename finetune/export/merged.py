"""The adapter's change added to its base: an ordinary model, for servers that take no adapters."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ape.adapters import read_card, write_card
from ape.errors import AdapterRefused
from ape.models import Progress, quiet
from finetune.base import LoadedBase, load_base
from finetune.export.aside import refuse_taken, written_aside
from finetune.export.bases import refuse_another_base


def write_merged(
    adapter: Path, base: str, into: Path, *, cache: Path | None = None, progress: Progress = quiet
) -> Path:
    """Write the merged model in float32, with its tokenizer and the adapter's card, to a directory that is new."""
    refuse_taken(into)
    card = read_card(adapter)
    loaded = load_base(base, cache=cache, progress=progress)
    refuse_another_base(card, loaded.card)
    model = _merge(adapter, loaded)
    with written_aside(into, folder=True) as draft:
        model.save_pretrained(draft)
        loaded.tokenizer.save_pretrained(draft)
        write_card(draft, card)
    return into


def _merge(adapter: Path, loaded: LoadedBase) -> Any:
    from peft import PeftModel

    try:
        with warnings.catch_warnings():
            # Tied embeddings stay tied: a LoRA on them is warned of, and merging is what resolves it.
            warnings.filterwarnings("ignore", message=".*tie_word_embeddings.*")
            tuned = PeftModel.from_pretrained(loaded.model, str(adapter))
    except Exception as error:  # anything from KeyError to SafetensorError, by what is wrong with the files
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise AdapterRefused(f"{adapter} can't be put on its base: {said.rstrip('.')}.") from error
    merging: Any = tuned
    return merging.merge_and_unload(safe_merge=True)
