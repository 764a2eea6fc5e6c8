"""`ape ab make`: a blind test of two or more systems."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ape.cli.ab.flags import RatersFlag, parse_names
from ape.cli.corpus_flags import DocumentsFlag, EncodingFlag, JobsFlag, ReferencesFlag, parse_documents, parse_systems
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag
from ape.errors import InputError


class LengthUnit(StrEnum):
    """Unit of passage lengths."""

    WORDS = "words"
    CHARACTERS = "characters"


class StratifyBy(StrEnum):
    """Strata that get equal numbers of passages."""

    NONE = "none"
    BOOK = "book"
    LANGUAGE = "language"


class RatingCondition(StrEnum):
    """Size of the text that a rater sees."""

    PARAGRAPH = "paragraph"
    DOCUMENT = "document"


class SpanMarking(StrEnum):
    """Protocols by which raters mark error spans."""

    ESA = "esa"
    MQM = "mqm"


class SpamShuffle(StrEnum):
    """How control items are shuffled."""

    WORDS = "words"
    SENTENCES = "sentences"


def make(
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="TRIAL",
            help="Trial file to write; it reveals the systems, so keep it from raters.",
        ),
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="JSON lines or TSV with sources and outputs, one file per source language; repeatable. None with "
            "text files."
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="System of the set, `reference` for its human translation, or a file of outputs; repeatable; all "
            "systems by default.",
        ),
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Source, one segment per line, without --data.")] = None,
    reference: ReferencesFlag = None,
    job: JobsFlag = None,
    documents: DocumentsFlag = "auto",
    items: Annotated[
        int | None, typer.Option("--number", min=1, help="Number of pairs of texts; 50 by default, or all if fewer.")
    ] = None,
    shortest: Annotated[int, typer.Option("--min", min=0, help="Minimum length of the source of a passage.")] = 0,
    longest: Annotated[
        int | None, typer.Option("--max", min=1, help="Maximum length of the source of a passage.")
    ] = None,
    unit: Annotated[LengthUnit, typer.Option(help="Unit of --min and --max.")] = LengthUnit.WORDS,
    by: Annotated[StratifyBy, typer.Option(help="Stratify by book or by source language.")] = StratifyBy.NONE,
    condition: Annotated[
        RatingCondition, typer.Option(help="Show single paragraphs, or consecutive paragraphs of a document.")
    ] = RatingCondition.PARAGRAPH,
    paragraphs: Annotated[int, typer.Option(min=1, help="Paragraphs in a passage, in the document condition.")] = 5,
    passages: Annotated[
        int, typer.Option(min=1, help="Maximum passages of a document, in the document condition.")
    ] = 4,
    monolingual: Annotated[bool, typer.Option("--no-source", help="Hide the source.")] = False,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Show every pair of systems in each passage, rather than one pair.")
    ] = False,
    against: Annotated[str, typer.Option(help="Compare each system only with this system.")] = "",
    repeats: Annotated[float, typer.Option(help="Share of items that are repeated with sides swapped.")] = 0.1,
    spam: Annotated[float, typer.Option(help="Share of items with a shuffled text, to detect careless raters.")] = 0.1,
    shuffle: Annotated[
        SpamShuffle | None, typer.Option(help="Shuffle words or sentences; words for paragraphs by default.")
    ] = None,
    no_ties: Annotated[bool, typer.Option("--no-ties", help="Do not offer a tie.")] = False,
    no_marks: Annotated[bool, typer.Option("--no-marks", help="Do not offer to mark differences.")] = False,
    spans: Annotated[
        SpanMarking | None,
        typer.Option(
            help="Raters mark error spans with a severity and score both texts from 0 to 100 (esa), with categories "
            "too (mqm), instead of choosing one."
        ),
    ] = None,
    per_rater: Annotated[
        int | None,
        typer.Option(
            help="Items for each rater, allocated by `ape ab serve` while they vote: undecided pairs of systems and "
            "items with few votes first. All items by default."
        ),
    ] = None,
    pearmut: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a campaign of Pearmut, with a task for each rater.")
    ] = None,
    name: Annotated[str, typer.Option(help="Title that raters see.")] = "Which translation reads better?",
    seed: Annotated[int, typer.Option(help="Seed for all random choices.")] = 1,
    raters: RatersFlag = None,
    offline: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write an offline page for each rater.")
    ] = None,
    label_studio: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write Label Studio tasks for each rater, and the interface.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a CSV table for each rater to fill in.")
    ] = None,
    jsonl: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write JSON lines for each rater.")] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Leave out passages in which a system has no text.")
    ] = False,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Make a blind test: a trial file, and a sheet for each rater that hides the systems.

    Passages with identical texts are left out and counted.
    """
    from ape.cli.ab.make_output import print_trial, write_sheets
    from ape.cli.terminal import print_line
    from ape.files.atomic import explain_write_errors
    from ape.settings import load_settings
    from eval.corpus.loader import CorpusInputs, load_corpora
    from eval.corpus.validation import CorpusRules
    from eval.human.design import TrialDesign, make_trial
    from eval.human.trial_file import write_trial

    people = parse_names(raters)
    folders = {"offline": offline, "label-studio": label_studio, "csv": csv, "jsonl": jsonl}
    if needs_raters := next((flag for flag, folder in folders.items() if folder and not people), None):
        raise InputError(
            f"--{needs_raters} writes a file for each rater: name them with --raters anna,ben.", field="raters"
        )
    if per_rater and (given := next((flag for flag, folder in folders.items() if folder), None)):
        raise InputError(
            f"--per-rater allocates items while raters vote; --{given} writes all of them.", field="per_rater"
        )
    if pearmut and not (people and spans):
        raise InputError("--pearmut needs --spans esa or mqm, and the raters: --raters anna,ben.", field="pearmut")
    rules = CorpusRules(source_language or "", target_language or "", allow_empty, print_line)
    design = TrialDesign(
        items=items,
        shortest=shortest,
        longest=longest,
        unit=unit.value,
        by=by.value,
        condition=condition.value,
        bilingual=not monolingual,
        paragraphs=paragraphs,
        passages=passages,
        all_pairs=all_pairs,
        against=against,
        repeats=repeats,
        spam=spam,
        shuffle=shuffle.value if shuffle else None,
    )
    names, files = parse_systems(system or ())
    inputs = CorpusInputs(
        tables=data or (),
        systems=files,
        references=reference or (),
        source=source,
        documents=parse_documents(documents),
        encoding=encoding,
        jobs=job or (),
    )
    corpora = load_corpora(inputs, rules, jobs_url=load_settings().jobs_url if job else "")
    trial = make_trial(
        corpora,
        systems=names if len(files) < len(names) else [],
        seed=seed,
        design=design,
        name=name,
        raters=people,
        ties=not no_ties,
        marks=not no_marks,
        spans=spans.value if spans else None,
        per_rater=per_rater,
    )
    with explain_write_errors(output, field="output"):
        write_trial(trial, output)
    write_sheets(trial, folders)
    if pearmut:
        from eval.human.pearmut import build_campaign

        with explain_write_errors(pearmut, field="pearmut"):
            pearmut.write_text(json.dumps(build_campaign(trial), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if json_output:
        summary = {"trial": trial.id, "systems": trial.systems, "design": dict(trial.design)}
        typer.echo(json.dumps(summary, ensure_ascii=False, indent=1))
        return
    print_trial(trial, output, folders)
