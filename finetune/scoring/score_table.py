"""What a tuned model is worth: its post-edits beside the MT as it was, by language pair, with signatures and p-values.

Scores are sacrebleu's on all passages of a pair at once; p-values are those of its paired bootstrap against doing
nothing. Whatever a system leaves as it is counts as the MT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

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
    """A score of a system on a pair, how it differs from doing nothing, and how likely that is chance."""

    metric: str
    score: float
    difference: float
    p_value: float | None


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system on a language pair: on so many passages, of as many as there are of the pair."""

    pair: str
    system: str
    passages: int
    of: int
    edited: float
    cells: tuple[MetricCell, ...]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The table, and the signature of each metric."""

    rows: tuple[SystemRow, ...]
    signatures: Mapping[str, str]

    def beside(self, other: ScoreTable) -> ScoreTable:
        """With the rows of other systems, pair by pair; on fewer passages they have a baseline of their own."""
        more = [row for row in other.rows if row not in self.rows]
        pairs = dict.fromkeys(row.pair for row in (*self.rows, *more))
        rows = [row for pair in pairs for row in (*self.rows, *more) if row.pair == pair]
        return ScoreTable(tuple(rows), self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"signatures": dict(self.signatures), "rows": [asdict(row) for row in self.rows]}


async def post_edits_as_served(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The post-edits of drafts made before, with gate and guards as when served, one attempt each."""
    replay = ReplayEngine(drafts, examples)
    options = Options(max_attempts=1)
    texts = []
    for example in examples:
        try:
            result = await post_edit(example.segment, replay, options=options)
            texts.append(result.post_edit.strip())
        except InputError:  # a passage that can't be worked on stays as it is
            texts.append(example.mt)
    return texts


def drafts_without_guards(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The drafts as they came; an empty one too."""
    return [drafts.draft(example).text for example in examples]


def drafts_with_guards(drafts: DraftSet, examples: Sequence[Example]) -> list[str]:
    """The drafts with guards and without the gate."""
    texts = []
    for example in examples:
        draft = drafts.draft(example)
        findings = check_draft(example.segment, draft)
        refused = any(finding.severity is Severity.REJECT for finding in findings)
        texts.append(example.mt if refused else draft.text)
    return texts


def mt_without_loops(examples: Sequence[Example]) -> list[str]:
    """The MT with its own loops said once: what the gate's rule does by itself, without any model."""
    return [collapse_passage_loops(example.mt, example.segment) for example in examples]


def score_systems(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[str]],
    *,
    of: Sequence[Example] | None = None,
    samples: int = SAMPLES,
) -> ScoreTable:
    """The table of all systems, on each pair and on all together.

    `of` is what the examples were taken from, where they are not all there are.
    """
    whole = _by_pair(examples if of is None else of)
    rows: list[SystemRow] = []
    signatures: Mapping[str, str] = {}
    for pair, places in _by_pair(examples).items():
        found, signatures = _score_pair(
            pair,
            [examples[at] for at in places],
            {name: [texts[at] for at in places] for name, texts in systems.items()},
            len(whole[pair]),
            samples,
        )
        rows += found
    return ScoreTable(tuple(rows), signatures)


def _by_pair(examples: Sequence[Example]) -> dict[str, list[int]]:
    """Where those of each pair are, and of all where there is more than one."""
    pairs: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        pairs.setdefault(example.pair, []).append(at)
    return pairs | {ALL_PAIRS: list(range(len(examples)))} if len(pairs) > 1 else pairs


def _score_pair(
    pair: str, examples: Sequence[Example], systems: Mapping[str, Sequence[str]], of: int, samples: int
) -> tuple[list[SystemRow], Mapping[str, str]]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER
    from sacrebleu.significance import PairedTest

    humans = [[example.human for example in examples]]
    baseline = [example.mt for example in examples]
    metrics = {
        "TER": TER(references=humans),
        # Corpora of sentences are often tokenised by design, and it would warn of that.
        "BLEU": BLEU(references=humans, force=True),
        "chrF": CHRF(references=humans),
    }
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
    return rows, {_short(name): str(told) for name, told in signatures.items()}


def _p_value(cell: Any, baseline: Any) -> float | None:
    """As sacrebleu has it, but for equal scores: in no resample is their difference above 0, and it says p = 0."""
    if cell.p_value is None:
        return None
    return 1.0 if cell.score == baseline.score else float(cell.p_value)


def _short(column: str) -> str:
    return {"chrF2": "chrF"}.get(column, column)
