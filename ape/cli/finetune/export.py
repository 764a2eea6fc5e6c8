"""`ape finetune export`: export an adapter as GGUF, merged model or model card."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ape.errors import InputError


class ExportTarget(StrEnum):
    """Export targets."""

    GGUF = "gguf"
    MERGED = "merged"
    CARD = "card"


class GgufPrecision(StrEnum):
    """Precisions of a GGUF file."""

    HALF = "float16"
    SINGLE = "float32"


def export(
    adapter: Annotated[Path, typer.Argument(help="Adapter directory of `ape finetune train`.")],
    to: Annotated[
        ExportTarget, typer.Option(help="Target: a LoRA for the embedded engine, a merged model, or the model card.")
    ] = ExportTarget.GGUF,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output path; GGUF file and card go to the adapter directory by default."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Base model: a directory, hub id, .gguf file or name; see the adapter’s card.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Training set, for the model card.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the adapter on the model card.")] = None,
    precision: Annotated[GgufPrecision, typer.Option(help="Precision of the GGUF file.")] = GgufPrecision.HALF,
) -> None:
    """Export an adapter and print the path; existing files are never replaced."""
    from ape.adapters import CARD_FILE

    if not (adapter / CARD_FILE).is_file():
        raise InputError(f"{adapter} has no {CARD_FILE}: it was not written by `ape finetune train`.")
    match to:
        case ExportTarget.GGUF:
            written = _gguf(adapter, out, base, precision)
        case ExportTarget.MERGED:
            written = _merged(adapter, out, base)
        case ExportTarget.CARD:
            written = _card(adapter, out, data, name)
    typer.echo(written)


def _gguf(adapter: Path, out: Path | None, base: str | None, precision: GgufPrecision) -> Path:
    from ape.adapters import read_card
    from ape.adapters.gguf import GGUF_FILE
    from ape.cli.terminal import error_console, pull_progress

    path = _file(out, GGUF_FILE) if out else adapter / GGUF_FILE
    from ape.files.atomic import refuse_existing_path
    from finetune.base_model import find_base
    from finetune.export.gguf_lora import write_gguf_lora
    from finetune.export.merged_model import require_same_base

    refuse_existing_path(path)
    card = read_card(adapter)
    with pull_progress(error_console()) as progress:
        model = find_base(base or card.base.model, progress=progress)
    require_same_base(card, model.card)
    return write_gguf_lora(adapter, model, path, precision=precision.value)


def _merged(adapter: Path, out: Path | None, base: str | None) -> Path:
    from ape.adapters import read_card
    from ape.cli.terminal import error_console, print_line, pull_progress

    if out is None:
        raise InputError("A merged model needs a new directory: -o DIRECTORY.", field="out")
    from finetune.export.merged_model import write_merged
    from finetune.export.model_card import serving_instructions

    card = read_card(adapter)
    with pull_progress(error_console()) as progress:
        written = write_merged(adapter, base or card.base.model, out, progress=progress)
    print_line(serving_instructions(card))
    return written


def _card(adapter: Path, out: Path | None, data: Path | None, name: str | None) -> Path:
    import json

    from ape.files.atomic import explain_write_errors, refuse_existing_path, write_text_atomic
    from finetune.export.model_card import render_model_card

    path = _file(out, "README.md") if out else adapter / "README.md"
    manifest = None
    if data is not None:
        try:
            manifest = json.loads((data / "manifest.json").read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(f"{data} is not a training set of `ape finetune build`: {error}.", field="data") from error
    # PEFT writes a template under this name, which may be replaced.
    if not _is_template(path):
        refuse_existing_path(path)
    text = render_model_card(adapter, manifest=manifest, name=name)
    with explain_write_errors(path, remedy="Free some space, or choose another path."):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_atomic(path, text)
    return path


def _is_template(path: Path) -> bool:
    try:
        return "[More Information Needed]" in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _file(out: Path, name: str) -> Path:
    """A file in the directory, if `out` is an existing directory."""
    return out / name if out.is_dir() else out
