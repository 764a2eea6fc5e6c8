"""Scores of translations from Python: the one entry point for scripts and notebooks.

    from eval.scoring import compare, score

    score(outputs, references)["bleu"]  # Score(value=34.1, signature="bleu|nrefs:1|…", …)

Import from this module: `import eval` would hide the builtin, and `ape` never imports eval. The default metrics need
only numpy and sacrebleu; other metrics import their libraries when they are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias, cast

from ape.errors import InputError
from ape.text.languages import detect_language, language_code
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import corpus_for_metric
from eval.metrics.registry import create_metrics
from eval.metrics.scoring import default_resampling_unit
from eval.statistics.counts import Score, Unmeasured
from eval.statistics.paired_tests import DEFAULT_SAMPLES, PairedComparison, SignificanceMethod, compare_pair

__all__ = ["PairedComparison", "Score", "Unmeasured", "compare", "score"]

_References: TypeAlias = Sequence[str] | Sequence[Sequence[str | None]]
_DETECTION_CHARACTERS = 20_000


def score(
    outputs: Sequence[str],
    references: _References,
    *,
    sources: Sequence[str] | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    source_language: str | None = None,
    target_language: str | None = None,
    documents: Sequence[str] | None = None,
) -> dict[str, Score | Unmeasured]:
    """Score one system by each metric.

    `references` is one text for each output, or a list of such lists for several references. `documents` has the
    document id of each segment, in reading order; metrics of discourse need it. Languages are detected if not given.
    """
    corpus = _corpus({"system": outputs}, references, sources, (source_language, target_language), documents)
    counts = {
        metric.name: metric.count(corpus_for_metric(metric, corpus), "system") for metric in create_metrics(metrics)
    }
    return {name: found if isinstance(found, Unmeasured) else found.score() for name, found in counts.items()}


def compare(
    baseline: Sequence[str],
    other: Sequence[str],
    references: _References,
    *,
    sources: Sequence[str] | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    source_language: str | None = None,
    target_language: str | None = None,
    documents: Sequence[str] | None = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 1,
    method: SignificanceMethod = "bootstrap",
) -> dict[str, PairedComparison | Unmeasured]:
    """Test by each metric whether two systems differ, with a paired bootstrap or approximate randomisation.

    Resamples draw documents if there are at least five, else segments. P-values are not corrected for several metrics.
    """
    systems = {"baseline": baseline, "other": other}
    corpus = _corpus(systems, references, sources, (source_language, target_language), documents)
    found: dict[str, PairedComparison | Unmeasured] = {}
    for metric in create_metrics(metrics):
        readable = corpus_for_metric(metric, corpus)
        first, second = (metric.count(readable, system) for system in systems)
        if isinstance(first, Unmeasured):
            found[metric.name] = first
        elif isinstance(second, Unmeasured):
            found[metric.name] = second
        else:
            found[metric.name] = compare_pair(
                first,
                second,
                higher_is_better=metric.higher_is_better,
                by=default_resampling_unit(corpus),
                samples=samples,
                seed=seed,
                method=method,
            )
    return found


def _corpus(
    outputs: Mapping[str, Sequence[str]],
    references: _References,
    sources: Sequence[str] | None,
    languages: tuple[str | None, str | None],
    documents: Sequence[str] | None,
) -> Corpus:
    streams = cast(
        Sequence[Sequence[str | None]],
        [references] if all(isinstance(text, str) for text in references) else references,
    )
    texts = {**outputs, **{f"reference {number}": stream for number, stream in enumerate(streams, 1) if stream}}
    texts |= {name: given for name, given in (("sources", sources), ("documents", documents)) if given}
    if len({len(given) for given in texts.values()}) > 1:
        counts = ", ".join(f"{name} has {len(given):,}" for name, given in texts.items())
        raise InputError(f"All texts need the same number of segments: {counts}.", field="references")
    samples = sources or (), next((stream for stream in streams if stream), next(iter(outputs.values())))
    source, target = (
        language_code(language) if language else _detect(sample)
        for language, sample in zip(languages, samples, strict=True)
    )
    ids = documents or [""] * len(next(iter(outputs.values())))
    return Corpus(tuple(_documents(ids, outputs, streams, sources or ())), source, target)


def _documents(
    ids: Sequence[str],
    outputs: Mapping[str, Sequence[str]],
    streams: Sequence[Sequence[str | None]],
    sources: Sequence[str],
) -> Iterator[Document]:
    start = 0
    for name, group in groupby(ids):
        part = slice(start, start + len(list(group)))
        start = part.stop
        yield Document(
            name,
            {system: tuple(texts[part]) for system, texts in outputs.items()},
            tuple(tuple(text or None for text in stream[part]) for stream in streams if stream),
            tuple(sources[part]),
        )


def _detect(texts: Sequence[str | None]) -> str:
    return detect_language(" ".join(filter(None, texts))[:_DETECTION_CHARACTERS], default="und")
