"""`ape eval score`: score systems, with intervals, p-values and signatures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
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


class ScoreFormat(StrEnum):
    """Formats of the printed scores."""

    TABLE = "table"
    LATEX = "latex"
    CSV = "csv"
    MARKDOWN = "markdown"


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
    tokenize: Annotated[
        str | None,
        typer.Option(help="Tokeniser of sacrebleu for bleu: 13a, intl, zh, ja-mecab, char, flores200, none …"),
    ] = None,
    scorer: Annotated[
        Path | None, typer.Option(help="Scorer for dip-coherence, from `ape eval coherence train`.")
    ] = None,
    annotation: Annotated[
        Path | None, typer.Option(help="For blonde+: the error annotation of BWB, one line per segment (an.txt).")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            "--entities",
            help="For blonde, dblonde and blonde+: the named entities of each reference segment (ner.txt).",
        ),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option(help="Annotator of the discourse metrics: literary, textblob, jieba, or a spaCy model."),
    ] = None,
    segments: Annotated[Path | None, typer.Option(help="Write segment scores to this JSON lines file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    form: Annotated[
        ScoreFormat, typer.Option("--to", help="Format of the scores: a table, or one for a paper.")
    ] = ScoreFormat.TABLE,
    figure: Annotated[
        list[Path] | None, typer.Option(help="Write a figure of the scores to this .svg or .pdf file; repeatable.")
    ] = None,
    methods: Annotated[
        bool, typer.Option("--methods", help="Print a paragraph on methods, with the signatures, for a paper.")
    ] = False,
    result_file: Annotated[
        Path | None,
        typer.Option(
            "--results",
            help="Write a result file for `ape eval board`, with significance groups from tests of all pairs.",
        ),
    ] = None,
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
    for_papers = form is not ScoreFormat.TABLE or figure or methods or result_file
    if leave_one_out and (segments or html or baseline or by is ScoreUnit.DOCUMENT or for_papers):
        raise InputError(
            "--leave-one-out prints another table. Leave out --segments, --html, --baseline, --by, --to, --figure, "
            "--methods and --results.",
            field="leave_one_out",
        )
    check_output_file(segments, flag="--segments")
    check_output_file(html, flag="--html")
    check_output_file(result_file, flag="--results")
    chosen = _with_tokenizer(_with_scorer(_metrics(metric or list(DEFAULT_METRICS), encoder), scorer), tokenize)
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
        _leave_one_out(corpus, chosen, annotator, json_output=json_output)
        return
    drawn: ResamplingUnit = "document" if unit == "document" else "segment"
    how = ResamplingOptions(drawn, baseline or "", samples, seed, test.value)
    results = _measure(corpus, chosen, how, annotator)
    print_notes(results)
    if segments:
        with explain_write_errors(segments):
            rows = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in results.segments())
            write_text_atomic(segments, rows)
    if html:
        _report(results, html, annotator)
    if for_papers:
        from ape.cli.eval.score_papers import write_for_papers

        written = write_for_papers(
            results, form=form.value, figures=figure or (), methods=methods, result_file=result_file
        )
        if written:
            return
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


def _with_tokenizer(chosen: list[Metric], tokenize: str | None) -> list[Metric]:
    """Set the tokeniser of all variants of BLEU."""
    if tokenize is None:
        return chosen
    from eval.metrics.sacrebleu import Bleu

    if not any(isinstance(metric, Bleu) for metric in chosen):
        raise InputError("--tokenize is for --metric bleu, which is not selected.", field="tokenize")
    return [replace(metric, tokenize=tokenize) if isinstance(metric, Bleu) else metric for metric in chosen]


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


@contextmanager
def _annotations(annotator: str | None) -> Iterator[None]:
    """Annotate with this annotator, or the default one, and cache the results."""
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache, use_annotator

    with use_annotation_cache(default_annotation_folder()), use_annotator(annotator):
        yield


def _measure(corpus: Corpus, metrics: list[Metric], how: ResamplingOptions, annotator: str | None) -> EvaluationResults:
    """Measure with a progress bar."""
    from ape.cli.terminal import metrics_progress
    from eval.metrics.scoring import measure_systems

    total = len(metrics) * len(corpus.systems)
    with metrics_progress(total) as on_progress, _annotations(annotator):
        return measure_systems(corpus, metrics, resampling=how, on_progress=on_progress)


def _report(results: EvaluationResults, path: Path, annotator: str | None) -> None:
    from ape.cli.terminal import print_line
    from eval.report import write_report

    with _annotations(annotator):
        write_report(results, path)
    print_line(f"The report is in {path}.")


def _leave_one_out(corpus: Corpus, metrics: list[Metric], annotator: str | None, *, json_output: bool) -> None:
    from dataclasses import asdict

    from ape.cli.eval.score_output import print_aggregated
    from eval.metrics.metric import corpus_for_metric
    from eval.metrics.multi_reference import leave_one_out

    with _annotations(annotator):
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
