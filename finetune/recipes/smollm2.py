"""Recipe for the adapter that is shipped: from MLQE-PE to adapter files, by the commands that a user would type.

    python -m finetune.recipes.smollm2 --corpus mlqe_pe --out OUT [--small]

The last rows of each training file are the dev set. In the dev files of the corpus, the first half fits the edit filter
and the second half is the test set, on which nothing is fitted. Existing data, weights and drafts are reused, so the
same command resumes an interrupted run. `--small` runs every step on a few short sentences, in a minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BASE = "smollm2-135m"
CONFIG = Path(__file__).with_name("smollm2-135m.toml")
PAIRS = ("et-en", "ro-en", "ne-en", "si-en")
# Fewer of ne-en and si-en: the model can't read these scripts, and they take many tokens.
TRAIN_ROWS_BY_PAIR = {"et-en": 900, "ro-en": 900, "ne-en": 700, "si-en": 300}
HELD_OUT = 600
TEST_START = 500


@dataclass(frozen=True, slots=True)
class RecipeSize:
    """How many rows of each kind to use, by language pair."""

    train_examples: dict[str, int]
    dev_examples: int
    filter_examples: int
    test_examples: int
    untuned_examples: int
    check_prompts: int
    config: Path
    check_exit_codes: tuple[int, ...] = (0,)
    max_mt_characters: int | None = None


FULL_SIZE = RecipeSize(
    TRAIN_ROWS_BY_PAIR,
    dev_examples=300,
    filter_examples=200,
    test_examples=500,
    untuned_examples=100,
    check_prompts=50,
    config=CONFIG,
)
SMALL_SIZE = RecipeSize(
    {"et-en": 6, "ro-en": 6},
    dev_examples=3,
    filter_examples=9,
    test_examples=2,
    untuned_examples=1,
    check_prompts=1,
    config=CONFIG.with_name("smollm2-135m-small.toml"),
    check_exit_codes=(0, 3),  # two steps do not teach it to stop
    max_mt_characters=60,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the recipe from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, required=True, help="folder with the JSONL files of MLQE-PE")
    parser.add_argument("--out", type=Path, required=True, help="folder for data, adapter and results")
    parser.add_argument("--small", action="store_true", help="a few short sentences, in a minute")
    options = parser.parse_args(arguments)
    for name in (f"{pair}.{side}.jsonl" for pair in PAIRS for side in ("train", "dev")):
        if not (options.corpus / name).is_file():
            parser.error(f"{options.corpus} has no {name}: give the folder with MLQE-PE as JSON lines")
    run_recipe(options.corpus, options.out, SMALL_SIZE if options.small else FULL_SIZE)


def run_recipe(corpus: Path, out: Path, size: RecipeSize) -> None:
    """Build, train, export, check, fit the edit filter, score, and write the model card."""
    out.mkdir(parents=True, exist_ok=True)
    size_file = out / "size.txt"
    if size_file.exists() and size_file.read_text(encoding="utf-8") != repr(size):
        sys.exit(f"{out} holds a run of another size. Give another folder.")
    size_file.write_text(repr(size), encoding="utf-8")
    data, adapter = out / "data", out / f"{BASE}-ape"
    if not data.exists():
        _ape("build", "-o", data, *_sources(corpus, out / "rows", size))
    if not (adapter / "ape.json").exists():
        _ape("train", "--config", size.config, "--base", BASE, "--data", data, "--output", adapter)
    if not (adapter / "adapter.gguf").exists():
        _ape("export", adapter, "--to", "gguf", "-o", adapter / "adapter.gguf")
    _ape("check", adapter, "--data", data, "--prompts", size.check_prompts, allowed=size.check_exit_codes)
    # Both on unfiltered rows: the filters of `build` would make the passages easier.
    _ape("gate", adapter, *_rows(out, "gate"))
    _ape("score", adapter, *_rows(out, "test"), "--untuned", size.untuned_examples)
    (adapter / "README.md").unlink(missing_ok=True)
    _ape("export", adapter, "--to", "card", "--data", data, "-o", adapter / "README.md")


def _rows(out: Path, side: str) -> list[object]:
    return [flag for pair in PAIRS for flag in ("--rows", out / "rows" / f"{pair}.{side}.jsonl")]


def _sources(corpus: Path, rows: Path, size: RecipeSize) -> list[object]:
    """Divide the corpus files into splits, and return the flags of `build`."""
    rows.mkdir(exist_ok=True)
    flags: list[object] = []
    for pair in PAIRS:
        train, dev = (_lines(corpus / f"{pair}.{side}.jsonl") for side in ("train", "dev"))
        sides = {
            "train": _short(train[:-HELD_OUT], size),
            "dev": _short(train[-HELD_OUT:], size)[: size.dev_examples],
            "gate": _short(dev[:TEST_START], size)[: size.filter_examples],
            "test": _short(dev[TEST_START:], size)[: size.test_examples],
        }
        for side, lines in sides.items():
            if side == "train" and pair not in size.train_examples:
                continue
            path = rows / f"{pair}.{side}.jsonl"
            path.write_text("".join(lines), encoding="utf-8")
            # `build` treats the rows of the edit filter as a test set, so none of them is trained on.
            flags += ["--test" if side == "gate" else f"--{side}", path]
    for pair, count in size.train_examples.items():
        flags += ["--take", f"{pair}={count}"]
    flags += ["--off", "short,language,ratio,bleu,percentile", "--tokenizer", BASE, "--max-tokens", 300]
    flags += ["--max-edit-rate", 0.5, "--identity-share", 0.1, "--stutter-share", 0.2]
    return [*flags, "--licence", "CC0-1.0", "--seed", 1]


def _lines(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return file.readlines()


def _short(lines: list[str], size: RecipeSize) -> list[str]:
    limit = size.max_mt_characters
    return lines if limit is None else [line for line in lines if len(json.loads(line)["mt"]) <= limit]


def _ape(verb: str, *arguments: object, allowed: Sequence[int] = (0,)) -> None:
    words = ["ape", "finetune", verb, *map(str, arguments)]
    print("$", *words, file=sys.stderr, flush=True)  # noqa: T201 - the user sees each command
    done = subprocess.run([sys.executable, "-m", "ape.cli.main", *words[1:]], check=False)  # noqa: S603 - our own
    if done.returncode not in allowed:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
