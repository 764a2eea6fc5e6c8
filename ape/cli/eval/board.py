"""`ape eval board`: a leaderboard as a static site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def board(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the site.")],
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULTS…",
            help="Result files, or folders of them: from `ape eval score --results`, or the JSON of `ape eval score` "
            "and `ape eval suite`.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the site.")] = "Leaderboard",
    no_published: Annotated[
        bool, typer.Option("--no-published", help="Leave out the rows of BWB, Cai & Xiong, LTCR, DiP and PAR3.")
    ] = False,
) -> None:
    """Build a leaderboard: systems by suites and languages, with intervals, significance groups and signatures.

    The site needs no server and no JavaScript. The same result files give the same bytes; a system is added by adding
    a file. Without result files, the site has the published rows only.
    """
    from ape.cli.terminal import print_line
    from eval.board.conversion import read_folder
    from eval.board.site import write_site

    tables = write_site(read_folder(results) if results else [], output, title=title, published=not no_published)
    measured = sum(score.origin == "measured" for table in tables for score in table.scores)
    total = sum(len(table.scores) for table in tables)
    print_line(
        f"{len(tables):,} tables with {total:,} scores, {measured:,} of them measured, are in {output / 'index.html'}."
    )
