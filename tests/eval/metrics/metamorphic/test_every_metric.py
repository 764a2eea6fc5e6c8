"""Properties of every metric of the registry, including new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.blonde import BlondePlus
from eval.metrics.ltcr import Ltcr
from eval.metrics.metric import Metric
from eval.metrics.registry import METRICS, create_metric
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.metamorphic.sample import SWAPS, GlossaryAligner, Swap, backwards, doubled, sample, wordings

VARIANTS: Mapping[str, Callable[[Corpus], Corpus]] = {
    "as it is": lambda corpus: corpus,
    "backwards": backwards,
    "doubled": doubled,
}
KINDS = frozenset(swap.kind for swap in SWAPS)

ABOUT: Mapping[str, frozenset[str]] = {
    "meteor": KINDS - {"tense"},  # it compares stems
    "ltcr": frozenset({"name"}),  # of the four kinds, only names are repeated in the source
    "dip-consistency": frozenset({"name"}),
    "dip-connectives": frozenset({"connective"}),
    "dip-pronouns": frozenset({"pronoun"}),
    "entities": frozenset({"name"}),
    "coreference": frozenset({"pronoun", "name"}),
    "zero-pronouns": frozenset({"pronoun"}),
}
"""Which swaps lower a metric; one that is not here looks at all words, and every swap lowers it."""

# Not similarity metrics: a text may be more coherent than the reference. They have their own tests.
OF_ITSELF: Mapping[str, frozenset[str]] = {
    "kp": frozenset({"pronoun", "name"}),
    "dip-coherence": KINDS,
    "dip-pronoun-scorer": frozenset({"pronoun"}),  # another pronoun may fit better than the reference's
}
"""Which swaps may move it, up or down."""

TOP = {
    **dict.fromkeys(("bleu", "sentence-bleu", "chrf", "chrf++", "bertscore"), 100.0),
    **dict.fromkeys(("ltcr", "dip-consistency", "dip-connectives", "dip-pronouns"), 100.0),
    **dict.fromkeys(("blonde", "dblonde", "blonde+", "entities", "coreference", "zero-pronouns"), 1.0),
    **dict.fromkeys(("ter", "dip-coherence", "dip-pronoun-scorer"), 0.0),
}
"""The best that can be had, of those that reach it."""

# A ledger needs more mentions of a name than these chapters have. Both have their own tests.
OF_BOOKS = frozenset({"name-consistency", "gender-accuracy"})

Every = pytest.mark.parametrize("name", [name for name in METRICS if name not in OF_BOOKS])
EveryAlike = pytest.mark.parametrize("name", [name for name in METRICS if name not in {*OF_ITSELF, *OF_BOOKS}])
EverySwap = pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.name)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Run the encoder on one thread, which is faster here than two."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def _metric(name: str) -> Metric:
    """The metric of this name; some need annotation of the sample."""
    metric = create_metric(name)
    if isinstance(metric, Ltcr):
        return replace(metric, aligner=GlossaryAligner())
    if isinstance(metric, BlondePlus):
        return replace(metric, ambiguity=wordings("lantern"), ellipsis=wordings("she"))
    return metric


@cache
def _corpus(variant: str, *, marked: bool) -> Corpus:
    corpus = VARIANTS[variant](sample())
    return corpus if marked else corpus.without_pronoun_marks()


@cache
def _counted(name: str, system: str, variant: str) -> MetricCounts | Unmeasured | InputError:
    try:
        return _metric(name).count(_corpus(variant, marked=name == "zero-pronouns"), system)
    except InputError as error:
        return error


def scored(name: str, system: str, variant: str = "as it is") -> Score:
    """The score; skip the test if the metric's model is missing."""
    found = _counted(name, system, variant)
    if isinstance(found, InputError):
        pytest.skip(str(found))
    assert isinstance(found, MetricCounts), found
    score = found.score()
    assert isinstance(score, Score), score
    return score


def better(name: str, one: Score, other: Score) -> float:
    """How much better the first score is."""
    difference = one.value - other.value
    return difference if _metric(name).higher_is_better else -difference


@pytest.mark.parametrize("name", TOP)
def test_identical_output_has_the_best_possible_value(name: str) -> None:
    assert scored(name, "same").value == pytest.approx(TOP[name], abs=1e-4)


@EveryAlike
def test_nothing_beats_identical_output(name: str) -> None:
    best = scored(name, "same")
    for system in _corpus("as it is", marked=False).systems:
        found = _counted(name, system, "as it is")
        # Without anything to measure in both texts, there is no score.
        score = found.score() if isinstance(found, MetricCounts) else found
        if isinstance(score, Score):
            assert better(name, best, score) >= -1e-9, system


@EveryAlike
@EverySwap
def test_a_swap_lowers_exactly_the_metrics_of_its_phenomenon(name: str, swap: Swap) -> None:
    fall = better(name, scored(name, "same"), scored(name, swap.name))
    if swap.kind in ABOUT.get(name, KINDS):
        assert fall > 1e-4
    else:
        assert fall == pytest.approx(0)


@pytest.mark.parametrize("name", OF_ITSELF)
@EverySwap
def test_a_metric_of_one_text_ignores_swaps_of_other_phenomena(name: str, swap: Swap) -> None:
    if swap.kind not in OF_ITSELF[name]:
        assert scored(name, swap.name).value == pytest.approx(scored(name, "same").value)


@pytest.mark.parametrize("name", ["blonde", "dblonde", "blonde+"])
@EverySwap
def test_a_swap_lowers_exactly_its_category_of_blonde(name: str, swap: Swap) -> None:
    lowered = {"pronoun": "pronoun", "name": "entity", "tense": "tense", "connective": "dm"}[swap.kind]
    parts = scored(name, swap.name).parts
    for category in ("pronoun", "entity", "tense", "dm"):
        value = parts[category]
        assert value is not None
        assert (value < 1) == (category == lowered), category


@pytest.mark.parametrize("name", OF_ITSELF)
def test_a_metric_of_one_text_depends_on_sentence_order(name: str) -> None:
    assert scored(name, "backwards").value != pytest.approx(scored(name, "same").value)


def test_kp_needs_no_reference() -> None:
    corpus = _corpus("as it is", marked=False)
    without_references = replace(corpus, documents=tuple(replace(one, references=()) for one in corpus.documents))
    found = _metric("kp").count(without_references, "same")
    assert isinstance(found, MetricCounts)
    assert found.score() == scored("kp", "same")


@Every
@pytest.mark.parametrize("system", ["same", "backwards", SWAPS[0].name])
def test_the_order_of_documents_does_not_matter(name: str, system: str) -> None:
    there, back = scored(name, system), scored(name, system, "backwards")
    assert back.value == pytest.approx(there.value)
    assert dict(back.parts) == pytest.approx(dict(there.parts))
    assert back.signature == there.signature


@Every
@pytest.mark.parametrize("system", ["same", "backwards", SWAPS[0].name])
def test_a_corpus_twice_has_the_same_micro_scores(name: str, system: str) -> None:
    """For outputs that match in every n-gram order: a smoothed count does not grow with the text."""
    once, twice = scored(name, system), scored(name, system, "doubled")
    # The coherence score is a sum over documents; its mean is a part.
    times = 2 if name == "dip-coherence" else 1
    assert twice.value == pytest.approx(times * once.value)
    assert dict(twice.parts) == pytest.approx(dict(once.parts))


@Every
def test_a_documents_score_does_not_depend_on_its_position(name: str) -> None:
    scored(name, "backwards")
    there, back = (_counted(name, "backwards", variant) for variant in ("as it is", "backwards"))
    assert isinstance(there, MetricCounts)
    assert isinstance(back, MetricCounts)
    assert back.document_scores()[::-1] == pytest.approx(there.document_scores(), nan_ok=True)
