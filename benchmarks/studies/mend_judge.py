"""Can the model tell from one reading which translations need no repair?

    python -m benchmarks.studies.mend_judge --data DIR --scores scores.jsonl [--number 40] [--model FILE.gguf]

A passage that is good as it is should cost the reading of its translation and no decoding. For `--number` rows a pair
of MLQE-PE, train to fit on and dev to test on, the prompt is read with the MT as its answer
(benchmarks/studies/prompt_scorer.py). A logistic model of six features of these values is fitted to whether people
changed at most a tenth of the words (HTER). Printed are its area under the curve on dev, and precision and recall there
at thresholds chosen on train. Scores are kept in a file as they arrive, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ape.files.rows import read_jsonl
from ape.models.profile import read_profile
from ape.models.resolver import resolve_model
from ape.passage.segment import TokenLogprobs
from ape.settings import load_settings
from ape.text.languages import language_name
from benchmarks.data_folder import find_data_folder
from benchmarks.studies.corpora import CorpusRows, mlqe_rows
from benchmarks.studies.prompt_scorer import PromptScorer
from prompts import DEFAULT_FORMAT, Question, prompt_format

PAIRS = ("et-en", "ro-en", "ru-en", "ne-en", "si-en")
SPLITS = ("train", "dev")
GOOD_HTER = 0.1
PRECISIONS = (0.6, 0.7, 0.8, 0.9)
_RIDGE = 1.0
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The features of a translation and whether people left it nearly alone."""

    split: str
    pair: str
    features: tuple[float, ...]
    is_good: bool


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """On dev: area under the curve, share of good rows; precision, recall and share skipped by wanted precision."""

    area: float
    good: float
    at_precision: dict[float, tuple[float, float, float]]


def mend_features(tokens: Sequence[TokenLogprobs]) -> tuple[float, ...]:
    """How the model sees a translation: likelihood, surprise, and where it would have written something else."""
    own = [max(token.logprob, -10.0) for token in tokens]
    margins = [min(token.alternatives[0][1] - token.logprob, 10.0) for token in tokens]
    return (
        sum(own) / len(own),
        min(own),
        sum(margins) / len(margins),
        max(margins),
        sum(margin > 0 for margin in margins) / len(margins),
        math.log(len(tokens)),
    )


def evaluate(rows: Sequence[ScoredRow]) -> JudgeResult:
    """Fit on train, choose thresholds there, and test on dev."""
    train, dev = ([row for row in rows if row.split == split] for split in SPLITS)
    inputs: Matrix = np.array([row.features for row in train])
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9

    def design(some: Sequence[ScoredRow]) -> Matrix:
        values = (np.array([row.features for row in some]) - mean) / scale
        return np.column_stack([np.ones(len(some)), values])

    weights = _fit(design(train), np.array([row.is_good for row in train], dtype=float))
    fitted, unseen = design(train) @ weights, design(dev) @ weights
    is_good = np.array([row.is_good for row in dev])
    found = {}
    for wanted in PRECISIONS:
        threshold = _threshold(fitted, np.array([row.is_good for row in train]), wanted)
        skipped = unseen >= threshold
        hits = int((skipped & is_good).sum())
        precision = hits / int(skipped.sum()) if skipped.any() else math.nan
        found[wanted] = (precision, hits / max(int(is_good.sum()), 1), float(skipped.mean()))
    return JudgeResult(_area(unseen, is_good), float(is_good.mean()), found)


def _fit(inputs: Matrix, good: Matrix) -> Matrix:
    """Ridge-regularised logistic regression by Newton's method; the bias is free."""
    weights = np.zeros(inputs.shape[1])
    ridge = np.diag([0.0] + [_RIDGE] * (inputs.shape[1] - 1))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        gradient = inputs.T @ (good - chance) - ridge @ weights
        curvature = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + ridge
        weights += np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
    return weights


def _threshold(scores: Matrix, good: NDArray[np.bool_], wanted: float) -> float:
    """The lowest score above which the wanted share is good; infinity if there is none."""
    order = np.argsort(-scores)
    precision = np.cumsum(good[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(precision >= wanted)
    return float(scores[order[enough[-1]]]) if len(enough) else math.inf


def _area(scores: Matrix, good: NDArray[np.bool_]) -> float:
    """The chance that a good translation has a higher score than another one."""
    above = scores[good][:, None] - scores[~good][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean()) if above.size else math.nan


def score_rows(data: Path, number: int, path: Path, file: Path, prompt_name: str) -> Iterator[ScoredRow]:
    """Score rows of each pair and split, at even distances, except those that the file has."""
    known = {row["id"]: row["tokens"] for _, row in read_jsonl(path)} if path.exists() else {}
    scorer: PromptScorer | None = None
    style = prompt_format(prompt_name)
    with path.open("a", encoding="utf-8") as output:
        for pair in PAIRS:
            for split in SPLITS:
                for row in _evenly(mlqe_rows(data, pair, split), number):
                    if row["id"] not in known:
                        scorer = scorer or PromptScorer(file, window=4096, threads=1)
                        source_language, target_language = map(language_name, pair.split("-"))
                        prompt = style.render(Question(row["source"], row["mt"], source_language, target_language))
                        tokens = scorer.score(scorer.render(prompt), prompt.unedited_reply)
                        known[row["id"]] = [[token.logprob, token.alternatives[0][1]] for token in tokens]
                        print(json.dumps({"id": row["id"], "tokens": known[row["id"]]}), file=output, flush=True)
                    tokens = tuple(TokenLogprobs("", own, (("", best),)) for own, best in known[row["id"]])
                    yield ScoredRow(split, pair, mend_features(tokens), row["hter"] <= GOOD_HTER)


def _evenly(rows: CorpusRows, number: int) -> CorpusRows:
    return [rows[at * len(rows) // number] for at in range(min(number, len(rows)))]


def main() -> None:
    """Score the rows and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=find_data_folder())
    parser.add_argument("--number", type=int, default=40, help="rows a pair and split")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--scores", type=Path, required=True, help="file that keeps the scores")
    flags = parser.parse_args()
    profile = read_profile(flags.model)
    name = profile.format if profile else DEFAULT_FORMAT.name
    file = resolve_model(flags.model, cache=load_settings().cache)
    rows = list(score_rows(flags.data, flags.number, flags.scores, file, name))
    result = evaluate(rows)
    print(f"{len(rows)} rows; of those of dev {result.good:.0%} are good. Area under the curve: {result.area:.2f}")
    for wanted, (precision, recall, skipped) in result.at_precision.items():
        print(f"precision {wanted} on train: {precision:.2f} on dev, recall {recall:.2f}, {skipped:.0%} skipped")


if __name__ == "__main__":
    main()
