"""`ape eval agree`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run

REFERENCES = (
    "The fog lifted before noon.",
    "He counted the coins twice.",
    "The bridge was finished in spring.",
    "She closed the door and sang.",
)
OUTPUTS = {
    "good": (REFERENCES[0], REFERENCES[1], "The bridge was done in spring.", "She shut the door and sang."),
    "poor": ("Fog lift noon.", "She counts coin two.", "Spring bridge was finish.", "He close a door, sing."),
}
SCORES = {"good": (5, 5, 4, 4), "poor": (1, 1, 2, 1)}


@pytest.fixture
def scores(tmp_path: Path) -> str:
    """Eight translations with human scores."""
    rows = [
        {
            "sheet": "A",
            "sent": place,
            "system": system,
            "src": f"源{place}",
            "ref": REFERENCES[place],
            "hyp": output,
            "score": SCORES[system][place],
        }
        for system, outputs in OUTPUTS.items()
        for place, output in enumerate(outputs)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


def test_a_table_has_both_correlations_with_intervals(here: Run, scores: str) -> None:
    done = here("eval", "agree", scores, "--metric", "chrf", "--metric", "ter", "--samples", "50")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == "metric Kendall's τ-b Pearson's r segments without a score".split()
    assert [line.split()[0] for line in lines[1:3]] == ["chrf", "ter"]
    assert all("[" in line and "]" in line for line in lines[1:3])
    assert "50 resamples of sentences, seed 1." in done.stdout
    assert "chrf: chrf|nrefs:1|" in done.stdout


def test_a_metric_that_is_better_when_low_agrees_too(here: Run, scores: str) -> None:
    words = ("eval", "agree", scores, "--metric", "ter", "--samples", "50", "--json")
    found = json.loads(here(*words).stdout)["ter"]
    assert found["kendall"] > 0.5
    low, high = found["kendall_interval"]
    assert low <= found["kendall"] <= high
    assert json.loads(here(*words).stdout)["ter"] == found  # the same seed gives the same intervals


def test_a_metric_of_documents_or_without_its_model_says_why(here: Run, scores: str) -> None:
    done = here("eval", "agree", scores, "--metric", "kp", "--metric", "bleurt", "--metric", "chrf", "--samples", "0")
    assert done.returncode == 0
    assert "kp is not applicable: kp scores documents, and people scored segments." in done.stdout
    assert "bleurt is not applicable: " in done.stdout
    assert "resamples" not in done.stdout


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", '"bad"', 'score is "bad"'),
        ("score", "null", "score is null"),
        ("score", "NaN", "score is NaN"),
        ("hyp", "null", "hyp is null"),
        ("ref", '""', 'ref is ""'),
    ],
)
def test_bad_scores_are_refused_by_line(
    here: Run, scores: str, tmp_path: Path, column: str, value: str, message: str
) -> None:
    rows = [json.loads(line) for line in (tmp_path / scores).read_text(encoding="utf-8").splitlines()]
    rows[2][column] = "X"
    text = "".join(f"{json.dumps(row)}\n" for row in rows).replace('"X"', value)
    (tmp_path / scores).write_text(text, encoding="utf-8")
    done = here("eval", "agree", scores, "--metric", "chrf")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Line 3 of scores.jsonl: {message}" in done.stderr


def test_a_missing_file_is_named(here: Run) -> None:
    done = here("eval", "agree", "gone.jsonl", "--metric", "chrf")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no file gone.jsonl." in done.stderr


def test_an_unknown_score_column_is_refused(here: Run, scores: str) -> None:
    done = here("eval", "agree", scores, "--metric", "chrf", "--asked", "style")
    assert done.returncode == 2
    assert "no human scores for 'style', only for score" in done.stderr


def test_levels_and_tests_between_metrics_are_printed(here: Run, scores: str) -> None:
    done = here("eval", "agree", scores, "--metric", "chrf", "--metric", "bleu", "--samples", "50")
    assert done.returncode == 0, done.stderr
    assert "soft" in done.stdout
    assert "(PERM-BOTH)." in done.stdout
    assert "eff:yes" in done.stdout
    found = json.loads(here("eval", "agree", scores, "--metric", "chrf", "--metric", "ter", "--json").stdout)
    assert [level["level"] for level in found["chrf"]["levels"]] == ["segment", "system"]
    assert {"better", "worse", "p_value", "p_value_corrected"} <= found["tests"][0].keys()


def test_resamples_draw_documents_where_they_are_known(here: Run, scores: str, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (tmp_path / scores).read_text(encoding="utf-8").splitlines()]
    (tmp_path / scores).write_text(
        "".join(json.dumps(row | {"document": f"d{row['sent'] // 2}"}) + "\n" for row in rows), encoding="utf-8"
    )
    done = here("eval", "agree", scores, "--metric", "chrf", "--samples", "50")
    assert "50 resamples of documents, seed 1." in done.stdout
    found = json.loads(here("eval", "agree", scores, "--metric", "chrf", "--samples", "50", "--json").stdout)
    assert [level["level"] for level in found["chrf"]["levels"]] == ["segment", "document", "system"]
