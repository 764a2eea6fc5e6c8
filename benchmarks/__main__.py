"""Measure the claims about speed: `python -m benchmarks`. Exits with 1 if a claim does not hold."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import traceback
from collections.abc import Callable, Mapping

from rich.console import Console
from rich.table import Table

from benchmarks import (
    alignment,
    annotation,
    books,
    compare_page,
    decoding,
    embedded,
    guards,
    ledger,
    metrics,
    preference,
    rating_agreement,
    service,
    startup,
    store,
    studio,
    train,
    vllm,
)
from benchmarks.claims import Claim

BENCHMARKS: Mapping[str, Callable[[], list[Claim]]] = {
    "a": service.measure,
    "b": guards.measure,
    "c": startup.measure,
    "align": alignment.measure,
    "annotation": annotation.measure,
    "books": books.measure,
    "compare": compare_page.measure,
    "decoding": decoding.measure,
    "embedded": embedded.measure,
    "ledger": ledger.measure,
    "metrics": metrics.measure,
    "agreement": rating_agreement.measure,
    "preference": preference.measure,
    "store": store.measure,
    "studio": studio.measure,
    "train": train.measure,
    "v": vllm.measure,
}
QUICK: Mapping[str, Callable[[], list[Claim]]] = {
    "a": lambda: service.measure(service.QUICK),
    "books": lambda: books.measure(words=books.QUICK),
    "decoding": lambda: decoding.measure(in_flight=(2,), passages=2, rounds=1),
    "embedded": lambda: embedded.measure(threads=(1,), rounds=1),
    "train": lambda: train.measure(train.QUICK, rounds=1),
    "v": lambda: vllm.measure(vllm.QUICK),
}
# What a benchmark needs and this machine lacks, as a sentence, or None.
MISSING_REQUIREMENT: Mapping[str, Callable[[], str | None]] = {
    "annotation": annotation.missing,
    "compare": compare_page.missing,
    "decoding": decoding.missing,
    "embedded": embedded.missing,
    "ledger": ledger.missing,
    "metrics": metrics.missing,
    "preference": preference.missing,
    "studio": studio.missing,
    "train": train.missing,
    "v": vllm.missing,
}


def main() -> int:
    """Measure and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        choices=BENCHMARKS,
        help="measure one benchmark; a: the service, b: the guards, c: startup, v: vLLM, if it is installed",
    )
    parser.add_argument("--quick", action="store_true", help="a short run, to test the longer benchmarks themselves")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    # Exit by an exception, so that the servers under test are stopped too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    chosen = {name: (QUICK if given.quick else {}).get(name, BENCHMARKS[name]) for name in BENCHMARKS}
    if given.only:
        if missing := MISSING_REQUIREMENT.get(given.only, _nothing)():
            print(missing, file=sys.stderr, flush=True)
            return 2
        chosen = {given.only: chosen[given.only]}
    claims, failed = run_benchmarks(chosen)
    if given.json:
        print(json.dumps([_format_json(claim) for claim in claims], indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
        console.print(_format_table(claims))
        for setting in dict.fromkeys(claim.setting for claim in claims if claim.setting):
            console.print(setting, markup=False)
    if failed:
        print(f"These did not run to their end: {', '.join(failed)}.", file=sys.stderr)
    return 0 if all(claim.holds for claim in claims) and not failed else 1


def run_benchmarks(chosen: Mapping[str, Callable[[], list[Claim]]]) -> tuple[list[Claim], list[str]]:
    """Run them one after the other, each claim printed at once; returns the claims, and the names of those that failed.

    One that fails does not take the results of hours with it.
    """
    claims, failed = list[Claim](), list[str]()
    for name, measure in chosen.items():
        if missing := MISSING_REQUIREMENT.get(name, _nothing)():
            print(missing, file=sys.stderr, flush=True)
            continue
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        try:
            found = measure()
        except Exception:
            traceback.print_exc()
            failed.append(name)
            continue
        for claim in found:
            print(f"  {claim.text}: {_measured(claim)}", file=sys.stderr, flush=True)
        claims += found
    return claims, failed


def _nothing() -> None:
    """The answer of benchmarks that need nothing."""


def _measured(claim: Claim) -> str:
    return f"{claim.ratio:.2f}" if claim.is_comparable else "none"


def _format_json(claim: Claim) -> dict[str, object]:
    return {
        "claim": claim.text,
        "bound": _bound(claim) or None,
        "ratio": claim.ratio if claim.is_comparable else None,
        "ratios": claim.ratios if claim.is_comparable else None,
        "tokens": claim.tokens,
        "prompt_tokens": claim.prompt_tokens,
        "holds": claim.holds,
        "note": claim.note,
        "setting": claim.setting,
    }


def _bound(claim: Claim) -> str:
    return "" if claim.bound is None else f"{claim.direction} {claim.bound:g}"


def _format_table(claims: list[Claim]) -> Table:
    table = Table("claim", "bound", "measured", "spread", "holds", "note", box=None)
    for claim in claims:
        low, high = claim.spread
        table.add_row(
            claim.text,
            _bound(claim),
            _measured(claim),
            f"{low:.2f} to {high:.2f}" if claim.is_comparable else "",
            "" if claim.bound is None and claim.is_comparable else "yes" if claim.holds else "NO",
            claim.note if claim.is_comparable else f"The sides did different work: {claim.note}",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
