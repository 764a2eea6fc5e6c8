"""The whole way on a slice, by the commands as typed: from build to score, and a passage served."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ape.adapters import read_card
from finetune.recipes.smollm2 import PAIRS, SMALL, walk


def test_from_the_corpus_to_a_passage_post_edited_by_the_adapter(
    shared_data: Path, smollm2: Path, tmp_path: Path
) -> None:
    walk(shared_data / "mlqe_pe", tmp_path / "out", SMALL)
    adapter = tmp_path / "out" / "adapter"
    card = read_card(adapter)
    assert card.gate is not None
    assert card.parity is not None
    assert card.languages == ("et-en", "ro-en")
    rows = json.loads((adapter / "results.json").read_text())["rows"]
    assert {row["system"] for row in rows} >= {"do nothing", "tuned", "untuned"}
    assert {row["pair"] for row in rows} == {*PAIRS, "all"}
    assert "# adapter" in (adapter / "README.md").read_text()
    (tmp_path / "src.txt").write_text("Vanamees istus maha .")
    (tmp_path / "mt.txt").write_text("The old man sat down .")
    command = [sys.executable, "-m", "ape.cli.main", "edit", "--json", "--model", "mine"]
    command += ["--adapter", f"mine={adapter}", "--source-language", "et", "--target-language", "en"]
    command += ["--source", str(tmp_path / "src.txt"), "--mt", str(tmp_path / "mt.txt")]
    answered = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert answered["model"] == "mine"
    assert answered["prompt"] == card.prompt
    assert answered["decision"] in ("edited", "unchanged", "rejected")
