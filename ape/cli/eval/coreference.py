"""`ape eval coreference`: the CoNLL coreference scorers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.extras import require_modules
from ape.cli.flags import JsonFlag

if TYPE_CHECKING:
    from eval.linguistics.coreference import PrecisionRecall

_NAMES = {"muc": "MUC", "b3": "B³", "ceafm": "CEAFm", "ceafe": "CEAFe", "blanc": "BLANC", "lea": "LEA"}


def coreference(
    key: Annotated[Path, typer.Argument(help="Gold annotation: a CoNLL file, coreference in its last column.")],
    response: Annotated[Path, typer.Argument(help="System annotation of the same documents and tokens.")],
    json_output: JsonFlag = False,
) -> None:
    """Score coreference by MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1."""
    require_modules("scipy")
    from ape.cli.terminal import print_line
    from eval.linguistics.coreference import SCORERS, conll_f1, repeated_mentions, score_documents
    from eval.linguistics.coreference.conll_reader import read_document_pairs
    from eval.metrics.metric import metric_signature

    pairs = read_document_pairs(key, response)
    for path, side in ((key, 0), (response, 1)):
        if number := sum(1 for pair in pairs for _ in repeated_mentions(pair[side])):
            print_line(f"{path.name} repeats {number:,} mentions; each counts in its first entity.")
    found = {name: score_documents(name, pairs) for name in SCORERS}
    average = 100 * conll_f1(pairs)
    signature = metric_signature("coreference", mentions="exact", repeated="first", documents=len(pairs))
    if json_output:
        data = {"scores": {name: _to_dict(score) for name, score in found.items()}, "conll_f1": average}
        typer.echo(json.dumps(data | {"signature": signature}, indent=1))
    else:
        _show(found, average, signature)


def _to_dict(found: PrecisionRecall) -> dict[str, float]:
    return {"recall": 100 * found.recall, "precision": 100 * found.precision, "f1": 100 * found.f1}


def _show(found: dict[str, PrecisionRecall], average: float, signature: str) -> None:
    from rich.text import Text

    from ape.cli.eval.wide_table import TableLine, print_wide_table
    from ape.cli.terminal import table_console

    console = table_console()
    lines = [
        TableLine(Text(_NAMES[name]), [Text(f"{value:.2f}") for value in _to_dict(score).values()])
        for name, score in found.items()
    ]
    lines.append(TableLine(Text("CoNLL F1"), [Text(""), Text(""), Text(f"{average:.2f}")]))
    print_wide_table(console, "in %", ("recall", "precision", "F1"), lines)
    console.print("CoNLL F1 is the mean of the F1 of MUC, B³ and CEAFe.", markup=False)
    console.print(f"coreference: {signature}", markup=False, soft_wrap=True)
