"""Scores of all systems by all metrics: intervals, tests, and reasons for missing scores."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.sacrebleu import Bleu, Chrf, Ter
from eval.metrics.scoring import SIGNIFICANCE_TESTS, ResamplingOptions, measure_systems, segment_scores
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold
from eval.statistics.resampling import ResamplingUnit

GOOD = ("The ferryman waited for the fog to lift.", "He counted the coins twice.", "Nobody spoke.")
BAD = ("Ferry man waits fog lift.", "She counts coins two time.", "No one is speaking.")


def corpus(*, references: bool = True) -> Corpus:
    texts = tuple((f"{number} {GOOD[number % 3]}", f"{number} {BAD[number % 3]}") for number in range(8))
    return Corpus(
        tuple(
            Document(f"d{number}", {"good": (good,), "bad": (bad,)}, ((good,),) if references else ())
            for number, (good, bad) in enumerate(texts)
        ),
        "fr",
        "en",
    )


@dataclass(frozen=True)
class Commas:
    """The share of texts with a comma among those with one; undefined for documents without commas."""

    name: str = "commas"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        rows = np.array(
            [[float("," in text), float("," in text)] for one in corpus.documents for text in one.outputs[system]]
        )
        return MetricCounts(rows, np.arange(len(rows)), mean_fold(), "commas|v:0", unit="document")


def test_every_system_has_a_score_and_an_interval_by_every_metric() -> None:
    results = measure_systems(corpus(), [Bleu(), Ter()])
    fields = results.to_dict()
    assert [(one["metric"], one["system"]) for one in fields["scores"]] == [
        ("bleu", "good"), ("bleu", "bad"), ("ter", "good"), ("ter", "bad"),
    ]  # fmt: skip
    assert fields["scores"][0]["score"] == pytest.approx(100)
    assert fields["scores"][2]["better"] == "lower"
    low, high = fields["scores"][1]["interval"]
    assert low <= fields["scores"][1]["score"] <= high
    assert fields["resampling"]["by"] == "document"
    assert set(fields["signatures"]) == {"bleu", "ter"}


def test_systems_are_tested_against_the_baseline() -> None:
    results = measure_systems(corpus(), [Chrf()], resampling=ResamplingOptions("document", "bad", samples=200))
    good, bad = results.to_dict()["scores"]
    assert good["difference"] > 0
    assert good["p_value"] < 0.05
    assert "p_value" not in bad


def test_the_test_is_in_the_signature_and_wilcoxon_is_reported_too() -> None:
    scores = {}
    for test in SIGNIFICANCE_TESTS:
        how = ResamplingOptions("document", "bad", samples=200, test=test)
        fields = measure_systems(corpus(), [Chrf()], resampling=how).to_dict()
        scores[test] = fields["scores"][0]
        assert fields["resampling"]["signature"].startswith(
            f"paired-{test}|baseline:bad|by:document|samples:200|seed:1|correction:holm|v:"
        )
    # By hand: all eight documents are better; 2 of the 256 sign patterns reach that: p = 1/128.
    assert scores["randomisation"]["p_value"] == pytest.approx(1 / 128, abs=0.02)
    assert scores["bootstrap"]["p_value"] != scores["randomisation"]["p_value"]
    assert scores["bootstrap"]["wilcoxon"]["pairs"] == 8
    assert scores["bootstrap"]["wilcoxon"]["effect"] > 0.5


def test_an_unmeasured_score_is_null_with_its_reason_and_never_nan() -> None:
    results = measure_systems(corpus(references=False), [Bleu(), Commas()])
    text = json.dumps(results.to_dict(documents=True), allow_nan=False)
    scores = {(one["metric"], one["system"]): one for one in json.loads(text)["scores"]}
    assert scores["bleu", "good"]["score"] is None
    assert scores["bleu", "good"]["not_applicable"] == "there is no reference"
    assert scores["commas", "good"]["not_applicable"] == "nothing of what it measures occurs"
    assert json.loads(text)["by_document"]["commas"]["d0"] == {"good": None, "bad": None}


def test_documents_have_their_own_scores() -> None:
    by_document = measure_systems(corpus(), [Ter()]).by_document()["ter"]
    assert list(by_document) == [f"d{number}" for number in range(8)]
    assert by_document["d1"]["good"] == 0
    assert (by_document["d1"]["bad"] or 0) > 0


def test_segment_rows_have_texts_and_scores() -> None:
    rows = list(measure_systems(corpus(), [Bleu(), Commas()]).segments())
    assert len(rows) == 16
    assert rows[0]["output"] == f"0 {GOOD[0]}"
    assert rows[0]["references"] == [f"0 {GOOD[0]}"]
    assert rows[0]["scores"] == {"bleu": pytest.approx(100)}


def test_a_segment_without_reference_has_no_score() -> None:
    given = Corpus((Document("d", {"s": ("A boat.", "A ship.")}, ((None, "A ship."),)),), "fr", "en")
    counted = Ter().count(given, "s")
    assert isinstance(counted, MetricCounts)
    assert segment_scores(given, counted) == {(0, 1): 0.0}


def test_an_unknown_baseline_and_a_metric_twice_are_refused() -> None:
    with pytest.raises(InputError, match="no system called 'best'"):
        measure_systems(corpus(), [Ter()], resampling=ResamplingOptions("document", "best"))
    with pytest.raises(InputError, match="twice"):
        measure_systems(corpus(), [Ter(), Ter()])


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ("segment", "it scores whole documents, and there are only 3"),
        ("document", "there are only 3 documents, and tests need at least 5"),
    ],
)
def test_a_document_metric_is_not_tested_on_too_few_documents(by: ResamplingUnit, why: str) -> None:
    few = Corpus(
        tuple(Document(f"d{number}", {"good": ("Yes, he did.",), "bad": ("Yes, no.",)}) for number in range(3))
    )
    results = measure_systems(few, [Commas()], resampling=ResamplingOptions(by, baseline="bad"))
    standing = results.standings["commas"]["good"]
    assert standing.interval == Unmeasured(why, "commas|v:0")
    assert standing.corrected is None
    fields = results.to_dict()["scores"][0]
    assert not {"interval", "p_value"} & set(fields)
    assert (fields["no_interval"], fields["no_test"]) == (why, why)


@dataclass(frozen=True)
class NotInstalled:
    """A metric whose library is missing."""

    name: str = "absent"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        raise InputError("It is not installed. Type: pip install it.", field="metric")


def test_a_metric_that_is_not_installed_does_not_stop_the_others() -> None:
    missing, chrf = (one for one in measure_systems(corpus(), [NotInstalled(), Chrf()]).to_dict()["scores"][::2])
    assert missing["not_applicable"] == "It is not installed. Type: pip install it"
    assert chrf["score"] == pytest.approx(100)


@dataclass(frozen=True, slots=True)
class Misread(Chrf):
    """A metric whose scores need a word."""

    caveat: ClassVar[str] = "it counts letters."


def test_the_caveat_of_a_metric_stands_with_its_scores() -> None:
    assert measure_systems(corpus(), [Misread()]).caveats() == ("chrf: it counts letters.",)
    assert measure_systems(corpus(), [Chrf()]).caveats() == ()


def test_json_has_the_interval_of_each_difference_and_the_caveats() -> None:
    three = replace(corpus(), caveats=("Texts were split.",))
    three = three.with_system("third", [list(one.outputs["bad"]) for one in three.documents])
    fields = measure_systems(three, [Chrf()], resampling=ResamplingOptions("document", "good")).to_dict()
    low, high = fields["scores"][1]["difference_interval"]
    assert low <= fields["scores"][1]["difference"] <= high
    assert fields["caveats"][0] == "Texts were split."
    assert "for 2 comparisons with good" in fields["caveats"][1]
