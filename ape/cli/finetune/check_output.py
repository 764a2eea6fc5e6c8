"""Print the results of `ape finetune check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from finetune.checks.audit import AuditedExample, DataAudit
from finetune.checks.parity import EngineParity
from finetune.checks.stop_rate import MIN_STOP_RATE, StopRate
from finetune.checks.token_marks import TokenMarkRun, group_marks, printable_token

# Signs for where there are no colours. What is learned with a lower weight has its own.
_SIGNS = {"learned": "+", "less": "~", "read": "-", "padding": "."}
_STYLES = {"learned": "green", "less": "yellow", "read": "dim", "padding": "dim strike"}
_MOST_SHOWN = 10


def print_audit(tokenizer: Any, audit: DataAudit, *, engine: str | None) -> None:
    """Print marked examples and counts. `engine` is the GGUF file checked with llama.cpp."""
    console = Console(highlight=False)
    for one in audit.shown:
        console.print(format_marked_example(tokenizer, one, coloured=console.is_terminal), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in (
        "split",
        "examples",
        "tokens",
        "of answers",
        "learned",
        "their weight",
        "padding",
        "longest",
    ):
        table.add_column(heading, justify="left" if heading == "split" else "right")
    for split, counts in audit.counts.items():
        whole = max(counts.tokens, 1)
        table.add_row(
            split,
            f"{counts.examples:,}",
            f"{counts.tokens:,}",
            f"{counts.answers:,} ({counts.answers / whole:.0%})",
            f"{counts.learned:,} ({counts.learned / whole:.0%})",
            f"{counts.weight:,.1f}",
            f"{counts.padding:,}",
            f"{counts.longest:,}",
        )
    console.print(table)
    console.print(Text(_read_alike(audit, engine)), soft_wrap=True)


def _read_alike(audit: DataAudit, engine: str | None) -> str:
    if engine is None:
        return (
            "Whether the embedded engine reads the same tokens is left out, since the base is no GGUF file. "
            "Give one with --gguf FILE."
        )
    different = len(audit.by_kind().get("engine", ()))
    read = f"other tokens of {different:,} examples" if different > 1 else "other tokens of an example"
    return f"llama.cpp, on {engine}, reads {read if different else 'the same tokens of every example'}."


def format_marked_example(tokenizer: Any, one: AuditedExample, *, coloured: bool) -> Text:
    """A line for each run of equally marked tokens: sign, weight and tokens."""
    example = one.example
    pair = f"{example.source_language}-{example.target_language}"
    text = Text(f"{example.id} ({pair}, {example.kind}), {len(one.row)} tokens\n")
    for run in group_marks(tokenizer, one.row):
        kind = "less" if run.mark == "learned" and run.weight < 1 else run.mark
        style = _STYLES[kind] if coloured else ""
        text.append(f"  {_SIGNS[kind]} {_named(run):<13}", style)
        if run.mark == "padding":
            text.append(f"{len(run.texts)} × {run.texts[0]}", style)
        else:
            for number, piece in enumerate(run.texts):
                text.append("│" if number else "", "dim" if coloured else "")
                text.append(piece, style)
        text.append("\n")
    return text


def _named(run: TokenMarkRun) -> str:
    return f"learned {run.weight:.3g}" if run.mark == "learned" else run.mark


def audit_json(tokenizer: Any, audit: DataAudit, *, engine: str | None) -> dict[str, Any]:
    """The audit as JSON, with all faults."""
    return {
        "sound": not audit.faults,
        "engine": engine,
        "splits": {split: asdict(counts) for split, counts in audit.counts.items()},
        "faults": [asdict(fault) for fault in audit.faults],
        "shown": [
            {
                "id": one.example.id,
                "tokens": [
                    {**asdict(token), "text": printable_token(tokenizer, token.token)} for token in one.row
                ],
            }
            for one in audit.shown
        ],
    }


def print_parity(found: StopRate, compared: Mapping[str, EngineParity], left_out: Mapping[str, str]) -> None:
    """Print stop rates, a row per engine, each divergence with its margin, and skipped engines."""
    console = Console(highlight=False)
    console.print(
        f"{found.prompts - len(found.runaways)} of {found.prompts} answers came to an end by themselves."
    )
    for one in found.runaways[:_MOST_SHOWN]:
        console.print(Text(f"  {one.example.id} goes on: …{one.text[-80:]!r}"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("engine", "prompts", "identical", "near-ties", "other", "widest margin", "stopped"):
        table.add_column(heading, justify="left" if heading == "engine" else "right")
    for parity in compared.values():
        told = parity.summary()
        widest = told["widest_margin"]
        table.add_row(
            parity.engine,
            str(parity.prompts),
            f"{parity.identical:.1%}",
            str(told["near_ties"]),
            str(told["other_differences"]),
            "" if widest is None else f"{widest:.3f}",
            f"{told['stopped']:.1%}",
        )
    if compared:
        console.print(table)
    for name, parity in compared.items():
        for difference in parity.differences:
            console.print(
                Text(f"  {name} {difference.example}: {_explained(difference.why)}"), soft_wrap=True
            )
    for name, reason in left_out.items():
        console.print(Text(f"{name} is left out: {reason}"), soft_wrap=True)


def list_shortcomings(found: StopRate, compared: Mapping[str, EngineParity]) -> Iterator[str]:
    """Reasons not to serve the adapter."""
    if not found.passes:
        yield f"It stops by itself on {found.share:.1%} of the prompts, and should on {MIN_STOP_RATE:.0%}."
    for name, parity in compared.items():
        if wrong := parity.unexplained:
            first = wrong[0]
            yield (
                f"{name} answers {len(wrong)} of {parity.prompts} prompts otherwise than transformers, and not by a "
                f"near-tie: {first.example!r} {_explained(first.why)}. Is it given the weights and the base of this "
                "adapter? One that was exported before it was trained again is not."
            )


def _explained(why: Any) -> str:
    if why.kind == "length":
        return f"one of the two was cut off after {why.token} tokens"
    here = f"at token {why.token}, {why.served!r} for {why.reference!r}"
    if why.kind == "prompt":
        return f"the prompt was read as other tokens; {here}"
    if why.margin is None:
        return f"{here}, which transformers has not among its best"
    near = f"a near-tie (below {why.near:g})" if why.kind == "near_tie" else "a real difference"
    return f"{here}, choice {why.rank} of transformers, {why.margin:.3f} below its first: {near}"


def parity_json(
    result: Mapping[str, Any],
    found: StopRate,
    compared: Mapping[str, EngineParity],
    left_out: Mapping[str, str],
) -> dict[str, Any]:
    """The results as written to the card, with all divergent and unstopped answers."""
    return {
        **result,
        "runaways": [{"id": one.example.id, "text": one.text} for one in found.runaways],
        "differences": {
            name: [asdict(difference) for difference in parity.differences]
            for name, parity in compared.items()
        },
        "left_out": dict(left_out),
    }
