"""Merge an adapter into its base, for servers without support for adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ape.adapters import AdapterCard, AdapterCardBase, read_card, write_card
from ape.errors import AdapterRefused
from ape.files.atomic import new_output, refuse_existing_path
from ape.models import DownloadListener, ignore_progress
from finetune.base_model import LoadedBase, load_base
from finetune.export.model_card import render_model_card
from finetune.progress_bars import hide_progress_bars


def write_merged(
    adapter: Path, base: str, output: Path, *, cache: Path | None = None, progress: DownloadListener = ignore_progress
) -> Path:
    """Write the merged model in float32 to a new directory, with tokenizer, adapter card and README.

    Engines read the prompt format from the card.
    """
    refuse_existing_path(output)
    card = read_card(adapter)
    loaded = load_base(base, cache=cache, progress=progress)
    require_same_base(card, loaded.card)
    model = _merge(adapter, loaded)
    with new_output(output) as draft, hide_progress_bars():
        model.save_pretrained(draft)
        loaded.tokenizer.save_pretrained(draft)
        write_card(draft, card)
        (draft / "README.md").write_text(render_model_card(adapter, name=output.name, merged=True), encoding="utf-8")
    return output


def require_same_base(card: AdapterCard, base: AdapterCardBase) -> None:
    """Refuse a base with another fingerprint than the card's; without fingerprints nothing is compared."""
    expected = card.base
    if expected.fingerprint and base.fingerprint and expected.fingerprint != base.fingerprint:
        raise AdapterRefused(
            f"It was trained on {expected.model} ({expected.fingerprint}), and {base.model} ({base.fingerprint}) is "
            "another model. Give the base that it was trained on."
        )


def _merge(adapter: Path, loaded: LoadedBase) -> Any:
    from peft import PeftConfig, PeftModel

    try:
        config: Any = PeftConfig.from_pretrained(str(adapter))
        _refuse_tied(config, loaded.model)
        tuned: Any = PeftModel.from_pretrained(loaded.model, str(adapter), config=config)
        return tuned.merge_and_unload(safe_merge=True)
    except AdapterRefused:
        raise
    except Exception as error:  # damaged files raise anything from KeyError to SafetensorError
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise AdapterRefused(f"{adapter} can't be merged into its base: {reason}.") from error


def _refuse_tied(config: Any, model: Any) -> None:
    """Refuse an update of tied embeddings: merged, it would change both matrices."""
    named = config.target_modules or ()
    changed = {*((named,) if isinstance(named, str) else named), *(config.modules_to_save or ())}
    if model.config.tie_word_embeddings and changed & {"lm_head", "embed_tokens"}:
        raise AdapterRefused(
            "It changes lm_head or the embedding, which share one matrix in this model: merged, it would change both. "
            "Train without them."
        )
