"""Reports of words translated in several ways."""

from __future__ import annotations

from eval.corpus.corpus import Corpus
from eval.metrics.ltcr.inconsistency import NOT_FOUND
from eval.metrics.ltcr.metric import Ltcr
from tests.eval.metrics.ltcr.conftest import corpus_of


def test_every_rendering_is_highlighted_in_its_sentence(ltcr: Ltcr, corpus: Corpus) -> None:
    sleep, found = ltcr.inconsistencies(corpus, "s")
    assert (sleep.word, found.word) == ("睡", "诊所")
    assert (found.different, found.pairs) == (2, 3)
    assert found.renderings == (("clinic", 2), ("surgery", 1))
    assert [one.highlighted_output() for one in found.occurrences] == [
        "the red [clinic]",
        "[Clinics] sleep.",
        "three at the [surgery]",
    ]


def test_the_worst_word_comes_first(ltcr: Ltcr) -> None:
    corpus = corpus_of(
        (["法官"] * 2 + ["睡"] * 3, ["judge", "justice", "sleeps", "dozes", "of"]), (["法官"] * 2, ["judge", "judge"])
    )
    worst = ltcr.inconsistencies(corpus, "s")
    assert [(one.word, one.different) for one in worst] == [("睡", 3), ("法官", 1)]
    assert worst[0].occurrences[2].rendering == NOT_FOUND


def test_renderings_other_than_the_most_frequent_are_marked(ltcr: Ltcr, corpus: Corpus) -> None:
    document = corpus.documents[0]
    marked = {}
    for mark in ltcr.marks(corpus, "s"):
        text = (document.sources if mark.side == "source" else document.outputs["s"])[mark.segment]
        marked[mark.side, mark.segment] = (text[mark.start : mark.end], mark.note)
    note = "诊所: surgery, elsewhere clinic"
    assert marked["output", 5] == ("surgery", note)
    assert marked["source", 5] == ("诊所", note)
    assert marked["output", 3][0] == "dozes"
    assert len(marked) == 4
