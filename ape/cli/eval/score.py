"""`ape eval score`: systems by metrics, with intervals, p-values against a baseline, and the recipe of every number."""

from __future__ import annotations

import json
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
)
from ape.cli.eval.output_path import check_output_file
from ape.cli.extras import require_extra
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.corpus.corpus import Corpus
    from eval.corpus.parallel_reader import DocumentBoundaries
    from eval.corpus.validation import CorpusRules
    from eval.metrics.metric import Metric
    from eval.metrics.scoring import EvaluationResults, ResamplingOptions
    from eval.statistics.resampling import ResamplingUnit


class SignificanceTest(StrEnum):
    """How a difference is told from chance."""

    BOOTSTRAP = "bootstrap"
    RANDOMISATION = "randomisation"


class ScoreUnit(StrEnum):
    """Of what a score is shown."""

    CORPUS = "corpus"
    DOCUMENT = "document"


def score(
    tables: Annotated[
        list[Path] | None,
        typer.Argument(
            help="JSON lines or TSV with sources, references and outputs; none with text files. Any one file may be -."
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A system and its outputs, line by line; may be repeated."),
    ] = None,
    reference: ReferencesFlag = None,
    source: Annotated[Path | None, typer.Option(help="The source, line by line.")] = None,
    job: JobsFlag = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric, or discourse for all about that; may be repeated. `list` names them all."
        ),
    ] = None,
    documents: DocumentsFlag = "auto",
    by: Annotated[
        ScoreUnit, typer.Option(help="Show scores of the corpus, or of each document too.")
    ] = ScoreUnit.CORPUS,
    baseline: Annotated[
        str | None, typer.Option(help="Test every system against this one, with Holm's correction.")
    ] = None,
    test: Annotated[
        SignificanceTest, typer.Option(help="By which test; the intervals are the bootstrap's either way.")
    ] = SignificanceTest.BOOTSTRAP,
    resample: ResampleFlag = None,
    samples: SamplesFlag = 1000,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 1,
    leave_one_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-out",
            help="As PAR3: hold each reference, and the systems, against the other references.",
        ),
    ] = False,
    encoder: Annotated[
        str | None, typer.Option(help="For bertscore: a directory or hub name; else a small English one.")
    ] = None,
    scorer: Annotated[
        Path | None, typer.Option(help="For dip-coherence: what `ape eval coherence train` has written.")
    ] = None,
    annotation: Annotated[
        Path | None,
        typer.Option(
            help="For blonde+: BWB's error lines, one for each segment, with the wordings of what is ambiguous or left "
            "out (an.txt)."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            help="For blonde, dblonde and blonde+: the names in each segment of the reference (ner.txt)."
        ),
    ] = None,
    segments: Annotated[
        Path | None, typer.Option(help="Write the scores of segments, as JSON lines.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report: one page with tables and plots.")] = None,
    allow_empty: AllowEmptyFlag = False,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Score one system or many by one metric or many; the signature under the table says how each number was got."""
    with require_extra("eval"):
        import sacrebleu  # noqa: F401
    from ape.cli.eval.score_annotations import add_annotation
    from ape.cli.eval.score_notes import print_notes, word_lists
    from ape.cli.terminal import print_line
    from eval.corpus.validation import CorpusRules
    from eval.metrics.registry import DEFAULT_METRICS, METRICS
    from eval.metrics.scoring import ResamplingOptions, default_resampling_unit

    if metric == ["list"]:
        typer.echo("\n".join(METRICS))
        return
    if leave_one_out and (segments or html or baseline or by is ScoreUnit.DOCUMENT):
        raise InputError(
            "--leave-one-out has a table of its own: leave --segments, --html, --baseline and --by out.",
            field="leave_one_out",
        )
    check_output_file(segments, flag="--segments")
    check_output_file(html, flag="--html")
    chosen = _with_scorer(_metrics(metric or list(DEFAULT_METRICS), encoder), scorer)
    rules = CorpusRules(source_language or "", target_language or "", allow_empty, print_line)
    if job:
        corpus = _of_jobs(job, reference or [], rules, others=bool(tables or system or source))
    else:
        corpus = _of_files(tables or [], system or [], reference or [], source, documents, rules, encoding)
    chosen = add_annotation(chosen, corpus, annotation=annotation, names=names)
    unit = resample or default_resampling_unit(corpus)
    if leave_one_out:
        _leave_one_out(corpus, chosen, json_output=json_output)
        return
    drawn: ResamplingUnit = "document" if unit == "document" else "segment"
    how = ResamplingOptions(drawn, baseline or "", samples, seed, test.value)
    with require_extra("eval"):
        results = _measured(corpus, chosen, how)
    print_notes(results)
    if segments:
        rows = (json.dumps(row, ensure_ascii=False) for row in results.segments())
        segments.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    if html:
        _report(results, html)
    if json_output:
        told = results.to_dict(documents=by is ScoreUnit.DOCUMENT) | word_lists(results)
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    from ape.cli.eval.score_output import print_scores

    print_scores(results, documents=by is ScoreUnit.DOCUMENT)


def _metrics(names: list[str], encoder: str | None) -> list[Metric]:
    from dataclasses import replace

    from eval.metrics.bertscore import BertScore, TransformerEncoder
    from eval.metrics.registry import create_metrics

    chosen = create_metrics(names)
    if encoder and not any(isinstance(one, BertScore) for one in chosen):
        raise InputError("--encoder is for --metric bertscore, which is not asked for.", field="encoder")
    return [
        replace(one, encoder=TransformerEncoder(encoder)) if encoder and isinstance(one, BertScore) else one
        for one in chosen
    ]


def _with_scorer(chosen: list[Metric], scorer: Path | None) -> list[Metric]:
    """Coherence judged by a trained scorer; without one it learns from the other documents."""
    if scorer is None:
        return chosen
    from dataclasses import replace

    from eval.metrics.dip import DipCoherence, load_coherence_scorer

    if not any(isinstance(one, DipCoherence) for one in chosen):
        raise InputError("--scorer is for --metric dip-coherence, which is not asked for.", field="scorer")
    trained = load_coherence_scorer(scorer)
    return [replace(one, scorer=trained) if isinstance(one, DipCoherence) else one for one in chosen]


def _of_jobs(ids: list[str], references: list[Path], rules: CorpusRules, *, others: bool) -> Corpus:
    from ape.jobs.store import JobStore
    from ape.settings import load_settings
    from eval.corpus.job_reader import read_jobs

    if others:
        raise InputError(
            "--job has its own source and outputs: leave tables, --system and --source out.", field="job"
        )
    with JobStore(load_settings().jobs_url) as store:
        return read_jobs(store, ids, references=references, rules=rules)


def _of_files(
    tables: list[Path],
    systems: list[str],
    references: list[Path],
    source: Path | None,
    documents: str,
    rules: CorpusRules,
    encoding: str | None,
) -> Corpus:
    from tempfile import TemporaryDirectory

    from ape.cli.eval.stdin import StdinFile
    from eval.corpus.reader import read_corpus

    named: dict[str, Path] = {}
    for one in systems:
        name, sign, path = one.partition("=")
        if not (name and sign and path):
            raise InputError(f"--system {one!r} is not NAME=FILE.", field="system")
        if name in named:
            raise InputError(f"Two systems are called {name!r}.", field="system")
        named[name] = Path(path)
    with TemporaryDirectory() as folder:
        stdin = StdinFile(Path(folder))
        return read_corpus(
            *(stdin.table(path) for path in tables),
            systems={name: stdin.file(path) for name, path in named.items()},
            references=[stdin.file(path) for path in references],
            source=stdin.file(source) if source else None,
            documents=parse_document_split(documents),
            rules=rules,
            encoding=encoding,
        )


def parse_document_split(documents: str) -> DocumentBoundaries:
    """How documents are told apart, as it was typed."""
    if documents in ("auto", "marks", "blank", "none"):
        return documents  # type: ignore[return-value]  # it is one of the literals
    if not Path(documents).is_file():
        raise InputError(
            f"--documents is auto, marks, blank, none or a file: there is no {documents}.", field="documents"
        )
    return Path(documents)


def _measured(corpus: Corpus, metrics: list[Metric], how: ResamplingOptions) -> EvaluationResults:
    """With a bar on a terminal."""
    from ape.cli.terminal import error_console, passages_progress
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.metrics.scoring import measure_systems

    with passages_progress(error_console()) as bar, use_annotation_cache(default_annotation_folder()):
        task = bar.add_task("counting", total=len(metrics) * len(corpus.systems), so_far="")

        def told(metric: str, system: str) -> None:
            bar.update(task, description=f"{metric} of {system}")
            bar.advance(task)

        return measure_systems(corpus, metrics, resampling=how, on_progress=told)


def _report(results: EvaluationResults, path: Path) -> None:
    from ape.cli.terminal import print_line
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache

    try:
        from eval.report import write_report
    except ImportError as error:
        raise InputError(
            f"A report needs {error.name}. Type: pip install 'ape-books[eval]'", field="html"
        ) from error
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
    told = {
        name: asdict(one) | {"win_share": {who: wins.share for who, wins in one.wins.items()}}
        if hasattr(one, "wins")
        else {"not_applicable": one.why}
        for name, one in found.items()
    }
    typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
