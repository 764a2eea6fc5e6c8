"""`ape finetune export`: GGUF, merged model, model card, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.adapters import read_card
from ape.models.gguf_header import read_gguf_header
from tests.ape.cli.conftest import MT, Run
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny

pytestmark = pytest.mark.torch
RESULTS = {
    "signatures": {"TER": "nrefs:1|case:lc|tok:tercom"},
    "rows": [
        {
            "pair": "fr-en",
            "system": "do nothing",
            "passages": 1200,
            "edited": 0.0,
            "cells": [{"metric": "TER", "score": 30.0, "difference": 0.0, "p_value": None}],
        },
        {
            "pair": "fr-en",
            "system": "tuned",
            "passages": 1200,
            "edited": 0.125,
            "cells": [{"metric": "TER", "score": 29.5, "difference": -0.5, "p_value": 0.012}],
        },
    ],
}
MANIFEST = {
    "inputs": [{"file": "tales.jsonl", "sha256": "ab" * 32}],
    "licences": ["CC0-1.0"],
    "filters": [{"filter": "short", "came": 1100, "dropped": 100, "left": 1000, "dropped_by_pair": {}}],
    "splits": {"train": {"examples": 1000, "languages": {"fr-en": 1000}, "kinds": {"edit": 900, "identity": 100}}},
}


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    return make_adapter(tmp_path / "mine", make_tiny(tmp_path / "tiny"))


def test_an_exported_adapter_is_served_by_its_name(
    here: Run, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = here("finetune", "export", "mine", "--base", "tiny")
    assert (done.returncode, done.stdout) == (0, "mine/adapter.gguf\n"), done.stderr
    header = read_gguf_header(adapter / "adapter.gguf")
    assert header.metadata["adapter.type"] == "lora"
    again = here("finetune", "export", "mine", "--base", "tiny")
    assert again.returncode == 2
    assert "adapter.gguf is there already" in again.stderr
    make_gguf(tmp_path / "tiny", tmp_path / "tiny.gguf")
    words = ("--source", "src.txt", "--mt", "mt.txt", "--model", "tiny.gguf", "--adapter", "mine=mine")
    monkeypatch.setenv("APE_ALIASES", "default=mine")
    monkeypatch.setenv("APE_WINDOW", "1024")
    (tmp_path / "src.txt").write_text("Claire posa son sac et s’assit.\n", encoding="utf-8")
    (tmp_path / "mt.txt").write_text(MT + "\n", encoding="utf-8")
    edited = here("edit", *words, "--json")
    assert edited.returncode == 0, edited.stderr
    output = json.loads(edited.stdout)
    assert (output["model"], output["prompt"]) == ("mine", read_card(adapter).prompt)


def test_a_merged_model_comes_with_serving_instructions(here: Run, adapter: Path, tmp_path: Path) -> None:
    done = here("finetune", "export", "mine", "--to", "merged", "--base", "tiny", "-o", "merged")
    assert (done.returncode, done.stdout) == (0, "merged\n"), done.stderr
    output = " ".join(done.stderr.split())
    assert output.startswith("It has to be queried in the format sep, as text and never as a chat")
    assert r'the source, "\n\n###\n\n", the MT, "\n\n###\n\n"; with "\n\n###" as stop.' in output
    readme = (tmp_path / "merged" / "README.md").read_text(encoding="utf-8")
    assert readme.startswith('---\nbase_model: "tiny"\nlibrary_name: "transformers"\n')
    assert done.stderr.strip() in readme


def test_a_model_card_agrees_with_the_adapter_files(here: Run, adapter: Path, tmp_path: Path) -> None:
    (adapter / "results.json").write_text(json.dumps(RESULTS))
    data = tmp_path / "data"
    data.mkdir()
    (data / "manifest.json").write_text(json.dumps(MANIFEST))
    done = here("finetune", "export", "mine", "--to", "card", "--data", "data", "-o", "card.md")
    assert (done.returncode, done.stdout) == (0, "card.md\n"), done.stderr
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert text.startswith('---\nbase_model: "tiny"\n')
    for line in (
        "# mine",
        f"- prompt format: {read_card(adapter).prompt}; separators []",
        f"- file: tales.jsonl (SHA-256 {'ab' * 32})",
        "- licences, as stated when it was built: CC0-1.0",
        "- train: 1,000 examples (fr-en 1,000; edit 900, identity 100)",
        "| short | 1,100 | 100 | 1,000 |",
        "| fr-en | do nothing | 1,200 | 0.0% | 30.00 |  |  |",
        "| fr-en | tuned | 1,200 | 12.5% | 29.50 | -0.50 | 0.012 |",
        "- TER: `nrefs:1|case:lc|tok:tercom`",
        "## Limits",
    ):
        assert line in text.splitlines()
    assert "by `ape finetune export --to merged`, it is a model for any server. It has to be queried in" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tiny"], "tiny has no ape.json: it was not written by"),
        (["nowhere"], "nowhere has no ape.json"),
        (["mine", "--to", "merged"], "A merged model needs a new directory: -o"),
        (["mine", "--to", "merged", "--base", "tiny", "-o", "tiny"], "tiny is there already"),
        (["mine", "--to", "card", "--data", "nowhere"], "nowhere is not a training set"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], sentence: str, here: Run, adapter: Path) -> None:
    before = sorted(path.name for path in adapter.iterdir())
    done = here("finetune", "export", *words)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in adapter.iterdir()) == before
