"""Run the suite: BLEU on its three sets and accuracy by class, as in Tables 2 and 3 of the paper.

The paper's accuracies are by human judges; ours are by an automatic check with undecided cases. The references are
scored too: their losses are errors of the check and of the suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import metric_signature
from eval.statistics.counts import Score
from eval.suites.cai_xiong import ellipsis, renderings
from eval.suites.cai_xiong.cases import CaiXiongCase, CaiXiongVerdict, read_case_outputs, read_cases
from eval.suites.outputs import REFERENCES_LABEL, score_system
from eval.suites.suite import MAX_UNDECIDED, SuiteResult, SuiteRow, SuiteTable, accuracy_row, published_rows

LANGUAGES = ("en", "zh")
CASE_SETS = ("pronoun", "connective", "ellipsis")
_CLASSES = (
    "you (pl.)", "you (sing.)", "it (pl.)", "she (pl.)", "he (pl.)",
    "while", "as", "since", "though", "or",
)  # fmt: skip
COLUMNS = (*_CLASSES, *CASE_SETS)
# Tables 2 and 3 of the paper.
PUBLISHED_BLEU = {"thumt": (12.4, 9.8, 18.2), "CADec": (19.1, 15.3, 25.5), "bert-nmt": (13.9, 12.7, 19.1)}
PUBLISHED_ACCURACY = {
    "thumt": (8.75, 97.5, 11.25, 7.5, 91.25, 57.5, 30, 41.25, 48.75, 67.5, 49, 43.25, 10.75),
    "CADec": (22.5, 96.25, 33.75, 20, 92.5, 48.75, 53.75, 56.25, 57.5, 83.75, 53, 60, 2.25),
    "bert-nmt": (18.75, 93.75, 38.75, 0, 90, 53.75, 31.25, 41.25, 46.25, 75, 48.25, 49.5, 5.75),
}


@dataclass(frozen=True, slots=True)
class CaiXiongSuite:
    """The suite of Cai & Xiong (2020), English to Chinese."""

    name: str = "cai-xiong"
    paper: str = "Cai & Xiong 2020, A Test Suite for Evaluating Discourse Phenomena in Document-level NMT"
    data_source: str = (
        "Its authors publish it under CC BY 4.0 (https://aclanthology.org/2020.iwdp-1.3). Convert it to JSON lines "
        "with id, phenomenon (pronoun, connective or ellipsis), word, expected, source, reference and "
        "reference_context."
    )

    def run(self, data: Path, systems: Mapping[str, Path]) -> SuiteResult:
        """Score the outputs: one line for each case, or JSONL with "id" and "output"."""
        cases = read_cases(data)
        if REFERENCES_LABEL in systems:
            raise InputError(f"The system name {REFERENCES_LABEL!r} is reserved for a row of the suite.")
        outputs = {name: read_case_outputs(path, cases) for name, path in systems.items()}
        return score_cases(cases, outputs, suite=self.name, paper=self.paper)


def score_cases(
    cases: Sequence[CaiXiongCase], systems: Mapping[str, Sequence[str]], *, suite: str = "cai-xiong", paper: str = ""
) -> SuiteResult:
    """Both tables, for outputs in memory."""
    outputs = {**systems, REFERENCES_LABEL: [case.reference for case in cases]}
    verdicts = {
        name: [judge_case(case, text) for case, text in zip(cases, texts, strict=True)]
        for name, texts in outputs.items()
    }
    bleu, signature = _bleu_rows(cases, systems)
    rows = [_accuracy(name, cases, found) for name, found in verdicts.items()]
    tables = (
        SuiteTable("BLEU (as in Table 2)", CASE_SETS, (*bleu, *published_rows(PUBLISHED_BLEU, CASE_SETS))),
        SuiteTable(
            "Accuracy in % (as in Table 3)",
            COLUMNS,
            (*rows, *published_rows(PUBLISHED_ACCURACY, COLUMNS)),
            "Ours is by accepted renderings, from all undecided cases wrong to all right; a single value, of the "
            f"decided cases, is given where at most {MAX_UNDECIDED:.0%} are undecided. The published figures are of "
            "human judges.",
        ),
    )
    signatures = {
        "BLEU": signature,
        "accuracy": metric_signature("cai-xiong", check="renderings", max_undecided=MAX_UNDECIDED),
    }
    return SuiteResult(suite, tables, signatures, paper, tuple(_case_records(cases, outputs, verdicts)))


def judge_case(case: CaiXiongCase, output: str) -> CaiXiongVerdict:
    """Whether the output has what the case tests."""
    if case.phenomenon == "ellipsis":
        return ellipsis.judge_ellipsis(case, output)
    return renderings.judge_rendering(case, output)


def _accuracy(name: str, cases: Sequence[CaiXiongCase], verdicts: Sequence[CaiXiongVerdict]) -> SuiteRow:
    counts: dict[str, Counter[CaiXiongVerdict]] = {column: Counter() for column in COLUMNS}
    for case, verdict in zip(cases, verdicts, strict=True):
        for column in {case.label, case.phenomenon}:
            counts[column][verdict] += 1
    return accuracy_row(
        name, {column: (count["right"], count["wrong"], count["undecided"]) for column, count in counts.items()}
    )


def _bleu_rows(cases: Sequence[CaiXiongCase], systems: Mapping[str, Sequence[str]]) -> tuple[list[SuiteRow], str]:
    from eval.metrics.sacrebleu import Bleu

    cells: dict[str, dict[str, float | None]] = {name: {} for name in systems}
    signature = ""
    for kind in CASE_SETS:
        places = [place for place, case in enumerate(cases) if case.phenomenon == kind]
        if not places:
            continue
        corpus = _corpus(kind, cases, systems, places)
        for name in systems:
            found = score_system(corpus, Bleu(), name)
            cells[name][kind] = found.value if isinstance(found, Score) else None
            signature = found.signature
    return [SuiteRow(name, found) for name, found in cells.items()], signature


def _corpus(
    kind: str, cases: Sequence[CaiXiongCase], systems: Mapping[str, Sequence[str]], places: Sequence[int]
) -> Corpus:
    outputs = {name: tuple(texts[place] for place in places) for name, texts in systems.items()}
    references = (tuple(cases[place].reference for place in places),)
    return Corpus((Document(kind, outputs, references),), "en", "zh")


def _case_records(
    cases: Sequence[CaiXiongCase],
    outputs: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, Sequence[CaiXiongVerdict]],
) -> Iterator[Mapping[str, Any]]:
    for name, texts in outputs.items():
        for case, text, verdict in zip(cases, texts, verdicts[name], strict=True):
            yield {
                "system": name,
                "id": case.id,
                "class": case.label,
                "expected": case.expected,
                "source": case.source,
                "output": text,
                "verdict": verdict,
            }
