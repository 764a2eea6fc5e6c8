"""`make bench`: measure every claim about speed in one run, and say whether it holds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import guards, service, startup
from benchmarks.claims import Claim

PARTS: dict[str, Callable[[], list[Claim]]] = {
    "a": service.measure,
    "b": guards.measure,
    "c": startup.measure,
}


def main() -> int:
    """Exit code 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="a: the service, b: judging a draft, c: start")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    given = parser.parse_args()
    claims = []
    for name, measure in PARTS.items():
        if given.only in (None, name):
            print(f"measuring {name} …", file=sys.stderr)
            claims += measure()
    show(claims, as_json=given.json)
    return 0 if all(claim.holds for claim in claims) else 1


def show(claims: list[Claim], *, as_json: bool) -> None:
    """One table: claim, measured ratio, spread, and whether it holds."""
    if as_json:
        rows = [
            {
                "claim": one.text,
                "ratio": one.ratio,
                "spread": one.spread,
                "bound": one.bound,
                "holds": one.holds,
            }
            for one in claims
        ]
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("claim", "bound", "measured", "from … to", "holds", "note"):
        table.add_column(heading, overflow="fold")
    for one in claims:
        low, high = one.spread
        bound = f"{one.direction} {one.bound:g}"
        holds = "yes" if one.holds else "NO"
        table.add_row(one.text, bound, f"{one.ratio:.2f}", f"{low:.2f} … {high:.2f}", holds, one.note)
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
