"""An adapter for the embedded engine, from MLQE-PE to files to ship, as the commands that a user would type.

    python -m finetune.recipes.smollm2 --corpus mlqe_pe --out OUT [--small]

Rows from the end of each training file are held out and looked at while training. Of the corpus's own dev files, the
gate is fitted on rows of the first half, and the second half is the test set, on which nothing is fitted. Data, weights
and drafts that are there are not made again, so the same command goes on where it was broken off. `--small` walks the
whole way in minutes, on a slice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BASE = "smollm2-135m"
CONFIG = Path(__file__).with_name("smollm2-135m.toml")
PAIRS = ("et-en", "ro-en", "ne-en", "si-en")
# Fewer of ne-en and si-en: their sources are many tokens, and nothing that this model can read.
TRAIN_ROWS_BY_PAIR = {"et-en": 900, "ro-en": 900, "ne-en": 700, "si-en": 300}
HELD_OUT = 600
TEST_START = 500


@dataclass(frozen=True, slots=True)
class RecipeSize:
    """How much of everything."""

    trained: dict[str, int]
    dev: int
    gated: int
    test: int
    untuned: int
    prompts: int
    training: tuple[str, ...]
    checked: tuple[int, ...] = (0,)


FULL_SIZE = RecipeSize(
    TRAIN_ROWS_BY_PAIR,
    dev=300,
    gated=200,
    test=500,
    untuned=100,
    prompts=50,
    training=("--config", str(CONFIG)),
)
SMALL_SIZE = RecipeSize(
    {"et-en": 24, "ro-en": 24},
    dev=6,
    gated=10,
    test=3,
    untuned=2,
    prompts=4,
    training=("--config", str(CONFIG.with_name("smollm2-135m-small.toml"))),
    checked=(0, 3),  # two steps do not teach it to stop
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Walk the whole way."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, required=True, help="the folder of MLQE-PE's JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="a folder for everything that is made")
    parser.add_argument("--small", action="store_true", help="a slice, in minutes")
    given = parser.parse_args(arguments)
    lacking = [name for name in _files() if not (given.corpus / name).is_file()]
    if lacking:
        parser.error(
            f"{given.corpus} has no {lacking[0]}: it is to be the folder of MLQE-PE's files as JSON lines"
        )
    run_recipe(given.corpus, given.out, SMALL_SIZE if given.small else FULL_SIZE)


def run_recipe(corpus: Path, out: Path, size: RecipeSize) -> None:
    """Build, train, export, check, gate, score, and write the model card."""
    out.mkdir(parents=True, exist_ok=True)
    begun = out / "size.txt"
    if begun.exists() and begun.read_text(encoding="utf-8") != repr(size):
        sys.exit(f"{out} was begun in another size. Give another folder.")
    begun.write_text(repr(size), encoding="utf-8")
    data, adapter = out / "data", out / f"{BASE}-ape"
    if not data.exists():
        _ape("build", "-o", data, *_sources(corpus, out / "rows", size))
    if not (adapter / "ape.json").exists():
        _ape("train", *size.training, "--base", BASE, "--data", data, "--out", adapter)
    if not (adapter / "adapter.gguf").exists():
        _ape("export", adapter, "--to", "gguf", "-o", adapter / "adapter.gguf")
    _ape("check", adapter, "--data", data, "--prompts", size.prompts, allowed=size.checked)
    # Both on whole files: a filter would make the passages easier than they are.
    _ape("gate", adapter, *_rows(out, "gate"))
    _ape("score", adapter, *_rows(out, "test"), "--untuned", size.untuned)
    (adapter / "README.md").unlink(missing_ok=True)
    _ape("export", adapter, "--to", "card", "--data", data, "-o", adapter / "README.md")


def _files() -> list[str]:
    return [f"{pair}.{side}.jsonl" for pair in PAIRS for side in ("train", "dev")]


def _rows(out: Path, side: str) -> list[object]:
    return [flag for pair in PAIRS for flag in ("--rows", out / "rows" / f"{pair}.{side}.jsonl")]


def _sources(corpus: Path, rows: Path, size: RecipeSize) -> list[object]:
    """The files cut into sides, and how to choose from them."""
    rows.mkdir(exist_ok=True)
    flags: list[object] = []
    for pair in PAIRS:
        whole = (corpus / f"{pair}.train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        cut = len(whole) - HELD_OUT
        sides = {"train": whole[:cut], "dev": whole[cut : cut + size.dev]}
        with (corpus / f"{pair}.dev.jsonl").open(encoding="utf-8") as file:
            known = file.readlines()
        sides |= {"gate": known[: size.gated], "test": known[TEST_START : TEST_START + size.test]}
        for side, lines in sides.items():
            if side == "train" and pair not in size.trained:
                continue
            path = rows / f"{pair}.{side}.jsonl"
            path.write_text("".join(lines), encoding="utf-8")
            # Nothing that the gate is fitted on is trained on either: to `build` it is one more test set.
            flags += ["--test" if side == "gate" else f"--{side}", path]
    for pair, count in size.trained.items():
        flags += ["--take", f"{pair}={count}"]
    flags += ["--off", "short,language,ratio,bleu,percentile", "--tokenizer", BASE, "--max-tokens", 300]
    flags += ["--max-edit-rate", 0.5, "--identity-share", 0.1, "--stutter-share", 0.2]
    return [*flags, "--licence", "CC0-1.0", "--seed", 1]


def _ape(verb: str, *arguments: object, allowed: Sequence[int] = (0,)) -> None:
    words = ["ape", "finetune", verb, *map(str, arguments)]
    print("$", *words, file=sys.stderr, flush=True)  # noqa: T201 - the command is the recipe
    done = subprocess.run([sys.executable, "-m", "ape.cli.main", *words[1:]], check=False)  # noqa: S603 - our own
    if done.returncode not in allowed:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
