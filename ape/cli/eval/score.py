"""`ape eval score`: score systems, with intervals, p-values and signatures."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.corpus_flags import (
    AllowEmptyFlag,
    DocumentsFlag,
    EncodingFlag,
    JobsFlag,
    ReferencesFlag,
    ResampleFlag,
    SamplesFlag,
    parse_documents,
    parse_systems,
)
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag, check_output_file
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.corpus.corpus import Corpus
    from eval.corpus.loader import CorpusInputs
    from eval.corpus.validation import CorpusRules
    from eval.metrics.metric import Metric
    from eval.metrics.scoring import EvaluationResults, ResamplingOptions
    from eval.statistics.resampling import ResamplingUnit


class SignificanceTest(StrEnum):
    """Significance tests."""

    BOOTSTRAP = "bootstrap"
    RANDOMISATION = "randomisation"


class ScoreUnit(StrEnum):
    """Units to print scores of."""

    CORPUS = "corpus"
    DOCUMENT = "document"


def score(
    tables: Annotated[
        list[Path] | None, typer.Argument(help="JSON lines or TSV with sources, references and outputs; - for stdin.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="System and its outputs, one segment per line; repeatable."),
    ] = None,
    reference: ReferencesFlag = None,
    source: Annotated[Path | None, typer.Option(help="Source, one segment per line.")] = None,
    job: JobsFlag = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric, or `discourse` for all discourse metrics; repeatable; `list` prints all."),
    ] = None,
    documents: DocumentsFlag = "auto",
    by: Annotated[
        ScoreUnit, typer.Option(help="Show scores of the corpus, or of each document too.")
    ] = ScoreUnit.CORPUS,
    baseline: Annotated[
        str | None, typer.Option(help="System to test all others against, with Holm's correction.")
    ] = None,
    test: Annotated[
        SignificanceTest, typer.Option(help="Significance test; intervals are always bootstrapped.")
    ] = SignificanceTest.BOOTSTRAP,
    resample: ResampleFlag = None,
    samples: SamplesFlag = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 1,
    leave_one_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-out", help="Score each reference, and the systems, against the other references, as in PAR3."
        ),
    ] = False,
    encoder: Annotated[
        str | None,
        typer.Option(help="Encoder for bertscore: a directory or hub id; a small English encoder by default."),
    ] = None,
    scorer: Annotated[
        Path | None, typer.Option(help="Scorer for dip-coherence, from `ape eval coherence train`.")
    ] = None,
    annotation: Annotated[
        Path | None, typer.Option(help="For blonde+: the error annotation of BWB, one line per segment (an.txt).")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="For blonde, dblonde and blonde+: the named entities of each reference segment (ner.txt)."),
    ] = None,
    segments: Annotated[Path | None, typer.Option(help="Write segment scores to this JSON lines file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    allow_empty: AllowEmptyFlag = False,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Score systems by metrics, with intervals, significance tests and signatures."""
    from ape.cli.eval.score_annotations import add_annotation
    from ape.cli.eval.score_notes import print_notes, word_lists
    from ape.cli.terminal import print_line
    from ape.files.atomic import explain_write_errors, write_text_atomic
    from eval.corpus.loader import CorpusInputs
    from eval.corpus.validation import CorpusRules
    from eval.metrics.registry import DEFAULT_METRICS, METRICS
    from eval.metrics.scoring import ResamplingOptions, default_resampling_unit

    if metric == ["list"]:
        typer.echo("\n".join(METRICS))
        return
    if leave_one_out and (segments or html or baseline or by is ScoreUnit.DOCUMENT):
        raise InputError(
            "--leave-one-out prints another table. Leave out --segments, --html, --baseline and --by.",
            field="leave_one_out",
        )
    check_output_file(segments, flag="--segments")
    check_output_file(html, flag="--html")
    chosen = _with_scorer(_metrics(metric or list(DEFAULT_METRICS), encoder), scorer)
    rules = CorpusRules(source_language or "", target_language or "", allow_empty, print_line)
    _, files = parse_systems(system or (), names_alone=False)
    inputs = CorpusInputs(
        tables=tables or (),
        systems=files,
        references=reference or (),
        source=source,
        documents=parse_documents(documents),
        encoding=encoding,
        jobs=job or (),
    )
    corpus = _load_corpus(inputs, rules)
    chosen = add_annotation(chosen, corpus, annotation=annotation, names=names)
    unit = resample or default_resampling_unit(corpus)
    if leave_one_out:
        _leave_one_out(corpus, chosen, json_output=json_output)
        return
    drawn: ResamplingUnit = "document" if unit == "document" else "segment"
    how = ResamplingOptions(drawn, baseline or "", samples, seed, test.value)
    results = _measure(corpus, chosen, how)
    print_notes(results)
    if segments:
        with explain_write_errors(segments):
            rows = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in results.segments())
            write_text_atomic(segments, rows)
    if html:
        _report(results, html)
    if json_output:
        data = results.to_dict(documents=by is ScoreUnit.DOCUMENT) | word_lists(results)
        typer.echo(json.dumps(data, ensure_ascii=False, indent=1))
        return
    from ape.cli.eval.score_output import print_scores

    print_scores(results, documents=by is ScoreUnit.DOCUMENT)


def _metrics(names: list[str], encoder: str | None) -> list[Metric]:
    from eval.metrics.bertscore import BertScore, TransformerEncoder
    from eval.metrics.registry import create_metrics

    chosen = create_metrics(names)
    if encoder and not any(isinstance(metric, BertScore) for metric in chosen):
        raise InputError("--encoder is for --metric bertscore, which is not selected.", field="encoder")
    return [
        replace(metric, encoder=TransformerEncoder(encoder)) if encoder and isinstance(metric, BertScore) else metric
        for metric in chosen
    ]


def _with_scorer(chosen: list[Metric], scorer: Path | None) -> list[Metric]:
    """Set the trained scorer of dip-coherence; without it, the metric trains on the other documents."""
    if scorer is None:
        return chosen
    from eval.metrics.dip import DipCoherence, load_coherence_scorer

    if not any(isinstance(metric, DipCoherence) for metric in chosen):
        raise InputError("--scorer is for --metric dip-coherence, which is not selected.", field="scorer")
    trained = load_coherence_scorer(scorer)
    return [replace(metric, scorer=trained) if isinstance(metric, DipCoherence) else metric for metric in chosen]


def _load_corpus(inputs: CorpusInputs, rules: CorpusRules) -> Corpus:
    """Load the corpus; one of its files may be standard input."""
    from tempfile import TemporaryDirectory

    from ape.cli.eval.stdin import StdinFile
    from ape.settings import load_settings
    from eval.corpus.loader import load_corpus

    with TemporaryDirectory() as folder:
        stdin = StdinFile(Path(folder))
        inputs = replace(
            inputs,
            tables=[stdin.table(path) for path in inputs.tables],
            systems={name: stdin.file(path) for name, path in inputs.systems.items()},
            references=[stdin.file(path) for path in inputs.references],
            source=stdin.file(inputs.source) if inputs.source else None,
        )
        return load_corpus(inputs, rules, jobs_url=load_settings().jobs_url if inputs.jobs else "")


def _measure(corpus: Corpus, metrics: list[Metric], how: ResamplingOptions) -> EvaluationResults:
    """Measure with a progress bar."""
    from ape.cli.terminal import error_console, passages_progress
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.scoring import measure_systems

    with passages_progress(error_console()) as bar, use_annotation_cache(default_annotation_folder()):
        task = bar.add_task("counting", total=len(metrics) * len(corpus.systems), so_far="")

        def on_progress(metric: str, system: str) -> None:
            bar.update(task, description=f"{metric} of {system}")
            bar.advance(task)

        return measure_systems(corpus, metrics, resampling=how, on_progress=on_progress)


def _report(results: EvaluationResults, path: Path) -> None:
    from ape.cli.terminal import print_line
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.report import write_report

    with use_annotation_cache(default_annotation_folder()):
        write_report(results, path)
    print_line(f"The report is in {path}.")


def _leave_one_out(corpus: Corpus, metrics: list[Metric], *, json_output: bool) -> None:
    from dataclasses import asdict

    from ape.cli.eval.score_output import print_aggregated
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.metric import corpus_for_metric
    from eval.metrics.multi_reference import leave_one_out

    with use_annotation_cache(default_annotation_folder()):
        found = {metric.name: leave_one_out(corpus_for_metric(metric, corpus), metric) for metric in metrics}
    if not json_output:
        print_aggregated(found)
        return
    data = {
        name: asdict(scores) | {"win_share": {system: wins.share for system, wins in scores.wins.items()}}
        if hasattr(scores, "wins")
        else {"not_applicable": scores.why}
        for name, scores in found.items()
    }
    typer.echo(json.dumps(data, ensure_ascii=False, indent=1))
