"""`ape eval coherence`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ape.cli.conftest import Run
from tests.eval.metrics.dip.test_every_metric import ALL, OUTPUTS, PAGES


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Three documents with a reference and a system called worse."""
    rows = [
        {"id": name, "reference": PAGES[name], "systems": {"worse": OUTPUTS[name], "same": PAGES[name]}} for name in ALL
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


def train(here: Run, table: str, *words: str) -> dict[str, object]:
    done = here("eval", "coherence", "train", table, "-o", "scorer.json", "--json", *words)
    assert done.returncode == 0, done.stderr
    output: dict[str, object] = json.loads(done.stdout)
    return output


def test_a_scorer_is_trained_saved_loaded_and_used(here: Run, table: str) -> None:
    output = train(here, table, "--system", "worse")
    assert output["against"] == "mt"
    assert output["documents"] == 3
    assert isinstance(output["held_out_accuracy"], float)
    printed = here("eval", "coherence", "show", "scorer.json", "--json")
    assert json.loads(printed.stdout) == output
    scored = here("eval", "score", table, "--metric", "dip-coherence", "--scorer", "scorer.json", "--json")
    found = json.loads(scored.stdout)
    assert f"|scorer:{output['fingerprint']}|" in found["signatures"]["dip-coherence"]
    scores = {row["system"]: row["score"] for row in found["scores"]}
    assert scores["same"] == 0
    assert scores["worse"] > 0


def test_accuracy_on_held_out_documents_is_printed(here: Run, table: str) -> None:
    output = train(here, table, "--against", "shuffled", "--seed", "3")
    printed = here("eval", "coherence", "show", "scorer.json").stdout.splitlines()
    assert printed[0] == f"accuracy on held-out documents: {output['held_out_accuracy']:.3f}"
    assert "against: shuffled" in printed[1]
    assert "seed: 3" in printed[1]


def test_the_same_seed_trains_the_same_scorer(here: Run, table: str) -> None:
    prints = [
        train(here, table, "--against", "shuffled", "--seed", seed, "--overwrite")["fingerprint"]
        for seed in ("1", "1", "2")
    ]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "stories.jsonl", "-o", "stories.jsonl"), "use --overwrite"),
        (("train", "stories.jsonl", "-o", "x.json", "--system", "best"), "no system 'best'"),
        (("show", "stories.jsonl"), "is not a coherence scorer"),
        (("show", "nothing.json"), "can't be read"),
    ],
)
def test_bad_input_is_a_sentence(here: Run, table: str, words: tuple[str, ...], message: str) -> None:
    done = here("eval", "coherence", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_references_too_short_to_be_shuffled_are_a_sentence(here: Run, tmp_path: Path) -> None:
    row = {"id": "one", "reference": ["He went home."], "systems": {"s": ["He left."]}}
    (tmp_path / "short.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    words = ("short.jsonl", "-o", "x.json", "--against", "shuffled", "--target-language", "en")
    done = here("eval", "coherence", "train", *words)
    assert done.returncode == 2
    assert "a reference of at least 3 sentences" in done.stderr
    assert not (tmp_path / "x.json").exists()


def test_a_scorer_is_for_coherence_only(here: Run, table: str) -> None:
    done = here("eval", "score", table, "--metric", "ter", "--scorer", "scorer.json")
    assert done.returncode == 2
    assert "--scorer is for --metric dip-coherence" in done.stderr
