"""`ape judge pairs|spans`: a language model on which translation is better, or on what is wrong in it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ape.cli.corpus_flags import DocumentsFlag, SamplesFlag
from ape.cli.extras import require_extra
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
    list[Path] | None,
    typer.Argument(help="JSON lines or TSV with sources and outputs; none with text files."),
]
SystemFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME[=FILE]",
        help="A system to judge: one of the tables by its name, or a text file, line by line. All, if left out.",
    ),
]
SourceFlag = Annotated[Path | None, typer.Option("--source", help="The source, line by line.")]
TrialFlag = Annotated[
    Path | None, typer.Option("--trial", help="A blind test of `ape ab make`, whose items people voted on.")
]
VotesFlag = Annotated[
    Path | None, typer.Option("--votes", help="Votes of people, to see whether the judge agrees with them.")
]
NoSourceFlag = Annotated[bool, typer.Option("--no-source", help="Don't show the source to the judge.")]
SeedFlag = Annotated[int, typer.Option("--seed", help="Sent with every question.")]
MaxTokensFlag = Annotated[
    int, typer.Option("--max-tokens", min=16, help="Longest answer: thinking aloud and the verdict.")
]
CacheFlag = Annotated[
    Path | None, typer.Option("--cache", help="Where answers are kept; asked again, they cost nothing.")
]
PriceInFlag = Annotated[
    float | None, typer.Option("--price-in", min=0, help="What a million tokens read cost.")
]
PriceOutFlag = Annotated[
    float | None, typer.Option("--price-out", min=0, help="What a million tokens written cost.")
]
AnswersFlag = Annotated[
    Path | None, typer.Option("--answers", help="Write every verdict with what the judge wrote, as JSON.")
]


@app.command()
def pairs(
    tables: TablesArgument = None,
    system: SystemFlag = None,
    source: SourceFlag = None,
    documents: DocumentsFlag = "auto",
    trial: TrialFlag = None,
    against: Annotated[
        str | None, typer.Option(help="Set every system against this one; else, every two.")
    ] = None,
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Whether a tie is on the menu.")] = True,
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
    """Ask which of two translations is better, in both orders.

    A verdict that changes with the order is none. The same command again asks only for what is missing.
    """
    with require_extra("eval"):
        import scipy  # type: ignore[import-untyped]  # noqa: F401
    from eval.judge import judge_pairs

    if trial:
        if tables or system or source or against:
            raise InputError(
                "--trial has its own texts: leave tables, --system, --source and --against out.",
                field="trial",
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
    asking = _asking(settings, cache, seed=seed, max_tokens=max_tokens)
    judged = _run(
        settings,
        lambda opened, progress: judge_pairs(given, opened, options=asking, ties=ties, progress=progress),
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
        str | None, typer.Option(help="Test every system against this one (paired bootstrap, Holm).")
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
    """Ask what is wrong in each translation: weighted errors for 100 words, fewer are better.

    The same command again asks only for what is missing. With --votes, --trial names the blind test they are of.
    """
    with require_extra("eval"):
        import scipy  # noqa: F401
    from ape.cli.judge_output import agreement_with_votes, print_spans
    from eval.human.trial_index import votes_by_passage
    from eval.judge import judge_spans
    from eval.metrics.scoring import ResamplingOptions, default_resampling_unit, measure_systems

    rules = _rules(source_language, target_language)
    corpus, names = _corpus(tables, system, source=source, documents=documents, rules=rules)
    if baseline and baseline not in names:
        raise InputError(
            f"There is no system {baseline!r} to test against: {', '.join(names)}.", field="baseline"
        )
    people = _votes(votes, trial)
    if trial:
        people = votes_by_passage(people, _trial_of(corpus, trial))
    settings = engine_settings(
        engine=engine, url=url, model=model, adapter=adapter, price_in=price_in, price_out=price_out
    )
    asking = _asking(settings, cache, seed=seed, max_tokens=max_tokens)
    judged = _run(
        settings,
        lambda opened, progress: judge_spans(
            corpus, opened, systems=names, options=asking, with_source=not no_source, progress=progress
        ),
    )
    unit = default_resampling_unit(corpus)
    results = measure_systems(
        corpus, [judged], resampling=ResamplingOptions(unit, baseline or "", samples, seed)
    )
    agreed = agreement_with_votes(judged, people)
    beside = {"agreement": {name: one.to_dict() for name, one in agreed.items()}}
    _write(answers, judged.to_dict(answers=True) | beside)
    if json_output:
        scores = results.to_dict()
        told = judged.to_dict() | beside
        told |= {"scores": scores["scores"], "resampling": scores["resampling"]}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    print_spans(judged, results, agreed)


def _rules(source_language: str | None, target_language: str | None) -> CorpusRules:
    from ape.cli.terminal import print_line
    from eval.corpus.validation import CorpusRules

    return CorpusRules(source_language or "", target_language or "", note=print_line)


def _corpus(
    tables: list[Path] | None,
    system: list[str] | None,
    *,
    source: Path | None,
    documents: str,
    rules: CorpusRules,
) -> tuple[Corpus, list[str]]:
    """What is to be judged, and the systems that are: all, unless some are named."""
    from ape.cli.eval.mine import named_systems
    from ape.cli.eval.score import parse_document_split
    from eval.corpus.reader import read_corpus

    names, files = named_systems(system or ())
    corpus = read_corpus(
        *(tables or ()), systems=files, source=source, documents=parse_document_split(documents), rules=rules
    )
    return corpus, names or list(corpus.systems)


def _couples(
    corpus: Corpus, names: list[str], *, against: str | None, with_source: bool
) -> tuple[JudgePair, ...]:
    from eval.judge import pairs_from_corpus

    others = [name for name in names if name != against]
    couples = [(other, against) for other in others] if against else list(combinations(names, 2))
    if not couples:
        raise InputError("There is one system only: a judge of pairs needs two.", field="system")
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
    """The trial, of which it is known that it showed these texts."""
    from eval.human.text_check import require_same_texts

    trial = _trial(path)
    texts = {
        name: {
            f"{one.id}:{place}": text
            for one in corpus.documents
            for place, text in enumerate(one.outputs[name], 1)
        }
        for name in corpus.systems
    }
    require_same_texts(trial, texts, file=path.name)
    return trial


def _votes(path: Path | None, trial: Path | None) -> list[Vote]:
    from eval.human.vote_reader import read_votes

    return read_votes(path, _trial(trial) if trial else None) if path else []


def _asking(settings: Settings, cache: Path | None, *, seed: int, max_tokens: int) -> JudgeOptions:
    from ape.cli.book_plan import configured_price
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
    """With the engine that the settings name, and a bar on a terminal."""
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


def _write(path: Path | None, told: dict[str, Any]) -> None:
    if path is None:
        return
    try:
        path.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.", field="answers") from error
