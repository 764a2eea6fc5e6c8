"""`ape ab make`: a blind test from a set with the outputs of two systems or more."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.ab.flags import RatersFlag, parse_names, report_write_errors
from ape.cli.corpus_flags import DocumentsFlag, EncodingFlag, JobsFlag, ReferencesFlag
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.corpus.corpus import Corpus
    from eval.corpus.validation import CorpusRules


class LengthUnit(StrEnum):
    """What a length is counted in."""

    WORDS = "words"
    CHARACTERS = "characters"


class StratifyBy(StrEnum):
    """What gives as many passages each."""

    NONE = "none"
    BOOK = "book"
    LANGUAGE = "language"


class RatingCondition(StrEnum):
    """What a rater sees at once."""

    PARAGRAPH = "paragraph"
    DOCUMENT = "document"


class SpamShuffle(StrEnum):
    """How spam is made."""

    WORDS = "words"
    SENTENCES = "sentences"


def make(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="TRIAL", help="The trial. It holds the key: keep it from raters."
        ),
    ],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="JSON lines or TSV with sources and outputs, one for each language; may be repeated. None with text "
            "files."
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="A system of the set, `reference` for its human translation, or outputs line by line; may be "
            "repeated. All of the set if left out.",
        ),
    ] = None,
    source: Annotated[Path | None, typer.Option(help="The source, line by line, without --data.")] = None,
    reference: ReferencesFlag = None,
    job: JobsFlag = None,
    documents: DocumentsFlag = "auto",
    items: Annotated[
        int | None, typer.Option(min=1, help="How many pairs of texts; 50, or all there are, if left out.")
    ] = None,
    shortest: Annotated[int, typer.Option("--min", min=0, help="The shortest passage, by its source.")] = 0,
    longest: Annotated[int | None, typer.Option("--max", min=1, help="The longest passage.")] = None,
    unit: Annotated[LengthUnit, typer.Option(help="What these are counted in.")] = LengthUnit.WORDS,
    by: Annotated[
        StratifyBy, typer.Option(help="Take as many passages from each book, or source language.")
    ] = StratifyBy.NONE,
    condition: Annotated[
        RatingCondition,
        typer.Option(help="Single paragraphs, or documents: paragraphs that follow each other, in order."),
    ] = RatingCondition.PARAGRAPH,
    paragraphs: Annotated[int, typer.Option(min=1, help="At once, in the document condition.")] = 5,
    passages: Annotated[int, typer.Option(min=1, help="Of a document at most, in that condition.")] = 4,
    monolingual: Annotated[bool, typer.Option("--monolingual", help="Show no source.")] = False,
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Show every two systems in each passage, not one pair in turn."),
    ] = False,
    against: Annotated[
        str, typer.Option(help="Compare each system to this one, and not to each other.")
    ] = "",
    repeats: Annotated[float, typer.Option(help="The share of items that are shown again, swapped.")] = 0.1,
    spam: Annotated[
        float, typer.Option(help="The share of items with a shuffled text, to test raters.")
    ] = 0.1,
    shuffle: Annotated[
        SpamShuffle | None, typer.Option(help="Words for paragraphs and sentences for documents if left out.")
    ] = None,
    no_ties: Annotated[bool, typer.Option("--no-ties", help="Raters have to choose.")] = False,
    no_marks: Annotated[bool, typer.Option("--no-marks", help="Differences can't be marked.")] = False,
    name: Annotated[str, typer.Option(help="What raters see above it.")] = "Which translation reads better?",
    seed: Annotated[int, typer.Option(help="Of all that is drawn; the same seed makes the same trial.")] = 1,
    raters: RatersFlag = None,
    offline: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write a page for each rater that needs no server and saves to a file."
        ),
    ] = None,
    label_studio: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write tasks for each rater, and the interface, for Label Studio."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a table for each rater to fill in.")
    ] = None,
    jsonl: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the sheet of each rater as JSON lines.")
    ] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Leave passages out where a system has no text.")
    ] = False,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    encoding: EncodingFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Make a blind test: the passages, who wrote what, and for each rater a sheet that does not tell.

    The same texts in both systems are left out, and counted.
    """
    from ape.cli.ab.make_output import print_trial, write_sheets
    from ape.cli.terminal import print_line
    from eval.corpus.validation import CorpusRules
    from eval.human.design import TrialDesign, make_trial
    from eval.human.trial_file import write_trial

    people = parse_names(raters)
    folders = {"offline": offline, "label-studio": label_studio, "csv": csv, "jsonl": jsonl}
    if wanted := next((flag for flag, folder in folders.items() if folder and not people), None):
        raise InputError(
            f"--{wanted} writes for each rater: name them with --raters anna,ben.", field="raters"
        )
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
    chosen, files = _systems(system or [])
    if job:
        if data or files or source:
            raise InputError("--job has its own source and outputs: leave --data and files out.", field="job")
        corpora = [_of_jobs(job, reference or [], rules)]
    else:
        corpora = _of_files(data or [], files, reference or [], source, documents, rules, encoding)
    trial = make_trial(
        corpora,
        systems=chosen,
        seed=seed,
        design=design,
        name=name,
        raters=people,
        ties=not no_ties,
        marks=not no_marks,
    )
    with report_write_errors(output):
        write_trial(trial, output)
    write_sheets(trial, folders)
    if json_output:
        told = {"trial": trial.id, "systems": trial.systems, "design": dict(trial.design)}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    print_trial(trial, output, folders)


def _systems(given: list[str]) -> tuple[list[str], dict[str, Path]]:
    """The systems that are chosen, none for all of the set; and the files of those that are not in it."""
    files: dict[str, Path] = {}
    for one in given:
        name, sign, path = one.partition("=")
        if not name or (sign and not path):
            raise InputError(f"--system {one!r} is not NAME or NAME=FILE.", field="system")
        if sign and name in files:
            raise InputError(f"Two systems are called {name!r}.", field="system")
        if sign:
            files[name] = Path(path)
    chosen = [one.partition("=")[0] for one in given]
    return (chosen if len(files) < len(given) else []), files


def _of_jobs(ids: list[str], references: list[Path], rules: CorpusRules) -> Corpus:
    from ape.jobs.store import JobStore
    from ape.settings import load_settings
    from eval.corpus.job_reader import read_jobs

    with JobStore(load_settings().jobs_url) as store:
        return read_jobs(store, ids, references=references, rules=rules)


def _of_files(
    tables: list[Path],
    systems: dict[str, Path],
    references: list[Path],
    source: Path | None,
    documents: str,
    rules: CorpusRules,
    encoding: str | None,
) -> list[Corpus]:
    """One set for each table, as each may have a source language of its own."""
    from ape.cli.eval.score import parse_document_split
    from eval.corpus.reader import read_corpus

    if len(tables) > 1 and (systems or references):
        raise InputError(
            "With several --data, all texts are in them: leave files of texts out.", field="data"
        )
    if not tables and not systems:
        raise InputError("There is nothing to compare: give --data FILE or --system NAME=FILE.", field="data")
    return [
        read_corpus(
            *given,
            systems=systems,
            references=references,
            source=source,
            documents=parse_document_split(documents),
            rules=rules,
            encoding=encoding,
        )
        for given in ([[table] for table in tables] or [[]])
    ]
