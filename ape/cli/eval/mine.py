"""`ape eval mine`: mine a test set from the errors of systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.corpus_flags import AllowEmptyFlag, ReferencesFlag, parse_systems
from ape.cli.extras import require_modules
from ape.cli.flags import JsonFlag, SourceLanguageFlag, TargetLanguageFlag, check_output_file
from ape.errors import InputError

if TYPE_CHECKING:
    from eval.suites.dip.mined_set import MinedPhenomenon, MinedSet

_Files = list[Path] | None


def mine(
    out: Annotated[Path, typer.Option("--output", "-o", help="JSON lines file to write.")],
    tables: Annotated[_Files, typer.Argument(help="JSON lines or TSV with sources, references and outputs.")] = None,
    source: Annotated[Path | None, typer.Option(help="Source, one segment per line.")] = None,
    reference: ReferencesFlag = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="System to mine from, by its name in the tables, or a text file; all by default.",
        ),
    ] = None,
    phenomenon: Annotated[
        list[str] | None,
        typer.Option(help="Phenomenon: consistency, connectives or pronouns; repeatable; all by default."),
    ] = None,
    at_least: Annotated[int, typer.Option(help="Number of systems that must fail at a passage.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Maximum passages of each phenomenon, sampled at random.")] = None,
    seed: Annotated[int, typer.Option(help="Seed for all random choices.")] = 1,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    allow_empty: AllowEmptyFlag = False,
    replace: Annotated[bool, typer.Option("--overwrite", help="Replace an existing test set.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Mine a test set of inconsistent words, lost connectives and wrong pronouns."""
    from ape.cli.terminal import print_line

    require_modules("simplemma", "textblob")
    from eval.corpus.reader import read_corpus
    from eval.corpus.validation import CorpusRules
    from eval.linguistics.annotators import default_annotation_folder, use_annotation_cache
    from eval.suites.dip.mined_set import write_mined_set
    from eval.suites.dip.mining import mine_test_set as mine_from

    check_output_file(out, flag="--output", replace=replace)
    names, files = parse_systems(system or ())
    corpus = read_corpus(
        *(tables or ()),
        systems=files,
        references=reference or (),
        source=source,
        rules=CorpusRules(
            source_language=source_language or "",
            target_language=target_language or "",
            allow_empty=allow_empty,
            note=print_line,
        ),
    )
    with use_annotation_cache(default_annotation_folder()):
        mined = mine_from(
            corpus, phenomena=_phenomena(phenomenon or ()), systems=names, at_least=at_least, limit=limit, seed=seed
        )
    write_mined_set(out, mined)
    _show(mined, out, json_output=json_output)


def _phenomena(given: list[str] | tuple[()]) -> tuple[MinedPhenomenon, ...]:
    from eval.suites.dip.mined_set import MINED_PHENOMENA

    named = [name.strip() for names in given for name in names.split(",")]
    if odd := [name for name in named if name not in MINED_PHENOMENA]:
        raise InputError(
            f"--phenomenon {odd[0]!r} can't be mined. Phenomena: {', '.join(MINED_PHENOMENA)}.", field="phenomenon"
        )
    return tuple(known for known in MINED_PHENOMENA if known in named) or MINED_PHENOMENA


def _show(mined: MinedSet, out: Path, *, json_output: bool) -> None:
    import json

    from eval.suites.dip.mined_set import MINED_PHENOMENA

    counts = {name: len(mined.items_of(name)) for name in MINED_PHENOMENA if name in mined.manifest["found"]}
    if json_output:
        typer.echo(json.dumps({"file": str(out), "items": counts, **mined.manifest}, ensure_ascii=False))
        return
    for name, count in counts.items():
        typer.echo(f"{name}: {count:,} of {mined.manifest['found'][name]:,} passages that systems failed at")
    typer.echo(f"Written to {out}.")
