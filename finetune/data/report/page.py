"""Write the report: numbers, plots and examples in one self-contained HTML file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ape.edits.diff import edit_rate, find_edits
from ape.reports.base_page import Page
from ape.reports.text_pieces import split_at_edits
from ape.text.languages import language_name
from ape.text.tokens import words
from finetune.data.build import TrainingSet
from finetune.data.example import Example
from finetune.data.report import plots
from finetune.data.selection import sample_items
from finetune.data.sentence_bleu import sentence_bleu

REPORT_FILE = "report.html"
EXAMPLES_SHOWN = 12
# More books than this are summed up in one line.
MAX_BOOKS = 40
# Number of examples in the BLEU histogram.
MAX_SCORED = 3000
_PAGE = Page("finetune.data.report", styles=["book.css", "report.css"], names={"split_at_edits": split_at_edits})
_SIDES = {"train": "edited", "dev": "skipped", "test": "quarantined"}


def write_data_report(path: Path, built: TrainingSet, manifest: Mapping[str, Any]) -> None:
    """Write the report of a training set."""
    examples = _sample_examples(built, str(manifest["settings"]["seed"]))
    _PAGE.write(
        path,
        "report.html",
        facts=_facts(built, manifest),
        remarks=built.remarks,
        sides={side: len(built.splits.get(side, ())) for side in _SIDES},
        colours=_SIDES,
        share=plots.layout_bars(
            [("", 0, [(colour, side, len(built.splits.get(side, ()))) for side, colour in _SIDES.items()])]
        ),
        keys=[(colour, side) for side, colour in _SIDES.items() if built.splits.get(side)],
        filters=_filters(built),
        pairs=_bars_by(
            built, lambda one: f"{language_name(one.source_language)} to {language_name(one.target_language)}"
        ),
        books=_bars_by(built, lambda one: one.book),
        most_books=MAX_BOOKS,
        histograms=_histograms(built.splits["train"]),
        examples=examples,
        kinds=sorted({edit.kind for one in examples for edit in one["edits"]}),
    )


def _facts(built: TrainingSet, manifest: Mapping[str, Any]) -> dict[str, str]:
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
    return facts | {f"BLEU, {language_name(code)}": signature for code, signature in manifest["bleu"].items()}


def _counted(tokens: Mapping[str, str]) -> str:
    return f"counted by {tokens['tokenizer']}" if "vocabulary" in tokens else "estimated"


def _filters(built: TrainingSet) -> list[plots.BarRow]:
    return plots.layout_bars(
        [
            (
                step.name if step.side == "all" else f"{step.name} ({step.side})",
                step.dropped,
                [("edited", "left", step.left), ("rejected", "dropped", step.dropped)],
            )
            for step in built.funnel.steps
        ]
    )


def _bars_by(built: TrainingSet, key: Callable[[Example], str]) -> list[plots.BarRow]:
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
    return plots.layout_bars(found)


def _natural(name: str) -> list[tuple[str, int]]:
    """Natural sort key: 9 before 10."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", name)]


def _histograms(train: Sequence[Example]) -> list[tuple[str, str, plots.DataHistogram]]:
    """Histograms of length, edit rate and BLEU of the training examples."""
    edits = [one for one in train if one.kind == "edit"]
    scored = sample_items(edits, MAX_SCORED, seed="report")
    lengths = [float(len(words(one.mt))) for one in train]
    rates = [edit_rate(one.mt, one.human) for one in edits]
    scores = [sentence_bleu(one.mt, (one.human,), language=one.target_language) for one in scored]
    return [
        ("Length of the MT", "words, of all examples to train on", plots.layout_histogram(lengths, unit=" words")),
        ("Edit rate", "edits for each word of the MT, without identities",
         plots.layout_histogram(rates, unit="", highest=1)),
        ("BLEU of the MT", "against the human version, without identities",
         plots.layout_histogram(scores, unit=" BLEU", highest=100)),
    ]  # fmt: skip


def _sample_examples(built: TrainingSet, seed: str) -> list[dict[str, Any]]:
    """A random sample of examples with the human changes marked."""
    train = built.splits["train"]
    found = []
    for one in sample_items(train, EXAMPLES_SHOWN, seed=f"shown:{seed}"):
        edits = find_edits(one.mt, one.human, language=one.target_language)
        found.append({"example": one, "edits": edits, "rate": edit_rate(one.mt, one.human)})
    return found
