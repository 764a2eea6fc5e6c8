"""Training on all excerpts of LitBank, or on four fifths of them with measurements on the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from eval.linguistics.coreference.cluster_features import Floats
from eval.linguistics.coreference.described_mention import DescribedText, describe_mentions
from eval.linguistics.coreference.entity_ranker import group_mentions, save_ranker
from eval.linguistics.coreference.partition import Clusters
from eval.linguistics.coreference.scorers import conll_f1, score_documents
from eval.linguistics.coreference.training.examples import label_text
from eval.linguistics.coreference.training.fit import RankerSettings, fit_ranker
from eval.linguistics.literary.litbank import LitBankDocument
from eval.linguistics.literary.reading import read_words
from eval.linguistics.literary.training.examples import LabelledText
from eval.linguistics.literary.training.silver import read_stretches
from eval.linguistics.literary.weights import load_model

FOLDS = 5
_Pairs = list[tuple[Clusters, Clusters]]


def fit_ranker_weights(
    litbank: Path,
    tags: Path,
    output: Path,
    *,
    settings: RankerSettings,
    without: int | None = None,
    report: Callable[[str], None] = print,
) -> None:
    """Train on all excerpts, or on all but one fold, and write the weights."""
    documents, _ = read_stretches(litbank, tags)
    save_ranker(output, _fit(documents, without, settings, report))


def _fit(
    documents: Sequence[tuple[LitBankDocument, LabelledText]],
    without: int | None,
    settings: RankerSettings,
    report: Callable[[str], None],
) -> dict[str, Floats]:
    rest = [one for place, one in enumerate(documents) if place % FOLDS != without]
    return fit_ranker([label_text(*one) for one in rest], settings=settings, report=report)


def check_ranker(
    litbank: Path,
    tags: Path,
    chosen: Iterable[int],
    *,
    settings: RankerSettings,
    annotators: Path | None = None,
    report: Callable[[str], None] = print,
) -> str:
    """Train without each chosen fold, and measure on it, with annotated mentions and with those that we find.

    `annotators` has fold-0.npz …, the weights of annotators that were trained without the same folds.
    """
    documents, _ = read_stretches(litbank, tags)
    annotated: _Pairs = []
    found: _Pairs = []
    for fold in chosen:
        weights = _fit(documents, fold, settings, report)
        held_out = documents[fold::FOLDS]
        annotated += _annotated_mentions(held_out, weights)
        if annotators is not None:
            found += _found_mentions([one for one, _ in held_out], annotators / f"fold-{fold}.npz", weights)
        report(f"fold {fold}: " + " and ".join(f"{conll_f1(pairs):.4f}" for pairs in (annotated, found) if pairs))
    return "\n".join(
        describe_scores(title, pairs)
        for title, pairs in (("annotated mentions", annotated), ("mentions that we find", found))
        if pairs
    )


def _annotated_mentions(
    documents: Sequence[tuple[LitBankDocument, LabelledText]], weights: Mapping[str, Floats]
) -> _Pairs:
    return [(one.clusters, _grouped(label_text(one, labelled).text, weights)) for one, labelled in documents]


def _found_mentions(documents: Sequence[LitBankDocument], model: Path, weights: Mapping[str, Floats]) -> _Pairs:
    readings = read_words(load_model(model), [(one.words, one.sentences) for one in documents])
    texts = [
        describe_mentions(one.words, reading.tags, one.sentences, reading.mentions)
        for one, reading in zip(documents, readings, strict=True)
    ]
    return [(one.clusters, _grouped(text, weights)) for one, text in zip(documents, texts, strict=True)]


def _grouped(text: DescribedText, weights: Mapping[str, Floats]) -> Clusters:
    return [
        [(text.mentions[place].start, text.mentions[place].end) for place in places]
        for places in group_mentions(weights, text)
    ]


def describe_scores(title: str, pairs: _Pairs) -> str:
    """A table with recall, precision and F1 of each scorer, and the CoNLL F1."""
    rows = [f"{title:24} recall precision      F1"]
    for name in ("muc", "b3", "ceafe", "lea"):
        score = score_documents(name, pairs)
        rows.append(f"{name:24} {score.recall:6.3f} {score.precision:9.3f} {score.f1:7.3f}")
    return "\n".join([*rows, f"{'CoNLL F1':24} {conll_f1(pairs):24.4f}"])
