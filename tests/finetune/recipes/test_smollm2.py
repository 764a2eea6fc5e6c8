"""The whole recipe on a few sentences, and a passage post-edited with its adapter."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ape.adapters import read_card
from ape.cli.finetune.draft_flags import DRAFTS_FILE, chosen_examples
from ape.settings import load_settings
from finetune.data.example import Example
from finetune.recipes.smollm2 import PAIRS, SMALL_SIZE, run_recipe
from finetune.scoring.drafts import load_drafts
from finetune.scoring.score_table import post_edits_as_served
from finetune.scoring.served_adapter import find_served_adapter

pytestmark = pytest.mark.subprocess


def filtered_passage(adapter: Path, rows: Path) -> tuple[Example, str]:
    """A passage whose draft the edit filter changes, and the text that was scored for it."""
    served = asyncio.run(find_served_adapter(adapter, load_settings()))
    examples = chosen_examples(adapter, None, "test", [rows])[0]
    drafts = load_drafts(served.tuned.model, examples, adapter / DRAFTS_FILE, key=served.tuned.cache_key)
    edit_filter = served.tuned.model.edit_filter
    assert drafts is not None
    assert edit_filter is not None
    texts = asyncio.run(post_edits_as_served(drafts, examples))
    return next(
        (example, text)
        for example, text in zip(examples, texts, strict=True)
        if edit_filter.apply(example.segment, drafts.draft(example)).undone
    )


def test_from_the_corpus_to_a_passage_post_edited_by_the_adapter(
    shared_data: Path, smollm2: Path, tmp_path: Path
) -> None:
    run_recipe(shared_data / "mlqe_pe", tmp_path / "out", SMALL_SIZE)
    adapter = tmp_path / "out" / "smollm2-135m-ape"
    card = read_card(adapter)
    assert card.gate is not None
    assert card.parity is not None
    assert card.languages == ("et-en", "ro-en")
    rows = json.loads((adapter / "results.json").read_text())["rows"]
    assert {row["system"] for row in rows} >= {"do nothing", "tuned", "untuned"}
    assert {row["pair"] for row in rows} == {*PAIRS, "all"}
    assert "# smollm2-135m-ape" in (adapter / "README.md").read_text()
    example, text = filtered_passage(adapter, tmp_path / "out" / "rows" / "et-en.test.jsonl")
    (tmp_path / "src.txt").write_text(example.source, encoding="utf-8")
    (tmp_path / "mt.txt").write_text(example.mt, encoding="utf-8")
    command = [sys.executable, "-m", "ape.cli.main", "edit", "--json", "--max-attempts", "1", "--model", "mine"]
    command += ["--adapter", f"mine={adapter}", "--source-language", "et", "--target-language", "en"]
    command += ["--source", str(tmp_path / "src.txt"), "--mt", str(tmp_path / "mt.txt")]
    answered = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert (answered["model"], answered["prompt"]) == ("mine", card.prompt)
    assert answered["post_edit"].strip() == text != ""  # served as it was scored
    assert "gate" in {finding["guard"] for finding in answered["findings"]}
    assert (answered["decision"] == "edited") == (text != example.mt)
