"""The adapter's change added to its base: an ordinary model, for servers that take no adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ape.adapters import read_card, write_card
from ape.errors import AdapterRefused
from ape.files.atomic import new_output, refuse_existing_path
from ape.models import DownloadListener, ignore_progress
from finetune.base_model import LoadedBase, load_base
from finetune.export.base_check import require_same_base
from finetune.export.model_card import render_model_card
from finetune.progress_bars import hide_progress_bars


def write_merged(
    adapter: Path,
    base: str,
    into: Path,
    *,
    cache: Path | None = None,
    progress: DownloadListener = ignore_progress,
) -> Path:
    """Write the merged model in float32 to a directory that is new, with its tokenizer and the adapter's card.

    Engines read from that card in which format it is to be asked, and people from the README beside it.
    """
    refuse_existing_path(into)
    card = read_card(adapter)
    loaded = load_base(base, cache=cache, progress=progress)
    require_same_base(card, loaded.card)
    model = _merge(adapter, loaded)
    with new_output(into) as draft, hide_progress_bars():
        model.save_pretrained(draft)
        loaded.tokenizer.save_pretrained(draft)
        write_card(draft, card)
        (draft / "README.md").write_text(
            render_model_card(adapter, name=into.name, merged=True), encoding="utf-8"
        )
    return into


def _merge(adapter: Path, loaded: LoadedBase) -> Any:
    from peft import PeftConfig, PeftModel

    try:
        config: Any = PeftConfig.from_pretrained(str(adapter))
        _refuse_tied(config, loaded.model)
        tuned: Any = PeftModel.from_pretrained(loaded.model, str(adapter), config=config)
        return tuned.merge_and_unload(safe_merge=True)
    except AdapterRefused:
        raise
    except Exception as error:  # anything from KeyError to SafetensorError, by what is wrong with the files
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise AdapterRefused(f"{adapter} can't be put on its base: {said.rstrip('.')}.") from error


def _refuse_tied(config: Any, model: Any) -> None:
    """Where output and embedding are one matrix, what is added to the one would be added to the other too."""
    named = config.target_modules or ()
    changed = {*((named,) if isinstance(named, str) else named), *(config.modules_to_save or ())}
    if model.config.tie_word_embeddings and changed & {"lm_head", "embed_tokens"}:
        raise AdapterRefused(
            "It changes lm_head or the embedding, and in this model they are one: merged, it would change both. "
            "Train without them."
        )
