"""What is wrong in a translation? A judge marks errors, and what they weigh is a score like any metric's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.passage.segment import Draft
from ape.text.tokens import words
from eval.corpus.corpus import Corpus
from eval.judge.error_spans import (
    SEVERITIES,
    SEVERITY_WEIGHTS,
    TranslationErrors,
    error_categories,
    read_errors,
)
from eval.judge.judgement import Unscored
from eval.judge.pair_judge import judge_language
from eval.judge.requests import JudgeOptions, JudgeProgress, ask_judge, ignore_progress
from eval.judge.span_results import SpanJudgements
from eval.metrics.metric import metric_signature
from prompts import Prompt
from prompts.judge import render_span_judge

_WEIGHTS = ",".join(f"{weight:g}" for weight in SEVERITY_WEIGHTS.values())


@dataclass(frozen=True, slots=True)
class _Asked:
    """One system's segment."""

    system: str
    place: int
    translation: str
    source: str


async def judge_spans(
    corpus: Corpus,
    engine: Engine,
    *,
    model: str = DEFAULT_MODEL_NAME,
    systems: Sequence[str] = (),
    asking: JudgeOptions | None = None,
    with_source: bool = True,
    progress: JudgeProgress = ignore_progress,
) -> SpanJudgements:
    """Mark every segment of these systems, or of all; the source is shown where it is known and wanted.

    Raises EngineError when the model server fails for good: asked again, only what is missing is asked for.
    """
    asking = asking or JudgeOptions()
    systems = _known(corpus, systems)
    with_source = with_source and all(document.sources for document in corpus.documents)
    every = {system: list(_segments(corpus, system, with_source=with_source)) for system in systems}
    worded = [one for segments in every.values() for one in segments if words(one.translation)]
    prompts = [_prompt(one, corpus) for one in worded]
    async with engine.using(model) as chosen:
        asked = await ask_judge(prompts, engine, model=chosen, asking=asking, progress=progress)
    read = {one: _read(answer, one) for one, answer in zip(worded, asked.answers, strict=True)}
    found = {
        system: tuple(read.get(one, Unscored("blank")) for one in segments)
        for system, segments in every.items()
    }
    recipe = asking.recipe(chosen, "judge_spans") | {"weights": _WEIGHTS, "source": with_source}
    signature = metric_signature("judge_spans", **recipe, words="source" if with_source else "output")
    return SpanJudgements(corpus, found, signature, asked.cost, by_source=with_source)


def _known(corpus: Corpus, systems: Sequence[str]) -> tuple[str, ...]:
    for name in systems:
        if name not in corpus.systems:
            raise InputError(
                f"There is no system {name!r} to be judged: {', '.join(corpus.systems)}.", field="system"
            )
    return tuple(systems) or corpus.systems


def _read(answer: Draft | Unscored, one: _Asked) -> TranslationErrors | Unscored:
    return answer if isinstance(answer, Unscored) else read_errors(answer, one.translation, source=one.source)


def _segments(corpus: Corpus, system: str, *, with_source: bool) -> Iterator[_Asked]:
    place = 0
    for document in corpus.documents:
        sources = document.sources if with_source else ("",) * len(document)
        for translation, source in zip(document.outputs[system], sources, strict=True):
            yield _Asked(system, place, translation, source)
            place += 1


def _prompt(one: _Asked, corpus: Corpus) -> Prompt:
    return render_span_judge(
        one.translation,
        categories=error_categories(with_source=bool(one.source)),
        severities=SEVERITIES,
        source=one.source,
        source_language=judge_language(corpus.source_language),
        target_language=judge_language(corpus.target_language),
    )
