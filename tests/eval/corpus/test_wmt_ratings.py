"""Readers of WMT's ratings: MQM tables and folders of mt-metrics-eval."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.corpus.wmt_ratings import mqm_weight, read_metrics_folder, read_mqm_table
from eval.metrics.human_correlation import agreement_by_level, score_ratings
from eval.metrics.sacrebleu import Bleu, Chrf
from eval.statistics.counts import Unmeasured

HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
ROWS = (
    "a\td1\t1\t1\tr1\tNebel\tThe <v>fog</v>\tAccuracy/Mistranslation\tMajor",
    "a\td1\t1\t1\tr1\tNebel\tThe fog<v>,</v>\tFluency/Punctuation\tMinor",
    "a\td1\t1\t1\tr2\tNebel\tThe fog\tNo-error\tno-error",
    "b\td1\t1\t1\tr1\tNebel\tFish\tNon-translation!\tMajor",
)


def test_weighted_errors_are_averaged_over_raters(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text("\n".join([HEAD, *ROWS]), encoding="utf-8")
    first, second = read_mqm_table(path, source_language="de", target_language="en")
    # By hand: rater 1 has 5 + 0.1, rater 2 none.
    assert first.scores["score"].tolist() == [pytest.approx(-2.55)]
    assert second.scores["score"].tolist() == [-25]
    assert first.corpus.documents[0].outputs["a"] == ("The fog",)
    assert first.documents == ("d1",)


def test_an_mqm_table_names_all_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text("system\tdoc\n", encoding="utf-8")
    with pytest.raises(InputError, match="no columns seg_id, rater, source, target, category, severity"):
        read_mqm_table(path, source_language="de", target_language="en")


@pytest.mark.parametrize(("category", "severity", "weight"), [("Style", "Neutral", 0), ("Style", "minor", 1)])
def test_other_errors_weigh_by_severity(category: str, severity: str, weight: float) -> None:
    assert mqm_weight(category, severity) == weight


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reference = ["The fog lifted.", "He counted the coins.", "Nobody spoke.", "It held."]
    files = {
        "sources/de-en.txt": ["Nebel", "Münzen", "Niemand", "Es"],
        "references/de-en.refA.txt": reference,
        "documents/de-en.docs": ["news\td1", "news\td1", "news\td2", "news\td2"],
        "system-outputs/de-en/a.txt": reference,
        "system-outputs/de-en/b.txt": ["Fog.", "Coins counts he.", "Nobody spoke.", "It holds."],
        "human-scores/de-en.esa.seg.score": [
            *(f"a\t{score}" for score in (90, 95, 80, "None")),
            *(f"b\t{score}" for score in (20, 30, 80, 60)),
        ],
    }
    for name, lines in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_a_folder_is_read_with_its_documents_and_missing_ratings(folder: Path) -> None:
    a, b = read_metrics_folder(folder, pair="de-en", kind="esa")
    assert (a.system, a.scores["score"].tolist()) == ("a", [90, 95, 80])
    assert b.documents == ("d1", "d1", "d2", "d2")
    with pytest.raises(InputError, match=r"There are: de-en\.esa\.seg\.score"):
        read_metrics_folder(folder, pair="de-en", kind="mqm")


def test_agreement_is_given_at_every_level(folder: Path) -> None:
    scored = score_ratings(Chrf(), read_metrics_folder(folder, pair="de-en", kind="esa"))
    assert not isinstance(scored, Unmeasured)
    segment, document, system = agreement_by_level(scored, samples=100, seed=1)
    assert [one.level for one in (segment, document, system)] == ["segment", "document", "system"]
    # By hand: a is better in two sentences and equal in one, for people and chrF.
    assert (segment.accuracy, document.accuracy, system.accuracy) == (1, 1, 1)
    assert (segment.values, document.values, system.values) == (7, 4, 2)
    assert system.soft_accuracy == 1


def test_bleu_of_segments_is_sentence_bleu(folder: Path) -> None:
    scored = score_ratings(Bleu(), read_metrics_folder(folder, pair="de-en", kind="esa"))
    assert not isinstance(scored, Unmeasured)
    assert "eff:yes" in scored.signature
    assert scored.metric[2] == pytest.approx(100)  # three words: corpus BLEU would give 0
