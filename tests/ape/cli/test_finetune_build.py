"""`ape finetune build` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.ape.cli.conftest import Run
from tests.finetune.data.tale import paragraphs, row, write_rows


def files(folder: Path) -> list[str]:
    """A train and a dev file, and the flags that name them."""
    write_rows(folder / "train.jsonl", (row(one) | {"book": "a"} for one in paragraphs(80)))
    write_rows(folder / "dev.jsonl", (row(one) | {"book": "b"} for one in paragraphs(20, start=500)))
    return ["finetune", "build", "--train", "train.jsonl", "--dev", "dev.jsonl"]


def test_a_training_set_is_built_and_the_same_again_with_the_same_seed(run: Run, tmp_path: Path) -> None:
    flags = [*files(tmp_path), "--off", "percentile", "--take", "fr-en=40", "--licence", "CC0", "--seed", "3"]
    done = run(*flags, "-o", "one")
    assert done.returncode == 0, done.stderr
    assert "train: 40 examples (fr-en 40), 6 of them identities" in done.stdout
    assert done.stdout.splitlines()[-1] == "one"
    assert "100 paragraphs read." in done.stderr
    again = run(*flags, "-o", "two", "--json")
    told = json.loads(again.stdout)
    assert told["splits"]["dev"]["examples"] == 20
    assert told["licences"] == ["CC0"]
    one, two = ((tmp_path / name / "manifest.json").read_bytes() for name in ("one", "two"))
    assert one == two
    assert (tmp_path / "one" / "report.html").exists()
    assert str(tmp_path) not in one.decode()


def test_a_directory_that_is_there_is_not_touched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine.txt").write_text("mine", encoding="utf-8")
    flags = [*files(tmp_path), "-o", "kept"]
    done = run(*flags)
    assert (done.returncode, "is there already" in done.stderr) == (2, True)
    done = run(*flags, "--replace")
    assert (done.returncode, "is no training set" in done.stderr) == (2, True)
    assert (tmp_path / "kept" / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_what_fails_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    flags = files(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run(*flags, "-o", "set", "--take", "fr-en=4000")
    assert done.returncode == 2
    assert "4,000 examples of fr-en were asked for" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_config_file_is_taken_and_a_flag_goes_over_it(run: Run, tmp_path: Path) -> None:
    flags = files(tmp_path)
    (tmp_path / "build.toml").write_text('off = ["percentile"]\nseed = 5\nratio = 2.5\n', encoding="utf-8")
    done = run(*flags, "-o", "set", "--config", "build.toml", "--seed", "6", "--json")
    settings = json.loads(done.stdout)["settings"]
    assert (settings["seed"], settings["ratio"], settings["off"]) == (6, 2.5, ["percentile"])
    (tmp_path / "build.toml").write_text("ratoi = 2.5\n", encoding="utf-8")
    done = run(*flags, "-o", "other", "--config", "build.toml")
    assert (done.returncode, "ratoi" in done.stderr) == (2, True)


def test_nothing_to_build_from_is_said(run: Run) -> None:
    done = run("finetune", "build", "-o", "set")
    assert (done.returncode, "nothing to build from" in done.stderr) == (2, True)
