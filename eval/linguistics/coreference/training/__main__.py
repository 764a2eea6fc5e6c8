"""Train and check the coreference ranker.

    python -m eval.linguistics.coreference.training fit --litbank DIR --tags tags.json [--without N] -o ranker.npz
    python -m eval.linguistics.coreference.training check --litbank DIR --tags tags.json [--fold N …] [--annotators DIR]

The tags are those that `python -m eval.linguistics.literary.training tag` writes. `check` trains without a fifth of the
excerpts and measures on those; DIR has the annotators that were trained without the same excerpts, which
`python -m eval.linguistics.literary.training check --save DIR` writes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ape.errors import InputError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(prog="python -m eval.linguistics.coreference.training")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("fit", "check"):
        command = commands.add_parser(name)
        command.add_argument("--litbank", type=Path, required=True, help="a copy of LitBank: entities/ and coref/")
        command.add_argument("--tags", type=Path, required=True, help="tags of LitBank by spaCy")
        command.add_argument("--epochs", type=int, default=4)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--threads", type=int, default=1)
        if name == "fit":
            command.add_argument("--without", type=int, choices=range(5), help="keep this fold for measurements")
            command.add_argument("-o", "--output", type=Path, required=True)
        else:
            command.add_argument("--fold", type=int, action="append", choices=range(5))
            command.add_argument("--annotators", type=Path, help="weights of annotators without each fold")
    options = parser.parse_args(arguments)
    try:
        _run(options)
    except InputError as error:
        parser.error(str(error))


def _run(options: argparse.Namespace) -> None:
    import torch

    from eval.linguistics.coreference.training import folds
    from eval.linguistics.coreference.training.fit import RankerSettings

    torch.set_num_threads(options.threads)
    settings = RankerSettings(epochs=options.epochs, seed=options.seed)
    if options.command == "fit":
        folds.fit_ranker_weights(
            options.litbank, options.tags, options.output, settings=settings, without=options.without, report=_report
        )
        return
    chosen = options.fold or range(folds.FOLDS)
    table = folds.check_ranker(
        options.litbank, options.tags, chosen, settings=settings, annotators=options.annotators, report=_report
    )
    sys.stdout.write(table + "\n")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
