"""`ape eval coherence`: train and inspect coherence scorers."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.command import CommandGroup
from ape.cli.corpus_flags import AllowEmptyFlag, ReferencesFlag, parse_systems
from ape.cli.extras import require_modules
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag, check_output_file
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.metrics.dip.ranker import Ranker

app = CommandGroup()
_Files = list[Path] | None
_FEATURES_SHOWN = 10


class CoherenceContrast(StrEnum):
    """Negative examples of the training."""

    MT = "mt"
    SHUFFLED = "shuffled"


@app.command()
def train(
    out: Annotated[Path, typer.Option("--output", "-o", help="JSON file to write.")],
    tables: Annotated[_Files, typer.Argument(help="JSON lines or TSV with references and outputs.")] = None,
    reference: ReferencesFlag = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="System to learn from, by its name in the tables, or a text file; all by default.",
        ),
    ] = None,
    against: Annotated[
        CoherenceContrast, typer.Option(help="Contrast references with MT, or with their sentences reordered.")
    ] = CoherenceContrast.MT,
    seed: Annotated[int, typer.Option(help="Seed of the reorderings and of the held-out documents.")] = 1,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    allow_empty: AllowEmptyFlag = False,
    replace: Annotated[bool, typer.Option("--overwrite", help="Replace an existing scorer.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Train a coherence scorer and print its accuracy on held-out documents."""
    from ape.cli.terminal import print_line

    require_modules("simplemma", "textblob")
    from eval.corpus.reader import read_corpus
    from eval.corpus.validation import CorpusRules
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.dip import train_coherence_scorer

    check_output_file(out, flag="--output", replace=replace)
    names, files = parse_systems(system or ())
    rules = CorpusRules(source_language or "", target_language or "", allow_empty, print_line)
    corpus = read_corpus(*(tables or ()), systems=files, references=reference or (), rules=rules)
    if odd := [name for name in names if name not in corpus.systems]:
        raise InputError(f"There is no system {odd[0]!r}. Systems: {', '.join(corpus.systems)}.", field="system")
    with use_annotation_cache(default_annotation_folder()):
        scorer = train_coherence_scorer(corpus, against=against.value, systems=names, seed=seed)
    scorer.save(out)
    _show(scorer, out, json_output=json_output)


@app.command()
def show(
    scorer: Annotated[Path, typer.Argument(help="Scorer file of `ape eval coherence train`.")],
    json_output: JsonFlag = False,
) -> None:
    """Show the training data, accuracy and features of a coherence scorer."""
    require_modules("textblob")
    from eval.metrics.dip import load_coherence_scorer

    _show(load_coherence_scorer(scorer), scorer, json_output=json_output)


def _show(scorer: Ranker, path: Path, *, json_output: bool) -> None:
    weights = dict(zip(scorer.features, scorer.weights.tolist(), strict=True))
    if json_output:
        data = {"file": str(path), "fingerprint": scorer.fingerprint, **scorer.facts, "weights": weights}
        typer.echo(json.dumps(data, ensure_ascii=False, indent=1))
        return
    right = scorer.facts.get("held_out_accuracy")
    held_out = f"{right:.3f}" if isinstance(right, float) else "unknown, because there is only one document"
    typer.echo(f"accuracy on held-out documents: {held_out}")
    rest = (f"{name}: {fact}" for name, fact in scorer.facts.items() if name != "held_out_accuracy")
    typer.echo(", ".join(rest))
    typer.echo("heaviest features, for (+) and against (-) coherence:")
    for name in sorted(weights, key=lambda name: -abs(weights[name]))[:_FEATURES_SHOWN]:
        typer.echo(f"  {weights[name]:+.2f}  {name}")
    typer.echo(f"{path} (scorer:{scorer.fingerprint})")
