"""Error-span judge: it marks errors in translations; their weights make a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.passage.segment import Draft
from ape.text.tokens import words
from eval.corpus.corpus import Corpus
from eval.judge.error_spans import SEVERITIES, SEVERITY_WEIGHTS, TranslationErrors, error_categories, read_errors
from eval.judge.judgement import Unscored
from eval.judge.pair_judge import judge_language
from eval.judge.requests import JudgeOptions, JudgeProgress, ask_judge, ignore_progress
from eval.judge.span_results import SpanJudgements
from eval.metrics.metric import metric_signature
from prompts import Prompt
from prompts.judge import render_span_judge

_WEIGHTS = ",".join(f"{weight:g}" for weight in SEVERITY_WEIGHTS.values())


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment of one system."""

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
    options: JudgeOptions | None = None,
    with_source: bool = True,
    progress: JudgeProgress = ignore_progress,
) -> SpanJudgements:
    """Mark errors in every segment of these systems, or of all systems.

    Raises EngineError when the model server fails permanently; a second call requests only the missing answers.
    """
    options = options or JudgeOptions()
    systems = _check_systems(corpus, systems)
    with_source = with_source and all(document.sources for document in corpus.documents)
    every = {system: list(_segments(corpus, system, with_source=with_source)) for system in systems}
    with_words = [segment for segments in every.values() for segment in segments if words(segment.translation)]
    prompts = [_prompt(segment, corpus) for segment in with_words]
    async with engine.using(model) as chosen:
        replies = await ask_judge(prompts, engine, model=chosen, options=options, progress=progress)
    parsed = {segment: _read(answer, segment) for segment, answer in zip(with_words, replies.answers, strict=True)}
    found = {
        system: tuple(parsed.get(segment, Unscored("blank")) for segment in segments)
        for system, segments in every.items()
    }
    fields = options.signature_fields(chosen, "judge_spans") | {"weights": _WEIGHTS, "source": with_source}
    signature = metric_signature("judge_spans", **fields, words="source" if with_source else "output")
    return SpanJudgements(corpus, found, signature, replies.cost, by_source=with_source)


def _check_systems(corpus: Corpus, systems: Sequence[str]) -> tuple[str, ...]:
    for name in systems:
        if name not in corpus.systems:
            raise InputError(
                f"There is no system {name!r} to judge. Systems: {', '.join(corpus.systems)}.", field="system"
            )
    return tuple(systems) or corpus.systems


def _read(answer: Draft | Unscored, segment: _Segment) -> TranslationErrors | Unscored:
    if isinstance(answer, Unscored):
        return answer
    return read_errors(answer, segment.translation, source=segment.source)


def _segments(corpus: Corpus, system: str, *, with_source: bool) -> Iterator[_Segment]:
    for place, (_, document, segment) in enumerate(corpus.segments()):
        source = document.sources[segment] if with_source else ""
        yield _Segment(system, place, document.outputs[system][segment], source)


def _prompt(segment: _Segment, corpus: Corpus) -> Prompt:
    return render_span_judge(
        segment.translation,
        categories=error_categories(with_source=bool(segment.source)),
        severities=SEVERITIES,
        source=segment.source,
        source_language=judge_language(corpus.source_language),
        target_language=judge_language(corpus.target_language),
    )
