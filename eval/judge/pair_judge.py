"""Pairwise judge: which of two translations is better, asked in both orders; the verdicts must agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.passage.segment import Draft
from ape.text.languages import language_name
from eval.corpus.corpus import Corpus
from eval.human.trial import Trial
from eval.human.vote import Choice
from eval.judge.answer_parser import read_verdict
from eval.judge.judgement import Judgement, Unscored, Verdict
from eval.judge.pair import JudgePair
from eval.judge.pair_results import PairJudgements
from eval.judge.requests import JudgeOptions, JudgeProgress, ask_judge, ignore_progress
from eval.metrics.metric import metric_signature
from prompts import Prompt
from prompts.judge import render_pair_judge

_SWAPPED: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}


async def judge_pairs(
    pairs: Sequence[JudgePair],
    engine: Engine,
    *,
    model: str = DEFAULT_MODEL_NAME,
    options: JudgeOptions | None = None,
    ties: bool = True,
    progress: JudgeProgress = ignore_progress,
) -> PairJudgements:
    """Judge each pair in both orders, unless its texts are the same.

    Raises EngineError when the model server fails permanently; a second call requests only the missing answers.
    """
    options = options or JudgeOptions()
    _check_pairs(pairs)
    differing = [pair for pair in pairs if pair.first.strip() != pair.second.strip()]
    prompts = [prompt for pair in differing for prompt in _both_orders(pair, ties=ties)]
    async with engine.using(model) as chosen:
        replies = await ask_judge(prompts, engine, model=chosen, options=options, progress=progress)
    parsed = [_read(answer, ties=ties) for answer in replies.answers]
    by_order = dict(zip((pair.id for pair in differing), zip(parsed[::2], parsed[1::2], strict=True), strict=True))
    verdicts = {
        pair.id: combine_orders(*by_order[pair.id]) if pair.id in by_order else Unscored("same_text") for pair in pairs
    }
    fields = options.signature_fields(chosen, "judge_pairs")
    signature = metric_signature("judge_pairs", **fields, ties=ties, source=_source_field(pairs), orders=2)
    return PairJudgements(tuple(pairs), by_order, verdicts, signature, replies.cost)


def combine_orders(forward: Judgement, backward: Judgement) -> Judgement:
    """Combine the judgements in both orders: a verdict only if both choose the same text.

    A tie in only one order is a changed verdict too.
    """
    answers = forward.answers + backward.answers
    for judgement in (forward, backward):
        if isinstance(judgement, Unscored):
            return Unscored(judgement.why, answers)
    assert isinstance(forward, Verdict)
    assert isinstance(backward, Verdict)
    if forward.choice != _SWAPPED[backward.choice]:
        return Unscored("order_flip", answers)
    return Verdict(forward.choice, answers)


def pairs_from_corpus(
    corpus: Corpus, couples: Iterable[tuple[str, str]], *, with_source: bool = True
) -> tuple[JudgePair, ...]:
    """Pairs for every segment of a corpus and every couple of systems.

    The id is the document with the segment number, "ch1:12", followed by the systems if there are several couples.
    """
    couples = list(couples)
    for name in {name for couple in couples for name in couple} - set(corpus.systems):
        raise InputError(f"There is no system {name!r} to judge. Systems: {', '.join(corpus.systems)}.", field="system")
    return tuple(_pairs(corpus, couples, with_source=with_source))


def _pairs(corpus: Corpus, couples: Sequence[tuple[str, str]], *, with_source: bool) -> Iterator[JudgePair]:
    for _, document, place in corpus.segments():
        item = f"{document.id}:{place + 1}"
        for first, second in couples:
            yield JudgePair(
                id=f"{item}:{first}:{second}" if len(couples) > 1 else item,
                source=document.sources[place] if with_source and document.sources else None,
                first=document.outputs[first][place],
                second=document.outputs[second][place],
                first_system=first,
                second_system=second,
                source_language=corpus.source_language,
                target_language=corpus.target_language,
                item=item,
            )


def pairs_from_trial(trial: Trial) -> tuple[JudgePair, ...]:
    """Pairs that raters see in a blind test, under the same ids as their votes."""
    passages = {passage.id: passage for passage in trial.passages}
    return tuple(
        JudgePair(
            id=item.id,
            source="\n\n".join(passages[item.passage].sources) or None,
            first="\n\n".join(item.texts[0]),
            second="\n\n".join(item.texts[1]),
            first_system=item.systems[0],
            second_system=item.systems[1],
            source_language=passages[item.passage].language or "und",
            target_language=trial.target_language,
        )
        for item in trial.items
        if item.kind == "pair"
    )


def _check_pairs(pairs: Sequence[JudgePair]) -> None:
    if not pairs:
        raise InputError("There is no pair to judge.")
    seen: set[str] = set()
    for pair in pairs:
        if pair.id in seen:
            raise InputError(f"Two pairs have the same id: {pair.id!r}.")
        if pair.first_system == pair.second_system:
            raise InputError(f"Both texts of pair {pair.id!r} are of the system {pair.first_system!r}.")
        seen.add(pair.id)


def _both_orders(pair: JudgePair, *, ties: bool) -> Iterator[Prompt]:
    for first, second in ((pair.first, pair.second), (pair.second, pair.first)):
        yield render_pair_judge(
            first,
            second,
            source=pair.source or "",
            source_language=judge_language(pair.source_language),
            target_language=judge_language(pair.target_language),
            ties=ties,
        )


def judge_language(language: str) -> str:
    """Language name for a prompt; empty if unknown."""
    return "" if language == "und" else language_name(language)


def _read(answer: Draft | Unscored, *, ties: bool) -> Judgement:
    return answer if isinstance(answer, Unscored) else read_verdict(answer, ties=ties)


def _source_field(pairs: Sequence[JudgePair]) -> str:
    """Signature field: whether pairs have a source (yes, no or some)."""
    known = {bool(pair.source) for pair in pairs}
    return "some" if len(known) > 1 else ("yes" if known.pop() else "no")
