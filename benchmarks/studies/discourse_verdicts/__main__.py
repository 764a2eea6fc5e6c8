"""Precision of the discourse checks on web fiction, by verdicts of one reader.

    python -m benchmarks.studies.discourse_verdicts [--data DIR]

`verdicts.tsv` has cases that the checks mark, by system, chapter, line and place, each read with its source and
reference: "error" if the translation is wrong or inconsistent there in the way that the mark says. Kinds "lost",
"changed" and "inconsistent" are random samples of 20 cases of a check (of chapters 0 to 5 of base and p3), "wrong"
and "renamed" all cases that there are, "undecided" cases that earlier rules marked. The rules for "wrong" and
"renamed" were written after the cases of the sample "fitted" had been read: translations of fiction_zh_en by nine
systems, and names in Candide. Those of the sample "unseen" were read after the rules were done: fiction_zh_en and
news of LTCR as Argos Translate translates them (`benchmarks/studies/fresh_mt.py` has the model), and Google's
Candide, in tenths, against both human translations. Cases of ZPRT's six systems ("mzprt-…": its sheet, sentence and
place) were read by another reader, each sentence as a document of its own; then conditions were given up, and pronouns
of documents that never say the gender, so they are "fitted" too. With the data, the checks run again on the four
line-by-line systems, and the cases that they mark now are compared with the list.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.corpora import fiction_rows
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator, annotator_for
from eval.metrics.dip.annotated_sides import annotate_sides
from eval.metrics.dip.connectives import match_system_connectives
from eval.metrics.dip.pronouns import compare_system_pronouns
from eval.metrics.dip.renamed import find_renamed
from eval.statistics.proportion import clopper_pearson_bounds

VERDICTS = Path(__file__).with_name("verdicts.tsv")
SYSTEMS = ("base", "p1", "p2", "p3")
_LISTED_WHOLE = ("wrong", "renamed")


def main() -> None:
    """Print the precision of each kind of mark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.discourse_verdicts")
    parser.add_argument("--data", type=Path, help="a folder with fiction_zh_en.jsonl")
    options = parser.parse_args()
    for line in precision_table():
        print(line)
    if options.data is not None:
        listed, marked = listed_cases(), set(marked_cases(options.data))
        print(f"Of {len(listed)} listed cases, {len(listed & marked)} are marked now; {len(marked - listed)} are new.")


def read_verdicts() -> list[dict[str, str]]:
    """The rows of the list."""
    with VERDICTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def precision_table() -> Iterator[str]:
    """One line for each check, kind and sample: errors, cases, share with its 95% interval (Clopper-Pearson)."""
    rows = read_verdicts()
    cases = Counter((row["check"], row["kind"], row["sample"]) for row in rows)
    errors = Counter((row["check"], row["kind"], row["sample"]) for row in rows if row["verdict"] == "error")
    for check, kind, sample in sorted(cases):
        wrong, number = errors[check, kind, sample], cases[check, kind, sample]
        ends = clopper_pearson_bounds(wrong, number)
        share = f"{wrong / number:.2f} [{ends.low:.2f}, {ends.high:.2f}]"
        yield f"{check:12} {kind:13} {sample:7} {wrong:3} of {number:3}  {share}"


def listed_cases() -> set[tuple[str, ...]]:
    """The cases of the kinds that are listed whole."""
    columns = ("check", "system", "chapter", "line", "place", "reference", "output")
    rows = (row for row in read_verdicts() if row["kind"] in _LISTED_WHOLE and row["system"] in SYSTEMS)
    return {tuple(row[column] for column in columns) for row in rows}


def marked_cases(data: Path) -> Iterator[tuple[str, ...]]:
    """What the checks call errors now."""
    corpus, annotator = _corpus(data), annotator_for("en")
    for system in SYSTEMS:
        for case in _marked(corpus, system, annotator):
            yield tuple(map(str, case))


def _marked(corpus: Corpus, system: str, annotator: Annotator) -> Iterator[tuple[object, ...]]:
    for side, segment, one in compare_system_pronouns(corpus, system, annotator):
        if one.is_error and one.output_pronoun is not None:
            ours, theirs = one.reference_pronoun, one.output_pronoun
            yield "pronouns", system, side.id, segment, ours.start, ours.text, theirs.text
    for side, segment, match in match_system_connectives(corpus, system, annotator):
        if match.is_error:
            use = match.reference_use
            yield "connectives", system, side.id, segment, use.start, use.name, ""
    for side in annotate_sides(corpus, system, annotator):
        for renamed in find_renamed(side):
            name = renamed.entity
            yield "consistency", system, side.id, renamed.segment, name.start, renamed.chain.lemma, name.text


def _corpus(data: Path) -> Corpus:
    documents = [
        Document(
            str(number),
            {name: tuple(row["systems"][name]) for name in SYSTEMS},
            (tuple(row["reference"]),),
            tuple(row["source"]),
        )
        for number, row in enumerate(fiction_rows(data))
    ]
    return Corpus(tuple(documents), "zh", "en")


if __name__ == "__main__":
    main()
