"""`ape ab analyse`: preferences, agreement and rater checks with intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.ab.flags import StoreFlag, open_trials
from ape.cli.corpus_flags import SamplesFlag
from ape.cli.flags import JsonFlag
from ape.errors import InputError, UnknownTrial
from ape.files.atomic import explain_write_errors

if TYPE_CHECKING:
    from eval.human.trial import Trial
    from eval.human.vote import Vote


def analyse(
    trial: Annotated[
        Path | None,
        typer.Argument(metavar="TRIAL", help="Trial file of `ape ab make`; optional if --votes name their systems."),
    ] = None,
    votes: Annotated[list[Path] | None, typer.Option(help="File of votes, instead of the store; repeatable.")] = None,
    store: StoreFlag = None,
    human: Annotated[str, typer.Option(help="System that is a human translation.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 1,
    samples: SamplesFlag = 2000,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Analyse votes: preferences with intervals, agreement, and checks of the raters.

    Columns of vote files, which may also be keys of JSON lines: item, rater, first, second (the systems in the order
    of display), choice (first, second or tie); optional: order (unknown, if first and second are not the order of
    display), confidence, believed_human, book, language, document, passage, kind, repeats, errors_first,
    errors_second, scores, spans (JSON by side), comment, at. A download of Pearmut is analysed without a trial too.
    """
    from ape.cli.terminal import print_line
    from eval.human.analysis.analysis import analyse_votes, format_analysis
    from eval.human.trial_file import read_trial

    made = read_trial(trial) if trial else None
    if made is None and votes and all(_is_pearmut(path) for path in votes):
        _analyse_ratings(votes, seed=seed, samples=samples, json_output=json_output)
        return
    found = _votes(made, votes or [], store)
    _refuse_unknown(human, made, found)
    analysis = analyse_votes(found, seed=seed, samples=samples, human=human, trial=made)
    if html:
        from eval.human.report import write_analysis_page

        with explain_write_errors(html, field="output"):
            write_analysis_page(analysis, html, title=made.name if made else "Votes")
        print_line(f"The page is in {html}.")
    if json_output:
        typer.echo(json.dumps(analysis.to_dict(), ensure_ascii=False, indent=1))
        return
    typer.echo(format_analysis(analysis))
    if analysis.spans:
        from eval.human.analysis.span_analysis import format_spans

        typer.echo(f"\n{format_spans(analysis.spans)}")


def _is_pearmut(path: Path) -> bool:
    from eval.human.pearmut import is_pearmut
    from eval.human.pearmut.annotations import read_download

    return path.suffix.lower() in (".json", ".jsonl") and is_pearmut(read_download(path))


def _analyse_ratings(paths: list[Path], *, seed: int, samples: int, json_output: bool) -> None:
    """Analyse the spans of campaigns that were not made by us."""
    from dataclasses import asdict

    from eval.human.analysis.span_analysis import analyse_spans, format_spans
    from eval.human.pearmut import read_ratings
    from eval.human.pearmut.annotations import read_download

    ratings = [one for path in paths for one in read_ratings(read_download(path), place=path.name)]
    found = analyse_spans(ratings, samples=samples, seed=seed)
    if found is None:
        raise InputError("The files have no scores.", field="votes")
    typer.echo(json.dumps(asdict(found), ensure_ascii=False, indent=1) if json_output else format_spans(found))


def _refuse_unknown(human: str, trial: Trial | None, votes: list[Vote]) -> None:
    from eval.human.analysis.vote_selection import select_pair_votes, systems_in_votes

    systems = trial.systems if trial else systems_in_votes(select_pair_votes(votes))
    if human and human not in systems:
        raise InputError(
            f"--human {human!r} is not one of the systems: {', '.join(systems) or 'there are no votes'}.", field="human"
        )


def _votes(trial: Trial | None, files: list[Path], store: str | None) -> list[Vote]:
    """Votes of the files, of the store, or of both."""
    from eval.human.vote_reader import read_votes

    if trial is None and (store or not files):
        raise InputError("Name the trial of the votes in the store, or give --votes FILE.", field="trial")
    found = [vote for path in files for vote in read_votes(path, trial)]
    if trial and (store or not files):
        found += _votes_in_store(trial, store)
    return _merge(found)


def _votes_in_store(trial: Trial, store: str | None) -> list[Vote]:
    with open_trials(store) as trials:
        try:
            return trials.votes(trial.id)
        except UnknownTrial as error:
            raise InputError(
                f"The store has no votes on the trial {trial.id} ({trial.name}). Serve it, import votes, or give files "
                "with --votes.",
                field="votes",
            ) from error


def _merge(votes: list[Vote]) -> list[Vote]:
    """Merge votes: equal votes count once. Raises InputError for contradicting votes."""
    found: dict[tuple[str, str, tuple[str, str]], Vote] = {}
    for vote in votes:
        # The key has the pair, because an item of other projects may be shown in several pairs.
        earlier = found.setdefault((vote.item, vote.rater, vote.pair), vote)
        if earlier.winner != vote.winner:
            raise InputError(
                f"{vote.rater} has two votes on item {vote.item} that differ. Leave out one of the files.",
                field="votes",
            )
    return list(found.values())
