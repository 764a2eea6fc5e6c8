"""What a tuned model is worth: its post-edits beside the MT as it was, by language pair, with signatures and p-values.

Scores are sacrebleu's on all passages of a pair at once; p-values are those of its paired bootstrap against doing
nothing. Whatever a system leaves as it is counts as the MT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ape.errors import InputError
from ape.gate import without_loops
from ape.guards import check
from ape.postedit import Options, post_edit
from ape.verdict import Severity
from finetune.drafting import Drafts, Replay
from finetune.example import Example

BASELINE = "do nothing"
ALL = "all"
METRICS = ("TER", "BLEU", "chrF")
SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """A score of a system on a pair, how it differs from doing nothing, and how likely that is chance."""

    metric: str
    score: float
    difference: float
    p_value: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A system on a language pair: on so many passages, of as many as there are of the pair."""

    pair: str
    system: str
    passages: int
    of: int
    edited: float
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The table, and the signature of each metric."""

    rows: tuple[Row, ...]
    signatures: Mapping[str, str]

    def beside(self, other: Results) -> Results:
        """With the rows of other systems, pair by pair; on fewer passages they have a baseline of their own."""
        more = [row for row in other.rows if row not in self.rows]
        pairs = dict.fromkeys(row.pair for row in (*self.rows, *more))
        rows = [row for pair in pairs for row in (*self.rows, *more) if row.pair == pair]
        return Results(tuple(rows), self.signatures)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"signatures": dict(self.signatures), "rows": [asdict(row) for row in self.rows]}


async def edited(drafts: Drafts, examples: Sequence[Example]) -> list[str]:
    """The post-edits of drafts made before, with gate and guards as when served, one attempt each."""
    replay = Replay(drafts, examples)
    options = Options(max_attempts=1)
    texts = []
    for example in examples:
        try:
            result = await post_edit(example.segment, replay, options=options)
            texts.append(result.post_edit.strip())
        except InputError:  # a passage that can't be worked on stays as it is
            texts.append(example.mt)
    return texts


def unguarded(drafts: Drafts, examples: Sequence[Example]) -> list[str]:
    """The drafts as they came; an empty one too."""
    return [drafts.draft(example).text for example in examples]


def guarded(drafts: Drafts, examples: Sequence[Example]) -> list[str]:
    """The drafts with guards and without the gate."""
    texts = []
    for example in examples:
        draft = drafts.draft(example)
        findings = check(example.segment, draft)
        refused = any(finding.severity is Severity.REJECT for finding in findings)
        texts.append(example.mt if refused else draft.text)
    return texts


def said_once_only(examples: Sequence[Example]) -> list[str]:
    """The MT with its own loops said once: what the gate's rule does by itself, without any model."""
    return [without_loops(example.mt, example.segment) for example in examples]


def score(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[str]],
    *,
    of: Sequence[Example] | None = None,
    samples: int = SAMPLES,
) -> Results:
    """The table of all systems, on each pair and on all together.

    `of` is what the examples were taken from, where they are not all there are.
    """
    whole = _by_pair(examples if of is None else of)
    rows: list[Row] = []
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
    return Results(tuple(rows), signatures)


def _by_pair(examples: Sequence[Example]) -> dict[str, list[int]]:
    """Where those of each pair are, and of all where there is more than one."""
    pairs: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        pairs.setdefault(example.pair, []).append(at)
    return pairs | {ALL: list(range(len(examples)))} if len(pairs) > 1 else pairs


def _score_pair(
    pair: str, examples: Sequence[Example], systems: Mapping[str, Sequence[str]], of: int, samples: int
) -> tuple[list[Row], Mapping[str, str]]:
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
    named: list[tuple[str, Sequence[str]]] = [(BASELINE, baseline), *systems.items()]
    test = PairedTest(named, metrics, references=None, test_type="bs", n_samples=samples)
    signatures, table = test()
    columns: dict[str, Any] = {_short(column): cells for column, cells in table.items() if column != "System"}
    rows = []
    for at, (name, texts) in enumerate(named):
        cells = tuple(
            Cell(
                metric,
                float(columns[metric][at].score),
                float(columns[metric][at].score - columns[metric][0].score),
                _p_value(columns[metric][at], columns[metric][0]),
            )
            for metric in METRICS
        )
        changed = sum(text != mt for text, mt in zip(texts, baseline, strict=True))
        rows.append(Row(pair, name, len(examples), of, changed / len(examples), cells))
    return rows, {_short(name): str(told) for name, told in signatures.items()}


def _p_value(cell: Any, baseline: Any) -> float | None:
    """As sacrebleu has it, but for equal scores: in no resample is their difference above 0, and it says p = 0."""
    if cell.p_value is None:
        return None
    return 1.0 if cell.score == baseline.score else float(cell.p_value)


def _short(column: str) -> str:
    return {"chrF2": "chrF"}.get(column, column)
