"""Score post-edits against doing nothing, by language pair, with signatures and p-values.

Scores are sacrebleu's corpus scores; p-values are those of its paired bootstrap against the MT. To add a metric, add it
to METRICS and to `_sacrebleu_metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ape.edits.conventions import keep_conventions, tokenise_like
from ape.edits.filter import collapse_passage_loops
from ape.errors import InputError
from ape.guards import check_draft
from ape.passage.options import Options
from ape.passage.result import Severity
from ape.post_editor import post_edit
from finetune.data.example import Example
from finetune.scoring.drafts import DraftSet, ReplayEngine

BASELINE_NAME = "do nothing"
ALL_PAIRS = "all"
METRICS = ("TER", "BLEU", "chrF")
SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class MetricCell:
    """Score of a system on a pair, with the difference from doing nothing and its p-value."""

    metric: str
    score: float
    difference: float
    p_value: float | None


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Scores of a system on `passages` of the `of` passages of a language pair."""

    pair: str
    system: str
    passages: int
    of: int
    edited: float
    cells: tuple[MetricCell, ...]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Rows by language pair and system, and the signature of each metric."""

    rows: tuple[SystemRow, ...]
    signatures: Mapping[str, str]

    def joined_with(self, other: ScoreTable) -> ScoreTable:
        """Add the rows of another table, pair by pair, with its baseline if that is on fewer passages."""
        more = [row for row in other.rows if row not in self.rows]
        pairs = dict.fromkeys(row.pair for row in (*self.rows, *more))
        rows = [row for pair in pairs for row in (*self.rows, *more) if row.pair == pair]
        return ScoreTable(tuple(rows), self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON data."""
        return {"signatures": dict(self.signatures), "rows": [asdict(row) for row in self.rows]}


async def post_edits_as_served(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """Post-edits from the drafts with edit filter and guards as in serving, with one attempt each."""
    replay = ReplayEngine(drafts, examples)
    options = Options(max_attempts=1)
    texts = []
    for example in examples:
        try:
            result = await post_edit(example.segment, replay, options=options)
            texts.append(result.post_edit.strip())
        except InputError:  # a passage that is refused stays as it is
            texts.append(example.mt)
    return texts


def drafts_without_guards(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The drafts, even if empty: tokenised as the MT is, so that "word." for "word ." is no error, else unchanged."""
    return [tokenise_like(example.mt.strip(), drafts.draft(example).text) for example in examples]


def drafts_with_guards(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The drafts with conventions and guards and without the edit filter."""
    texts = []
    for example in examples:
        draft = drafts.draft(example)
        kept = keep_conventions(example.mt.strip(), draft.text, language=example.target_language)
        draft = replace(draft, text=kept)
        findings = check_draft(example.segment, draft)
        rejected = any(finding.severity is Severity.REJECT for finding in findings)
        texts.append(example.mt if rejected else draft.text)
    return texts


def mt_without_loops(examples: Sequence[Example]) -> list[str]:
    """The MT with its repetition loops collapsed: the rule of the edit filter without a model."""
    return [collapse_passage_loops(example.mt, example.segment) for example in examples]


def score_systems(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[str]],
    *,
    of: Sequence[Example] | None = None,
    samples: int = SAMPLES,
) -> ScoreTable:
    """Score all systems on each pair and on all pairs together.

    `of` is the set that the examples are a sample of, if they are one.
    """
    population = _indices_by_pair(examples if of is None else of)
    rows: list[SystemRow] = []
    signatures: Mapping[str, str] = {}
    for pair, indices in _indices_by_pair(examples).items():
        found, signatures = _score_pair(
            pair,
            [examples[at] for at in indices],
            {name: [texts[at] for at in indices] for name, texts in systems.items()},
            len(population[pair]),
            samples,
        )
        rows += found
    return ScoreTable(tuple(rows), signatures)


def _indices_by_pair(examples: Sequence[Example]) -> dict[str, list[int]]:
    """Indices of the examples of each pair, and of all if there are several pairs."""
    pairs: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        pairs.setdefault(example.pair, []).append(at)
    return pairs | {ALL_PAIRS: list(range(len(examples)))} if len(pairs) > 1 else pairs


def _score_pair(
    pair: str, examples: Sequence[Example], systems: Mapping[str, Sequence[str]], of: int, samples: int
) -> tuple[list[SystemRow], Mapping[str, str]]:
    from sacrebleu.significance import PairedTest

    baseline = [example.mt for example in examples]
    metrics = _sacrebleu_metrics([example.human for example in examples])
    named: list[tuple[str, Sequence[str]]] = [(BASELINE_NAME, baseline), *systems.items()]
    test = PairedTest(named, metrics, references=None, test_type="bs", n_samples=samples)
    signatures, table = test()
    columns: dict[str, Any] = {_short(column): cells for column, cells in table.items() if column != "System"}
    rows = []
    for at, (name, texts) in enumerate(named):
        cells = tuple(
            MetricCell(
                metric,
                float(columns[metric][at].score),
                float(columns[metric][at].score - columns[metric][0].score),
                _p_value(columns[metric][at], columns[metric][0]),
            )
            for metric in METRICS
        )
        changed = sum(text != mt for text, mt in zip(texts, baseline, strict=True))
        rows.append(SystemRow(pair, name, len(examples), of, changed / len(examples), cells))
    return rows, {_short(name): str(signature) for name, signature in signatures.items()}


def _sacrebleu_metrics(humans: Sequence[str]) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {
        "TER": TER(references=[humans]),
        # Sentence corpora are often tokenised; `force` turns off the warning.
        "BLEU": BLEU(references=[humans], force=True),
        "chrF": CHRF(references=[humans]),
    }


def _p_value(cell: Any, baseline: Any) -> float | None:
    """sacrebleu's p-value, but 1 for equal scores, for which it gives 0 as no resample differs."""
    if cell.p_value is None:
        return None
    return 1.0 if cell.score == baseline.score else float(cell.p_value)


def _short(column: str) -> str:
    return {"chrF2": "chrF"}.get(column, column)
