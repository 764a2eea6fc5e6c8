"""Print the results of `ape finetune check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from finetune.checks.audit import AuditedExample, DataAudit
from finetune.checks.parity import MIN_STOP_RATE, EngineParity, StopRate
from finetune.checks.token_marks import TokenMarkRun, group_marks, printable_token

# Signs for output without colours; "less" is learned with a lower weight.
_SIGNS = {"learned": "+", "less": "~", "read": "-", "padding": "."}
_STYLES = {"learned": "green", "less": "yellow", "read": "dim", "padding": "dim strike"}
_MOST_SHOWN = 10


def print_audit(tokenizer: Any, audit: DataAudit, *, engine: str | None) -> None:
    """Print marked examples and counts. `engine` is the GGUF file checked with llama.cpp."""
    console = Console(highlight=False)
    for audited in audit.samples:
        console.print(format_marked_example(tokenizer, audited, coloured=console.is_terminal), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("split", "examples", "tokens", "of answers", "learned", "their weight", "padding", "longest"):
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
    console.print(Text(_describe_tokens(audit, engine)), soft_wrap=True)


def _describe_tokens(audit: DataAudit, engine: str | None) -> str:
    if engine is None:
        return (
            "The tokens of the embedded engine were not checked, because the base is not a GGUF file. "
            "Give one with --gguf FILE."
        )
    different = len(audit.by_kind().get("engine", ()))
    if not different:
        return f"llama.cpp, on {engine}, tokenizes every example in the same way."
    return f"llama.cpp, on {engine}, tokenizes {different:,} example{'s' * (different != 1)} differently."


def format_marked_example(tokenizer: Any, audited: AuditedExample, *, coloured: bool) -> Text:
    """A line for each run of equally marked tokens: sign, weight and tokens."""
    example = audited.example
    pair = f"{example.source_language}-{example.target_language}"
    text = Text(f"{example.id} ({pair}, {example.kind}), {len(audited.row)} tokens\n")
    for run in group_marks(tokenizer, audited.row):
        kind = "less" if run.mark == "learned" and run.weight < 1 else run.mark
        style = _STYLES[kind] if coloured else ""
        text.append(f"  {_SIGNS[kind]} {_mark_name(run):<13}", style)
        if run.mark == "padding":
            text.append(f"{len(run.texts)} × {run.texts[0]}", style)
        else:
            for number, piece in enumerate(run.texts):
                text.append("│" if number else "", "dim" if coloured else "")
                text.append(piece, style)
        text.append("\n")
    return text


def _mark_name(run: TokenMarkRun) -> str:
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
                "id": audited.example.id,
                "tokens": [{**asdict(token), "text": printable_token(tokenizer, token.token)} for token in audited.row],
            }
            for audited in audit.samples
        ],
    }


def print_parity(found: StopRate, compared: Mapping[str, EngineParity], left_out: Mapping[str, str]) -> None:
    """Print stop rates, a row per engine, each divergence with its margin, and skipped engines."""
    console = Console(highlight=False)
    console.print(f"{found.prompts - len(found.runaways)} of {found.prompts} answers stopped by themselves.")
    for answer in found.runaways[:_MOST_SHOWN]:
        console.print(Text(f"  {answer.example.id} did not stop: …{answer.text[-80:]!r}"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for heading in ("engine", "prompts", "identical", "near-ties", "other", "widest margin", "stopped"):
        table.add_column(heading, justify="left" if heading == "engine" else "right")
    for parity in compared.values():
        summary = parity.summary()
        widest = summary["widest_margin"]
        table.add_row(
            parity.engine,
            str(parity.prompts),
            f"{parity.identical:.1%}",
            str(summary["near_ties"]),
            str(summary["other_differences"]),
            "" if widest is None else f"{widest:.3f}",
            f"{summary['stopped']:.1%}",
        )
    if compared:
        console.print(table)
    for name, parity in compared.items():
        for difference in parity.differences:
            console.print(Text(f"  {name} {difference.example}: {_explain(difference.why)}"), soft_wrap=True)
    for name, reason in left_out.items():
        console.print(Text(f"{name} was not compared: {reason}"), soft_wrap=True)


def list_shortcomings(found: StopRate, compared: Mapping[str, EngineParity]) -> Iterator[str]:
    """Reasons not to serve the adapter."""
    if not found.passes:
        yield f"{found.share:.1%} of the answers stop by themselves; at least {MIN_STOP_RATE:.0%} should."
    for name, parity in compared.items():
        if wrong := parity.unexplained:
            first = wrong[0]
            yield (
                f"{name} answers {len(wrong)} of {parity.prompts} prompts differently from transformers, by more than "
                f"a near-tie: {first.example!r} {_explain(first.why)}. Check that it has the same base and the "
                "same weights; an adapter that was trained again must be exported again."
            )


def _explain(why: Any) -> str:
    if why.kind == "length":
        return f"one answer was cut off after {why.token} tokens"
    here = f"at token {why.token}, {why.served!r} for {why.reference!r}"
    if why.kind == "prompt":
        return f"the prompt was tokenized differently; {here}"
    if why.margin is None:
        return f"{here}, which is not among the best choices of transformers"
    near = f"a near-tie (below {why.near:g})" if why.kind == "near_tie" else "a real difference"
    return f"{here}, choice {why.rank} of transformers, {why.margin:.3f} below its first: {near}"


def parity_json(
    result: Mapping[str, Any], found: StopRate, compared: Mapping[str, EngineParity], left_out: Mapping[str, str]
) -> dict[str, Any]:
    """The results as written to the card, with all divergent and unstopped answers."""
    return {
        **result,
        "runaways": [{"id": answer.example.id, "text": answer.text} for answer in found.runaways],
        "differences": {
            name: [asdict(difference) for difference in parity.differences] for name, parity in compared.items()
        },
        "left_out": dict(left_out),
    }
