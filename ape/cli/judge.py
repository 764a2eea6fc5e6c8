"""`ape judge`: pairwise preferences and error spans by a language model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ape.cli.command import CommandGroup
from ape.cli.corpus_flags import DocumentsFlag, SamplesFlag, parse_documents, parse_systems
from ape.cli.extras import require_modules
from ape.cli.flags import EngineFlags, JsonFlag, SourceLanguageFlag, TargetLanguageFlag, expand_flag_groups
from ape.errors import InputError

if TYPE_CHECKING:
    from ape.engines.protocol import Engine
    from ape.settings import Settings
    from eval.corpus.corpus import Corpus
    from eval.human.trial import Trial
    from eval.human.vote import Vote
    from eval.judge import JudgeOptions, JudgePair
    from eval.judge.requests import JudgeProgress

app = CommandGroup()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgeFlags:
    """The flags that both commands have."""

    tables: Annotated[
        list[Path] | None, typer.Argument(help="JSON lines or TSV with sources and outputs; none with text files.")
    ] = None
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]", help="System to judge, by its name in the tables, or a text file; all by default."
        ),
    ] = None
    source: Annotated[Path | None, typer.Option(help="Source, one segment per line.")] = None
    documents: DocumentsFlag = "auto"
    trial: Annotated[Path | None, typer.Option(help="Trial file of `ape ab make`, to judge its items.")] = None
    votes: Annotated[
        Path | None, typer.Option(help="File of human votes, to measure the agreement with the judge.")
    ] = None
    no_source: Annotated[bool, typer.Option("--no-source", help="Hide the source from the judge.")] = False
    seed: Annotated[int, typer.Option(help="Seed sent with every request.")] = 1
    max_tokens: Annotated[int, typer.Option(min=16, help="Maximum tokens of an answer, reasoning included.")] = 1024
    cache: Annotated[Path | None, typer.Option(help="Folder of the answer cache.")] = None
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million input tokens.")] = None
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million output tokens.")] = None
    answers: Annotated[Path | None, typer.Option(help="Write all verdicts and answers to this JSON file.")] = None
    source_language: SourceLanguageFlag = None
    target_language: TargetLanguageFlag = None
    json_output: JsonFlag = False

    def corpus(self) -> tuple[Corpus, list[str]]:
        """The corpus, and the systems to judge: all of them unless some are named."""
        from ape.cli.terminal import print_line
        from eval.corpus.loader import CorpusInputs, load_corpus
        from eval.corpus.validation import CorpusRules

        names, files = parse_systems(self.system or ())
        inputs = CorpusInputs(self.tables or (), files, source=self.source, documents=parse_documents(self.documents))
        rules = CorpusRules(self.source_language or "", self.target_language or "", note=print_line)
        corpus = load_corpus(inputs, rules)
        return corpus, names or list(corpus.systems)

    def people(self) -> list[Vote]:
        """The human votes, if any."""
        from eval.human.vote_reader import read_votes

        return read_votes(self.votes, _trial(self.trial) if self.trial else None) if self.votes else []

    def run(self, engine_flags: EngineFlags, work: Callable[[Engine, JudgeOptions, JudgeProgress], Awaitable[T]]) -> T:
        """Run the judge on the configured engine, with a progress bar."""
        import asyncio

        from ape.cli.terminal import error_console, fetch_with_progress, passages_progress, print_line
        from ape.engines.factory import open_engine

        settings = engine_flags.settings(price_in=self.price_in, price_out=self.price_out)
        options = self._options(settings)

        async def watched() -> T:
            with passages_progress(error_console()) as bar:
                task = bar.add_task("judging", total=None, so_far="")
                async with open_engine(settings, log_line=print_line) as opened:
                    return await work(
                        opened, options, lambda done, every: bar.update(task, completed=done, total=every)
                    )

        fetch_with_progress(settings)
        return asyncio.run(watched())

    def _options(self, settings: Settings) -> JudgeOptions:
        from ape.jobs.job_estimate import configured_price
        from eval.judge import JudgeOptions
        from eval.judge.answer_cache import default_cache_folder
        from eval.judge.requests import server_identity

        return JudgeOptions(
            seed=self.seed,
            max_tokens=self.max_tokens,
            concurrency=settings.concurrency,
            cache=self.cache or default_cache_folder(),
            price=configured_price(settings),
            server=server_identity(settings),
        )

    def write_answers(self, answers: dict[str, Any]) -> None:
        """Write the verdicts and answers to the file of --answers, if any."""
        from ape.files.atomic import explain_write_errors, write_text_atomic

        if self.answers:
            with explain_write_errors(self.answers, field="answers"):
                write_text_atomic(self.answers, json.dumps(answers, ensure_ascii=False, indent=1) + "\n")


@app.command()
@expand_flag_groups
def pairs(
    flags: JudgeFlags,
    engine_flags: EngineFlags,
    against: Annotated[
        str | None, typer.Option(help="Compare every system with this one; by default every pair.")
    ] = None,
    ties: Annotated[bool, typer.Option("--ties/--no-ties", help="Whether the judge may answer with a tie.")] = True,
) -> None:
    """Ask a model which of two translations is better, in both orders.

    Verdicts that change with the order are not counted. Answers are cached, so a
    second run asks only for missing answers.
    """
    require_modules("scipy")
    from eval.judge import judge_pairs

    if flags.trial:
        if flags.tables or flags.system or flags.source or against:
            raise InputError(
                "--trial has its own texts. Leave out tables, --system, --source and --against.", field="trial"
            )
        given = _pairs_of_trial(flags.trial, with_source=not flags.no_source)
    else:
        corpus, names = flags.corpus()
        given = _couples(corpus, names, against=against, with_source=not flags.no_source)
    people = flags.people()
    judged = flags.run(
        engine_flags,
        lambda engine, options, progress: judge_pairs(given, engine, options=options, ties=ties, progress=progress),
    ).with_agreement(people)
    flags.write_answers(judged.to_dict(answers=True))
    if flags.json_output:
        typer.echo(json.dumps(judged.to_dict(), ensure_ascii=False, indent=1))
        return
    from ape.cli.judge_output import print_pairs

    print_pairs(judged)


@app.command()
@expand_flag_groups
def spans(
    flags: JudgeFlags,
    engine_flags: EngineFlags,
    baseline: Annotated[
        str | None, typer.Option(help="System to test all others against (paired bootstrap, Holm).")
    ] = None,
    samples: SamplesFlag = 1000,
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

    corpus, names = flags.corpus()
    if baseline and baseline not in names:
        raise InputError(f"There is no system {baseline!r} to test against: {', '.join(names)}.", field="baseline")
    people = flags.people()
    if flags.trial:
        people = votes_by_passage(people, _trial_of(corpus, flags.trial))
    judged = flags.run(
        engine_flags,
        lambda engine, options, progress: judge_spans(
            corpus, engine, systems=names, options=options, with_source=not flags.no_source, progress=progress
        ),
    )
    resampling = ResamplingOptions(default_resampling_unit(corpus), baseline or "", samples, flags.seed)
    results = measure_systems(corpus, [judged], resampling=resampling)
    agreed = agreement_with_votes(judged, people)
    agreement = {"agreement": {name: found.to_dict() for name, found in agreed.items()}}
    flags.write_answers(judged.to_dict(answers=True) | agreement)
    if flags.json_output:
        scores = results.to_dict()
        output = judged.to_dict() | agreement
        output |= {"scores": scores["scores"], "resampling": scores["resampling"]}
        typer.echo(json.dumps(output, ensure_ascii=False, indent=1))
        return
    print_spans(judged, results, agreed)


def _couples(corpus: Corpus, names: list[str], *, against: str | None, with_source: bool) -> tuple[JudgePair, ...]:
    from eval.judge import pairs_from_corpus

    others = [name for name in names if name != against]
    couples = [(other, against) for other in others] if against else list(combinations(names, 2))
    if not couples:
        raise InputError("There is only one system: pairs need at least two.", field="system")
    return pairs_from_corpus(corpus, couples, with_source=with_source)


def _pairs_of_trial(path: Path, *, with_source: bool) -> tuple[JudgePair, ...]:
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
