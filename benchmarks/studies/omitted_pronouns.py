"""Scores against omitted pronouns: `python -m benchmarks.studies.omitted_pronouns --data DIR`.

Nine chapters of web fiction, whose dropped pronouns are marked in `mzprt`, in nine translations and the reference. As
in the BWB paper (Figure 7 and Table 8): BlonDe, coreference as in the reference (B³, CEAFe) and KP by centering theory,
of each chapter and system, in the order of the share of omitted pronouns. The annotator is the literary one.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.corpus.pronoun_marks import omitted_share, remove_pronoun_marks
from eval.corpus.reader import read_corpus
from eval.corpus.validation import CorpusRules
from eval.linguistics.annotators import annotator_for, default_annotation_folder, use_annotation_cache
from eval.metrics.blonde import Blonde
from eval.metrics.centering import KpCoherence
from eval.metrics.coreference import CoreferenceMatch
from eval.metrics.metric import Metric
from eval.metrics.zero_pronouns import ZeroPronouns
from eval.statistics.counts import FloatArray, MetricCounts

REFERENCE = "reference"
COLUMNS = ("BlonDe", "B³", "CEAFe", "KP", "order", "recovered")
"""Of a chapter: BlonDe, F1 of coreference by two scorers, KP, the share of reorderings with a lower KP, and the share
of dropped pronouns that the output has."""


@dataclass(frozen=True, slots=True)
class OmissionTable:
    """By chapter the share of omitted pronouns, and by system and column the score of each chapter."""

    chapters: tuple[str, ...]
    shares: tuple[float, ...]
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    signatures: Mapping[str, str]


def read_marked_chapters(data: Path) -> Corpus:
    """The chapters with the marks of `mzprt` in their sources, and the reference as one more system."""
    corpus = read_corpus(data / "fiction_zh_en.jsonl", rules=CorpusRules("zh", "en", allow_empty=True))
    marked = _marked_lines((data / "mzprt" / "Web_Fiction_test.zh").read_text(encoding="utf-8-sig"))
    documents = []
    for one in corpus.documents:
        sources = tuple(marked.get(_letters(source), source) for source in one.sources)
        outputs = {**one.outputs, REFERENCE: tuple(text or "" for text in one.references[0])}
        documents.append(Document(one.id, outputs, one.references, sources, one.book))
    return Corpus(tuple(documents), "zh", "en", corpus.name)


def _marked_lines(text: str) -> dict[str, str]:
    return {_letters(remove_pronoun_marks(line)): line for line in text.splitlines() if not line.startswith("[doc]")}


def _letters(text: str) -> str:
    return "".join(text.split())


def measure_omission(corpus: Corpus, metrics: Mapping[str, tuple[Metric, Sequence[tuple[str, str]]]]) -> OmissionTable:
    """Score each chapter; `metrics` has, by name, a metric and its columns with the part of the score in each."""
    shares = [omitted_share(one.sources) for one in corpus.documents]
    if None in shares:
        raise InputError("A chapter has no pronouns in its source.")
    order = sorted(range(len(shares)), key=lambda place: (shares[place] or 0.0, place))
    scores: dict[str, dict[str, list[float]]] = {}
    signatures: dict[str, str] = {}
    plain = corpus.without_pronoun_marks()
    for system in corpus.systems:
        scores[system] = {}
        for name, (metric, columns) in metrics.items():
            counted = metric.count(corpus if name == "zero-pronouns" else plain, system)
            if not isinstance(counted, MetricCounts):
                raise InputError(f"{name}: {counted.why}.")
            signatures[name] = counted.signature
            for column, part in columns:
                values = _by_document(counted, part)
                scores[system][column] = [float(values[place]) for place in order]
    ids = tuple(corpus.documents[place].id for place in order)
    return OmissionTable(ids, tuple(shares[place] or 0.0 for place in order), scores, signatures)


def _by_document(counted: MetricCounts, part: str) -> FloatArray:
    fold = counted.parts[part] if part else counted.fold
    return MetricCounts(counted.rows, counted.documents, fold, counted.signature).document_scores()


def default_metrics() -> dict[str, tuple[Metric, Sequence[tuple[str, str]]]]:
    """The metrics of COLUMNS with the literary annotator."""
    annotator = annotator_for("en", prefer="literary")
    return {
        "blonde": (Blonde(annotator=annotator), [("BlonDe", "")]),
        "coreference": (CoreferenceMatch(annotator=annotator), [("B³", "B³"), ("CEAFe", "CEAFe")]),
        "kp": (KpCoherence(annotator=annotator), [("KP", ""), ("order", "reorderings beaten")]),
        "zero-pronouns": (ZeroPronouns(), [("recovered", "")]),
    }


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Kendall's τ-b; NaN if one side does not vary."""
    pairs = [((a - c), (b - d)) for (a, b), (c, d) in combinations(zip(one, other, strict=True), 2)]
    agree = sum((x > 0) - (x < 0) if y > 0 else (x < 0) - (x > 0) if y < 0 else 0 for x, y in pairs)
    counted = math.prod(sum(pair[side] != 0 for pair in pairs) for side in (0, 1))
    return agree / math.sqrt(counted) if counted else math.nan


def table_lines(table: OmissionTable) -> Iterator[str]:
    """A table for each column: chapters in rows, systems in columns, and below the correlation with the share."""
    systems = list(table.scores)
    for column in COLUMNS:
        yield ""
        yield column
        yield "  ".join(["chapter omitted", *(f"{name:>9}" for name in systems)])
        for place, (chapter, share) in enumerate(zip(table.chapters, table.shares, strict=True)):
            cells = (f"{_cell(table.scores[name][column][place]):>9}" for name in systems)
            yield "  ".join([f"{chapter:>7} {share:7.3f}", *cells])
        means = (_mean(table.scores[name][column]) for name in systems)
        yield "  ".join([f"{'mean':>15}", *(f"{_cell(value):>9}" for value in means)])
        taus = (rank_correlation(table.shares, table.scores[name][column]) for name in systems)
        yield "  ".join([f"{'τ with omitted':>15}", *(f"{_cell(value):>9}" for value in taus)])
    yield ""
    yield from table.signatures.values()


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _cell(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.3f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.omitted_pronouns", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    given = parser.parse_args()
    with use_annotation_cache(default_annotation_folder()):
        for line in table_lines(measure_omission(read_marked_chapters(given.data), default_metrics())):
            print(line)


if __name__ == "__main__":
    main()
