"""`ape judge`: pairwise preferences and error spans by a language model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ape.cli.corpus_flags import DocumentsFlag, SamplesFlag, parse_documents, parse_systems
from ape.cli.extras import require_modules
from ape.cli.flags import (
    AdapterFlag,
    EngineFlag,
    JsonFlag,
    ModelFlag,
    SourceLanguageFlag,
    TargetLanguageFlag,
    UrlFlag,
    engine_settings,
)
from ape.errors import InputError

if TYPE_CHECKING:
    from ape.engines.protocol import Engine
    from ape.settings import Settings
    from eval.corpus.corpus import Corpus
    from eval.corpus.validation import CorpusRules
    from eval.human.trial import Trial
    from eval.human.vote import Vote
    from eval.judge import JudgeOptions, JudgePair
    from eval.judge.requests import JudgeProgress

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")

TablesArgument = Annotated[
    list[Path] | None, typer.Argument(help="JSON lines or TSV with sources and outputs; none with text files.")
]
SystemFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME[=FILE]",
        help="System to judge, by its name in the tables, or a text file; all by default.",
    ),
]
SourceFlag = Annotated[Path | None, typer.Option("--source", help="Source, one segment per line.")]
TrialFlag = Annotated[Path | None, typer.Option("--trial", help="Trial file of `ape ab make`, to judge its items.")]
VotesFlag = Annotated[
    Path | None, typer.Option("--votes", help="File of human votes, to measure the agreement with the judge.")
]
NoSourceFlag = Annotated[bool, typer.Option("--no-source", help="Hide the source from the judge.")]
SeedFlag = Annotated[int, typer.Option("--seed", help="Seed sent with every request.")]
MaxTokensFlag = Annotated[
    int, typer.Option("--max-tokens", min=16, help="Maximum tokens of an answer, reasoning included.")
]
CacheFlag = Annotated[Path | None, typer.Option("--cache", help="Folder of the answer cache.")]
PriceInFlag = Annotated[float | None, typer.Option("--price-in", min=0, help="Price of a million input tokens.")]
PriceOutFlag = Annotated[float | None, typer.Option("--price-out", min=0, help="Price of a million output tokens.")]
AnswersFlag = Annotated[
    Path | None, typer.Option("--answers", help="Write all verdicts and answers to this JSON file.")
]


@app.command()
def pairs(
    tables: TablesArgument = None,
    system: SystemFlag = None,
    source: SourceFlag = None,
    documents: DocumentsFlag = "auto",
    trial: TrialFlag = None,
    against: Annotated[
        str | None, typer.Option(help="Compare every system with this one; by default every pair.")
    ] = None,
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Whether the judge may answer with a tie.")] = True,
    votes: VotesFlag = None,
    no_source: NoSourceFlag = False,
    seed: SeedFlag = 1,
    max_tokens: MaxTokensFlag = 1024,
    cache: CacheFlag = None,
    price_in: PriceInFlag = None,
    price_out: PriceOutFlag = None,
    answers: AnswersFlag = None,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    json_output: JsonFlag = False,
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
) -> None:
    """Ask a model which of two translations is better, in both orders.

    Verdicts that change with the order are not counted. Answers are cached, so a
    second run asks only for missing answers.
    """
    require_modules("scipy")
    from eval.judge import judge_pairs

    if trial:
        if tables or system or source or against:
            raise InputError(
                "--trial has its own texts. Leave out tables, --system, --source and --against.", field="trial"
            )
        given = _pairs_of_trial(trial, with_source=not no_source)
    else:
        rules = _rules(source_language, target_language)
        corpus, names = _corpus(tables, system, source=source, documents=documents, rules=rules)
        given = _couples(corpus, names, against=against, with_source=not no_source)
    people = _votes(votes, trial)
    settings = engine_settings(
        engine=engine, url=url, model=model, adapter=adapter, price_in=price_in, price_out=price_out
    )
    options = _judge_options(settings, cache, seed=seed, max_tokens=max_tokens)
    judged = _run(
        settings, lambda opened, progress: judge_pairs(given, opened, options=options, ties=ties, progress=progress)
    ).with_agreement(people)
    _write(answers, judged.to_dict(answers=True))
    if json_output:
        typer.echo(json.dumps(judged.to_dict(), ensure_ascii=False, indent=1))
        return
    from ape.cli.judge_output import print_pairs

    print_pairs(judged)


@app.command()
def spans(
    tables: TablesArgument = None,
    system: SystemFlag = None,
    source: SourceFlag = None,
    documents: DocumentsFlag = "auto",
    baseline: Annotated[
        str | None, typer.Option(help="System to test all others against (paired bootstrap, Holm).")
    ] = None,
    trial: TrialFlag = None,
    votes: VotesFlag = None,
    no_source: NoSourceFlag = False,
    samples: SamplesFlag = 1000,
    seed: SeedFlag = 1,
    max_tokens: MaxTokensFlag = 1024,
    cache: CacheFlag = None,
    price_in: PriceInFlag = None,
    price_out: PriceOutFlag = None,
    answers: AnswersFlag = None,
    source_language: SourceLanguageFlag = None,
    target_language: TargetLanguageFlag = None,
    json_output: JsonFlag = False,
    engine: EngineFlag = None,
    url: UrlFlag = None,
    model: ModelFlag = None,
    adapter: AdapterFlag = None,
) -> None:
    """Ask a model for error spans: weighted errors per 100 words, lower is better.

    Answers are cached, so a second run asks only for missing answers. --votes
    needs the --trial of the votes.
    """
    require_modules("scipy")
    from ape.cli.judge_output import agreement_with_votes, print_spans
    from eval.human.trial_index import votes_by_passage
    from eval.judge import judge_spans
    from eval.metrics.scoring import ResamplingOptions, default_resampling_unit, measure_systems

    rules = _rules(source_language, target_language)
    corpus, names = _corpus(tables, system, source=source, documents=documents, rules=rules)
    if baseline and baseline not in names:
        raise InputError(f"There is no system {baseline!r} to test against: {', '.join(names)}.", field="baseline")
    people = _votes(votes, trial)
    if trial:
        people = votes_by_passage(people, _trial_of(corpus, trial))
    settings = engine_settings(
        engine=engine, url=url, model=model, adapter=adapter, price_in=price_in, price_out=price_out
    )
    options = _judge_options(settings, cache, seed=seed, max_tokens=max_tokens)
    judged = _run(
        settings,
        lambda opened, progress: judge_spans(
            corpus, opened, systems=names, options=options, with_source=not no_source, progress=progress
        ),
    )
    unit = default_resampling_unit(corpus)
    results = measure_systems(corpus, [judged], resampling=ResamplingOptions(unit, baseline or "", samples, seed))
    agreed = agreement_with_votes(judged, people)
    agreement = {"agreement": {name: found.to_dict() for name, found in agreed.items()}}
    _write(answers, judged.to_dict(answers=True) | agreement)
    if json_output:
        scores = results.to_dict()
        output = judged.to_dict() | agreement
        output |= {"scores": scores["scores"], "resampling": scores["resampling"]}
        typer.echo(json.dumps(output, ensure_ascii=False, indent=1))
        return
    print_spans(judged, results, agreed)


def _rules(source_language: str | None, target_language: str | None) -> CorpusRules:
    from ape.cli.terminal import print_line
    from eval.corpus.validation import CorpusRules

    return CorpusRules(source_language or "", target_language or "", note=print_line)


def _corpus(
    tables: list[Path] | None, system: list[str] | None, *, source: Path | None, documents: str, rules: CorpusRules
) -> tuple[Corpus, list[str]]:
    """The corpus, and the systems to judge: all of them unless some are named."""
    from eval.corpus.loader import CorpusInputs, load_corpus

    names, files = parse_systems(system or ())
    inputs = CorpusInputs(tables or (), files, source=source, documents=parse_documents(documents))
    corpus = load_corpus(inputs, rules)
    return corpus, names or list(corpus.systems)


def _couples(corpus: Corpus, names: list[str], *, against: str | None, with_source: bool) -> tuple[JudgePair, ...]:
    from eval.judge import pairs_from_corpus

    others = [name for name in names if name != against]
    couples = [(other, against) for other in others] if against else list(combinations(names, 2))
    if not couples:
        raise InputError("There is only one system: pairs need at least two.", field="system")
    return pairs_from_corpus(corpus, couples, with_source=with_source)


def _pairs_of_trial(path: Path, *, with_source: bool) -> tuple[JudgePair, ...]:
    from dataclasses import replace

    from eval.judge import pairs_from_trial

    found = pairs_from_trial(_trial(path))
    return found if with_source else tuple(replace(pair, source=None) for pair in found)


def _trial(path: Path) -> Trial:
    from eval.human.trial_file import read_trial

    return read_trial(path)


def _trial_of(corpus: Corpus, path: Path) -> Trial:
    """Read the trial, and check that it shows the texts of the corpus."""
    from eval.human.text_check import require_same_texts

    trial = _trial(path)
    texts = {
        name: {
            f"{document.id}:{number}": text
            for document in corpus.documents
            for number, text in enumerate(document.outputs[name], 1)
        }
        for name in corpus.systems
    }
    require_same_texts(trial, texts, file=path.name)
    return trial


def _votes(path: Path | None, trial: Path | None) -> list[Vote]:
    from eval.human.vote_reader import read_votes

    return read_votes(path, _trial(trial) if trial else None) if path else []


def _judge_options(settings: Settings, cache: Path | None, *, seed: int, max_tokens: int) -> JudgeOptions:
    from ape.jobs.job_estimate import configured_price
    from eval.judge import JudgeOptions
    from eval.judge.answer_cache import default_cache_folder
    from eval.judge.requests import server_identity

    return JudgeOptions(
        seed=seed,
        max_tokens=max_tokens,
        concurrency=settings.concurrency,
        cache=cache or default_cache_folder(),
        price=configured_price(settings),
        server=server_identity(settings),
    )


def _run(settings: Settings, work: Callable[[Engine, JudgeProgress], Awaitable[T]]) -> T:
    """Run the judge on the configured engine, with a progress bar."""
    import asyncio

    from ape.cli.terminal import error_console, fetch_with_progress, passages_progress, print_line
    from ape.engines.factory import open_engine

    async def watched() -> T:
        with passages_progress(error_console()) as bar:
            task = bar.add_task("judging", total=None, so_far="")
            async with open_engine(settings, log_line=print_line) as opened:
                return await work(opened, lambda done, every: bar.update(task, completed=done, total=every))

    fetch_with_progress(settings)
    return asyncio.run(watched())


def _write(path: Path | None, answers: dict[str, Any]) -> None:
    from ape.files.atomic import explain_write_errors, write_text_atomic

    if path:
        with explain_write_errors(path, field="answers"):
            write_text_atomic(path, json.dumps(answers, ensure_ascii=False, indent=1) + "\n")
