"""Writing the page: numbers, plots and examples in one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ape.edits import edit_rate, find_edits
from ape.languages import name_of
from ape.report.pieces import pieces
from ape.report.standalone import asset, templates
from ape.words import words
from finetune.data.build import Built
from finetune.data.choose import sample
from finetune.data.report import plots
from finetune.data.scores import bleu
from finetune.example import Example

REPORT = "report.html"
SHOWN = 12
# More books than this are told in one line.
MOST_BOOKS = 40
# BLEU of so many examples shows how it is spread.
SCORED = 3000
_SIDES = {"train": "edited", "dev": "skipped", "test": "quarantined"}


def write_report(path: Path, built: Built, manifest: Mapping[str, Any]) -> None:
    """Write the page of a training set."""
    examples = _shown(built, str(manifest["settings"]["seed"]))
    style = asset("ape.report", "style.css") + asset("finetune.data.report", "report.css")
    page = (
        _templates()
        .get_template("report.html")
        .render(
            style=style,
            facts=_facts(built, manifest),
            remarks=built.remarks,
            sides={side: len(built.splits.get(side, ())) for side in _SIDES},
            colours=_SIDES,
            share=plots.rows(
                [
                    (
                        "",
                        0,
                        [(colour, side, len(built.splits.get(side, ()))) for side, colour in _SIDES.items()],
                    )
                ]
            ),
            keys=[(colour, side) for side, colour in _SIDES.items() if built.splits.get(side)],
            filters=_filters(built),
            pairs=_by(built, lambda one: f"{name_of(one.source_language)} to {name_of(one.target_language)}"),
            books=_by(built, lambda one: one.book),
            most_books=MOST_BOOKS,
            histograms=_histograms(built.splits["train"]),
            examples=examples,
            kinds=sorted({edit.kind for one in examples for edit in one["edits"]}),
        )
    )
    path.write_text(page, encoding="utf-8", errors="replace", newline="\n")


def _facts(built: Built, manifest: Mapping[str, Any]) -> dict[str, str]:
    train = built.splits["train"]
    kinds = Counter(one.kind for one in train)
    facts = {
        "Paragraphs read": f"{built.read:,}",
        "Examples": f"{sum(map(len, built.splits.values())):,}",
        "To train on": f"{len(train):,}, {kinds['identity'] / max(len(train), 1):.0%} of them good as they are"
        + (f", {kinds['stutter'] / len(train):.0%} made to stutter" if kinds["stutter"] else ""),
        "Files": ", ".join(one["file"] for one in manifest["inputs"]),
        "Tokens": f"at most {manifest['settings']['tokens']:,} an example to train on, {_counted(manifest['tokens'])}",
        "Filters off": ", ".join(manifest["settings"]["off"]) or "none",
        "Seed": str(manifest["settings"]["seed"]),
        "Licences": ", ".join(manifest["licences"]) or "none given",
    }
    if alignment := manifest.get("alignment"):
        facts["Aligned by"] = alignment["encoder"]
    return facts | {f"BLEU, {name_of(code)}": signature for code, signature in manifest["bleu"].items()}


def _counted(tokens: Mapping[str, str]) -> str:
    return f"counted by {tokens['tokenizer']}" if "vocabulary" in tokens else "estimated"


def _filters(built: Built) -> list[plots.Row]:
    return plots.rows(
        [
            (
                step.name if step.side == "all" else f"{step.name} ({step.side})",
                step.dropped,
                [("edited", "left", step.left), ("rejected", "dropped", step.dropped)],
            )
            for step in built.funnel.steps
        ]
    )


def _by(built: Built, key: Callable[[Example], str]) -> list[plots.Row]:
    """Examples by language pair or book, each bar in the colours of its sides."""
    counts = {side: Counter(key(one) for one in examples) for side, examples in built.splits.items()}
    names = sorted({name for counted in counts.values() for name in counted}, key=_natural)
    found = [
        (
            name,
            sum(counted[name] for counted in counts.values()),
            [(_SIDES[side], side, counted[name]) for side, counted in counts.items()],
        )
        for name in names
    ]
    return plots.rows(found)


def _natural(name: str) -> list[tuple[str, int]]:
    """An order in which the tenth comes after the ninth."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", name)]


def _histograms(train: Sequence[Example]) -> list[tuple[str, str, plots.Histogram]]:
    """Of the training set: lengths, and how far the human version is from the MT in what is to be edited."""
    edits = [one for one in train if one.kind == "edit"]
    scored = sample(edits, SCORED, seed="report")
    lengths = [float(len(words(one.mt))) for one in train]
    rates = [edit_rate(one.mt, one.human) for one in edits]
    scores = [bleu(one.mt, (one.human,), language=one.target_language) for one in scored]
    return [
        ("Length of the MT", "words, of all examples to train on", plots.histogram(lengths, unit=" words")),
        ("Edit rate", "edits for each word of the MT, without identities", plots.histogram(rates, unit="", highest=1)),
        ("BLEU of the MT", "against the human version, without identities",
         plots.histogram(scores, unit=" BLEU", highest=100)),
    ]  # fmt: skip


def _shown(built: Built, seed: str) -> list[dict[str, Any]]:
    """A few examples by chance, with what the person changed marked."""
    train = built.splits["train"]
    found = []
    for one in sample(train, SHOWN, seed=f"shown:{seed}"):
        edits = find_edits(one.mt, one.human, language=one.target_language)
        found.append({"example": one, "edits": edits, "rate": edit_rate(one.mt, one.human)})
    return found


@lru_cache
def _templates() -> Environment:
    return templates("finetune.data.report", names={"pieces": pieces})
