"""Which of two translations is better? A judge is asked in both orders, and has to say the same in both."""

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
    asking: JudgeOptions | None = None,
    ties: bool = True,
    progress: JudgeProgress = ignore_progress,
) -> PairJudgements:
    """Ask twice of each pair, unless its texts are the same.

    Raises EngineError when the model server fails for good: asked again, only what is missing is asked for.
    """
    asking = asking or JudgeOptions()
    _refuse_odd(pairs)
    unlike = [pair for pair in pairs if pair.first.strip() != pair.second.strip()]
    prompts = [prompt for pair in unlike for prompt in _both_orders(pair, ties=ties)]
    async with engine.using(model) as chosen:
        asked = await ask_judge(prompts, engine, model=chosen, asking=asking, progress=progress)
    read = [_read(answer, ties=ties) for answer in asked.answers]
    shown = dict(zip((pair.id for pair in unlike), zip(read[::2], read[1::2], strict=True), strict=True))
    verdicts = {
        pair.id: combine_orders(*shown[pair.id]) if pair.id in shown else Unscored("same_text")
        for pair in pairs
    }
    recipe = asking.recipe(chosen, "judge_pairs")
    signature = metric_signature("judge_pairs", **recipe, ties=ties, source=_sourced(pairs), orders=2)
    return PairJudgements(tuple(pairs), shown, verdicts, signature, asked.cost)


def combine_orders(forward: Judgement, backward: Judgement) -> Judgement:
    """One judgement of the pair from those in either order: the same text in both, or none.

    A tie in one order alone is a changed verdict too.
    """
    answers = forward.answers + backward.answers
    for one in (forward, backward):
        if isinstance(one, Unscored):
            return Unscored(one.why, answers)
    assert isinstance(forward, Verdict)
    assert isinstance(backward, Verdict)
    if forward.choice != _SWAPPED[backward.choice]:
        return Unscored("order_flip", answers)
    return Verdict(forward.choice, answers)


def pairs_from_corpus(
    corpus: Corpus, couples: Iterable[tuple[str, str]], *, with_source: bool = True
) -> tuple[JudgePair, ...]:
    """Every segment of a corpus, by these two systems or those.

    The id is the document's with the segment's number, "ch1:12", and, where there are several couples, the systems
    after it.
    """
    couples = list(couples)
    for name in {name for couple in couples for name in couple} - set(corpus.systems):
        raise InputError(
            f"There is no system {name!r} to be judged: {', '.join(corpus.systems)}.", field="system"
        )
    return tuple(_pairs(corpus, couples, with_source=with_source))


def _pairs(corpus: Corpus, couples: Sequence[tuple[str, str]], *, with_source: bool) -> Iterator[JudgePair]:
    for document in corpus.documents:
        for place in range(len(document)):
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
    """What raters are shown in a blind test, under the same ids, so that their votes can be set beside the judge's."""
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


def _refuse_odd(pairs: Sequence[JudgePair]) -> None:
    if not pairs:
        raise InputError("There is no pair to be judged.")
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
    """As a prompt says it; nothing where it is not known."""
    return "" if language == "und" else language_name(language)


def _read(answer: Draft | Unscored, *, ties: bool) -> Judgement:
    return answer if isinstance(answer, Unscored) else read_verdict(answer, ties=ties)


def _sourced(pairs: Sequence[JudgePair]) -> str:
    """For the signature: yes, no or some."""
    known = {bool(pair.source) for pair in pairs}
    return "some" if len(known) > 1 else ("yes" if known.pop() else "no")
