"""The Python entry for scores: the same numbers as sacrebleu, with nothing but numpy and sacrebleu."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from ape.errors import InputError
from eval.scoring import PairedComparison, Score, Unmeasured, compare, score

REFERENCES = ["The night Anna left was cold.", "He waited for her at the gate.", "No one came that evening."]
OUTPUTS = ["The night Anna left was cold.", "He waited for her by a gate.", "Nobody came in the evening."]
WORSE = ["Night Anna cold.", "He waits at gate her.", "Evening nobody."]


def test_scores_are_those_of_sacrebleu() -> None:
    found = score(OUTPUTS, REFERENCES, target_language="en")
    assert list(found) == ["bleu", "chrf"]
    bleu = found["bleu"]
    assert isinstance(bleu, Score)
    assert bleu.value == pytest.approx(BLEU().corpus_score(OUTPUTS, [REFERENCES]).score)
    assert bleu.signature.startswith("bleu|nrefs:1|")


def test_several_references_are_lists_of_their_own() -> None:
    second = ["It was cold the night Anna left.", "He waited for her by a gate.", "Nobody came."]
    found = score(OUTPUTS, [REFERENCES, second], metrics=["bleu"])["bleu"]
    assert isinstance(found, Score)
    assert found.value == pytest.approx(BLEU().corpus_score(OUTPUTS, [REFERENCES, second]).score)
    assert "nrefs:2" in found.signature


def test_documents_group_segments() -> None:
    found = score(OUTPUTS, REFERENCES, metrics=["dip-coherence"], documents=["a", "a", "b"])
    assert isinstance(found["dip-coherence"], Unmeasured)


def test_a_metric_without_what_it_needs_gives_the_reason() -> None:
    found = score(OUTPUTS, REFERENCES, metrics=["comet"])["comet"]
    assert found == Unmeasured("the source is not known")


def test_two_systems_are_compared_with_a_paired_test() -> None:
    times = 4
    found = compare(WORSE * times, OUTPUTS * times, REFERENCES * times, samples=200)["chrf"]
    assert isinstance(found, PairedComparison)
    assert found.better
    assert found.p_value < 0.05


def test_too_few_segments_are_not_compared() -> None:
    found = compare(WORSE, OUTPUTS, REFERENCES)["bleu"]
    assert isinstance(found, Unmeasured)
    assert "only 3 segments" in found.why


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="system has 3, reference 1 has 2"):
        score(OUTPUTS, REFERENCES[:2])


BLOCKED = ("scipy", "nltk", "jieba", "matplotlib", "sqlalchemy", "alembic", "xllamacpp", "fastapi", "torch")
BLOCK = f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED!r}))\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", BLOCK + program], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.subprocess
def test_the_default_metrics_import_no_library_of_an_extra() -> None:
    printed = run(
        "from eval.scoring import compare, score\n"
        f"print(score({OUTPUTS!r}, {REFERENCES!r}, metrics=['bleu', 'chrf', 'ter'])['bleu'].value)\n"
        f"compare({WORSE * 2!r}, {OUTPUTS * 2!r}, {REFERENCES * 2!r}, samples=10)\n"
    )
    assert float(printed) > 0


@pytest.mark.subprocess
def test_the_command_scores_without_the_libraries_of_extras(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text("\n".join(OUTPUTS), encoding="utf-8")
    (tmp_path / "reference.txt").write_text("\n".join(REFERENCES), encoding="utf-8")
    words = ["ape", "eval", "score", "--system", f"a={tmp_path}/output.txt", "--target-language", "en"]
    words += ["--reference", f"{tmp_path}/reference.txt", "--metric", "bleu", "--metric", "chrf", "--metric", "ter"]
    assert "bleu|nrefs:1" in run(f"sys.argv = {words!r}\nfrom ape.cli.main import main\nmain()\n")
