"""A small invented set with MT, reference and two systems, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from eval.compare import (
    ComparisonResampling,
    ComparisonSet,
    System,
    SystemComparison,
    build_comparison_set,
    compare_systems,
    ready_system,
)
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import Metric
from eval.metrics.registry import create_metrics

SOURCES = ("Le phare s’éteignit.", "Marthe compta les barques.", "Personne ne revint.", "Il neigeait.")
HUMAN = ("The lighthouse went dark.", "Marthe counted the boats.", "Nobody came back.", "It was snowing.")
MT = ("The lighthouse extinguished.", "Marthe counted the barks.", "Nobody came back.", "It snowed there.")
BETTER = ("The lighthouse went out.", "Marthe counted the boats.", "Nobody came back.", "It was snowing.")
WORSE = ("A lamp.", "She counted barks on him.", "Nobody came back.", "It snowed there.")


def data(
    *,
    mt: Sequence[str] = MT,
    references: Sequence[str] | None = HUMAN,
    sources: Sequence[str] = SOURCES,
    times: int = 1,
) -> ComparisonSet:
    """Two documents of two paragraphs, "north" and "south", repeated `times` times."""
    documents = tuple(
        Document(
            f"{name} {time}" if time else name,
            {"mt": tuple(mt[at : at + 2]), "better": BETTER[at : at + 2]},
            (tuple(references[at : at + 2]),) if references else (),
            tuple(sources[at : at + 2]),
        )
        for time in range(times)
        for name, at in (("north", 0), ("south", 2))
    )
    return build_comparison_set(Corpus(documents, "fr", "en", "invented"))


def compared(
    *systems: System, over: ComparisonSet | None = None, metrics: Sequence[Metric] | None = None
) -> SystemComparison:
    """Compare by chrF, with few resamples."""
    over = over or data()
    named = systems or (
        ready_system("better", BETTER, over, given=":better"),
        ready_system("worse", WORSE, over, given="@w"),
    )
    return compare_systems(over, named, metrics or create_metrics(["chrf"]), tests=ComparisonResampling(samples=100))
