"""Names rendered in several ways."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.ltcr.inconsistency import Inconsistency, RenderedOccurrence
from eval.metrics.ltcr.metric import Ltcr
from eval.metrics.ltcr.name_inconsistencies import worst_names
from eval.metrics.sacrebleu import Bleu
from eval.metrics.scoring import ResamplingOptions, measure_systems
from eval.report.inconsistent_names import inconsistent_names
from tests.eval.metrics.ltcr.conftest import corpus_of


def name(word: str, renderings: Sequence[str], *, at: int = 0, is_name: bool = True) -> Inconsistency:
    """One occurrence in each segment; its rendering is the whole translation, or none if that is empty."""
    kinds = list(dict.fromkeys(renderings))
    occurrences = tuple(
        RenderedOccurrence(
            segment, "…" * at + word, (at, at + len(word)), text, ((0, len(text)),) if text else (), kinds.index(text)
        )
        for segment, text in enumerate(renderings)
    )
    return Inconsistency("one", word, 1, 1, occurrences, is_name)


def test_pairs_of_found_renderings_that_differ_are_clashes() -> None:
    assert name("黑鹰", ["Black Eagle", "Black Eagle", "Black Hawk", ""]).clashes == 2  # by hand: 2 · 1
    assert name("黑鹰", ["Black Eagle", "", ""]).clashes == 0


def test_the_worst_names_come_first_and_common_words_are_left_out() -> None:
    listed = [
        name("灯", ["lamp", "lantern", "light", "torch"], is_name=False),
        name("黑鹰", ["Black Eagle", "Black Hawk"]),
        name("阿莎", ["Asha", "Aisa", "Assa"]),
        name("苗毅", ["Miao Yi", "", ""]),
    ]
    assert [one.word for one in worst_names(listed)] == ["阿莎", "黑鹰"]
    assert [one.word for one in worst_names(listed, most=1)] == ["阿莎"]


def test_two_words_that_always_follow_each_other_are_one_name() -> None:
    renderings = ["Saldes", "Saldis"]
    (found,) = worst_names([name("德斯", renderings, at=2), name("萨尔", renderings)])
    assert found.word == "萨尔德斯"
    assert found.occurrences[0].at == (0, 4)
    assert [one.rendering for one, _ in found.examples] == renderings


def test_words_that_also_occur_alone_are_two_names() -> None:
    listed = [name("德斯", ["Saldes", "Saldis"], at=2), name("萨尔", ["Saldes", "Saldis", "Sal"])]
    assert [one.word for one in worst_names(listed)] == ["萨尔", "德斯"]


def test_each_rendering_has_a_sentence_and_missing_ones_come_last() -> None:
    fields = name("黑鹰", ["", "Black Hawk", "Black Eagle", "Black Eagle"]).to_dict()
    assert [(one["rendering"], one["times"], one["segment"]) for one in fields["renderings"]] == [
        ("Black Eagle", 2, 3),
        ("Black Hawk", 1, 2),
        (None, 1, 1),
    ]


def test_only_metrics_that_list_words_have_names(ltcr: Ltcr) -> None:
    corpus = corpus_of((["诊所", "诊所"], ["clinic", "surgery"]))
    results = measure_systems(corpus, [ltcr, Bleu()], resampling=ResamplingOptions("document", "", 100, 1))
    # 诊所 is a common noun in this corpus, so nothing is listed.
    assert [list(inconsistent_names(results, metric)) for metric in results.metrics] == [[], []]
