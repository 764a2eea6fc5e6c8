"""The model card: README.md of an adapter, written from its own files, so that it says nothing they do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ape.adapters import CARD_FILE, AdapterCard, read_card
from ape.errors import InputError
from ape.models import CATALOGUE
from prompts import prompt_format

RESULTS_FILE = "results.json"
_LIMITATIONS = (
    "It was taught on single passages: it sees no context, glossary or instructions, whatever a request has of these.",
    "Other language pairs, kinds of text and MT systems than those above were not measured.",
    "It is meant to run behind the guards and the gate of `ape`, which keep the MT where an edit is doubtful.",
    "Post-edits are suggestions of a language model: they can be fluent and wrong.",
)


def render_model_card(
    adapter: Path,
    *,
    manifest: Mapping[str, Any] | None = None,
    name: str | None = None,
    merged: bool = False,
) -> str:
    """The text of the card. `manifest` is that of the training data, `name` the adapter's own if not its folder's.

    `merged` is for the model that the adapter and its base make.
    """
    card = read_card(adapter)
    name = name or adapter.resolve().name
    results = _results(adapter / RESULTS_FILE, card)
    sections = (
        _front_matter(card, merged=merged),
        [f"# {name}", "", *_about(card, merged=merged)],
        _section("Use", _use_merged(card) if merged else _use(card, name)),
        _section("Data", _data(card, manifest)),
        _section("Training", _settings(card.training)),
        _section("Gate", _gate(card)),
        _section("Results", _table(results) if results else []),
        _section("Served as trained", _settings(card.parity or {})),
        _section("Limits", [f"- {limit}" for limit in _LIMITATIONS]),
    )
    return "\n".join(line for section in sections for line in section).rstrip() + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    said = list(lines)
    return ["", f"## {title}", "", *said] if said else []


def serving_instructions(card: AdapterCard) -> str:
    """How to query the merged model; without them a server would query it as a chat model."""
    return f"{prompt_format(card.format).serving_instructions} The engines of ape read the format from {CARD_FILE}."


def _front_matter(card: AdapterCard, *, merged: bool) -> list[str]:
    """What the hub reads."""
    languages = sorted({code for pair in card.languages for code in pair.split("-")})
    told: dict[str, object] = {
        "base_model": card.base.model,
        "library_name": "transformers" if merged else "peft",
    }
    if card.base.model in CATALOGUE:
        told["license"] = CATALOGUE[card.base.model].licence.lower()
    if languages:
        told["language"] = languages
    told["tags"] = [*(() if merged else ("lora",)), "translation", "automatic-post-editing"]
    return ["---", *(f"{key}: {json.dumps(value)}" for key, value in told.items()), "---", ""]


def _about(card: AdapterCard, *, merged: bool) -> Iterator[str]:
    what = "model, its base and a LoRA adapter merged," if merged else "LoRA adapter"
    yield f"A {what} that repairs machine translations: given a passage and its MT, it writes the post-edit."
    yield ""
    yield f"- base: {card.base.model}" + (f", revision {card.base.revision}" if card.base.revision else "")
    if card.base.fingerprint:
        yield f"- fingerprint of the base's weights: {card.base.fingerprint}"
    yield f"- language pairs: {', '.join(card.languages) or 'not told'}"
    yield f"- prompt format: {card.prompt}; separators {json.dumps(card.separators, ensure_ascii=False)}"


def _use_merged(card: AdapterCard) -> list[str]:
    return ["```", "ape serve --engine vllm --model DIRECTORY", "```", "", serving_instructions(card)]


def _use(card: AdapterCard, name: str) -> list[str]:
    return [
        "```",
        f"ape edit --adapter {name}=DIRECTORY --model {name} --source source.txt --mt mt.txt",
        f"ape serve --adapter {name}=DIRECTORY",
        "```",
        "",
        f"Merged into its base, by `ape finetune export --to merged`, it is a model for any server. {serving_instructions(card)}",
    ]


def _data(card: AdapterCard, manifest: Mapping[str, Any] | None) -> Iterator[str]:
    if card.data:
        yield f"- manifest: {card.data}"
    if not manifest:
        return
    for given in manifest.get("inputs", ()):
        yield f"- file: {given['file']} (SHA-256 {given['sha256']})"
    if licences := manifest.get("licences"):
        yield f"- licences, as stated by who built it: {', '.join(licences)}"
    for side, told in manifest.get("splits", {}).items():
        pairs = ", ".join(f"{pair} {count:,}" for pair, count in told["languages"].items())
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in told["kinds"].items())
        yield f"- {side}: {told['examples']:,} examples ({pairs}; {kinds})"
    filters = [step for step in manifest.get("filters", ()) if step["dropped"]]
    if filters:
        yield from ("", *_grid(("filter", "came", "dropped", "left"), map(_filter, filters)))


def _filter(step: Mapping[str, Any]) -> tuple[str, ...]:
    return (step["filter"], f"{step['came']:,}", f"{step['dropped']:,}", f"{step['left']:,}")


def _settings(told: Mapping[str, Any]) -> Iterator[str]:
    for key, value in told.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"- {key.replace('_', ' ')}: {shown}"


def _gate(card: AdapterCard) -> Iterator[str]:
    if card.gate is None:
        return
    of = f"; fitted on {card.gate.fitted_on}" if card.gate.fitted_on else ""
    yield (
        "An edit that takes words of meaning away with none for them, or changes spaces alone, is undone; one that "
        "only takes rounds out of a loop of the MT, where the source has none, is let through. Any other is let "
        f"through where it is likely to help: with a chance of more than {card.gate.threshold:.2f} by a logistic model "
        f"(bias {card.gate.bias:.3f}{of}) of the features below."
        + (" Loops of the MT that a draft leaves are said once, by rule." if card.gate.cuts_loops else "")
    )
    yield ""
    rows = ((name, *(f"{part:.3f}" for part in parts)) for name, parts in card.gate.features.items())
    yield from _grid(("feature", "mean", "scale", "weight"), rows)


def _results(path: Path, card: AdapterCard) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_bytes())
        if told.get("answers", card.fingerprint) != card.fingerprint:
            raise InputError(
                f"{path} is of another gate or format than the card has now. `ape finetune score` measures it again."
            )
        return told if told["rows"] and told["signatures"] else None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path} can't be read: {error!r}. `ape finetune score` writes it.") from error


def _table(results: Mapping[str, Any]) -> Iterator[str]:
    if passages := results.get("passages"):
        yield from (f"On {passages}.", "")
    metrics = list(results["signatures"])
    headings = ["pair", "system", "passages", "edited"]
    for metric in metrics:
        headings += [metric, "Δ", "p"]
    yield from _grid(headings, map(_row, results["rows"]))
    yield ""
    yield "Δ and p are against doing nothing on the same passages, p by paired bootstrap."
    yield ""
    for metric, signature in results["signatures"].items():
        yield f"- {metric}: `{signature}`"


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    cells: list[str] = []
    for cell in row["cells"]:
        p_value = cell["p_value"]
        compared = ("", "") if p_value is None else (f"{cell['difference']:+.2f}", f"{p_value:.3f}")
        cells += [f"{cell['score']:.2f}", *compared]
    passages = f"{row['passages']:,}"
    if row.get("of", 0) > row["passages"]:
        passages += f" of {row['of']:,}"
    return (row["pair"], row["system"], passages, f"{row['edited']:.1%}", *cells)


def _grid(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
