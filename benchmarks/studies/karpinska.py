"""540 votes of translators on literary paragraphs (Karpinska and Iyyer 2023): `python -m benchmarks.studies.karpinska`.

Prints the analysis of the votes, and how often each of our metrics agrees with the translators. There are 180 passages
in 18 language pairs, each in four versions: translated sentence by sentence, by sentences with the paragraph as
context, by paragraphs, and by Google Translate. Each vote compares the third with one of the others, without ties. The
data is not in the repository: --data is the folder that contains `karpinska/all_annotations_v1.json`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.human.analysis.analysis import analyse_votes, format_analysis
from eval.human.analysis.metric_agreement import MetricAgreement, metric_agreement
from eval.human.vote import Vote
from eval.metrics.metric import Metric
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES

KARPINSKA_FILE = Path("karpinska") / "all_annotations_v1.json"
# Metrics that need no download.
METRICS = (
    "sentence-bleu", "chrf", "chrf++", "ter", "meteor", "bertscore", "comet", "cometkiwi", "bleurt", "blonde",
    "dblonde", "ltcr", "dip-consistency", "dip-connectives", "dip-pronouns", "dip-coherence", "entities", "kp",
    "zero-pronouns",
)  # fmt: skip
LEVELS = ("segment", "document", "system")
_CHOICES: Mapping[str, Any] = {"text1": "first", "text2": "second"}


@dataclass(frozen=True, slots=True)
class KarpinskaVotes:
    """The votes, and for each language pair the passages with their source, reference and four versions."""

    votes: tuple[Vote, ...]
    corpora: tuple[Corpus, ...]


def read_karpinska(path: Path) -> KarpinskaVotes:
    """Read the published file."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"The votes of Karpinska and Iyyer can't be read from {path}: {error}") from error
    passages: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        languages = row["source_lang"], row["target_lang"]
        passages.setdefault(languages, {}).setdefault(row["source"], []).append(row)
    votes, corpora = [], []
    for (source, target), by_source in passages.items():
        documents = []
        for number, same in enumerate(by_source.values(), 1):
            item = f"{source}-{target}:{number}"
            votes += [_vote(row, item, f"{source}-{target}") for row in same]
            documents.append(_document(same, item))
        corpora.append(Corpus(tuple(documents), source, target, f"{source}-{target}"))
    return KarpinskaVotes(tuple(votes), tuple(corpora))


def _vote(row: Mapping[str, Any], item: str, languages: str) -> Vote:
    if row["choice"] not in _CHOICES:
        raise InputError(f"{item}: the choice is {row['choice']!r}, and should be text1 or text2.")
    return Vote(
        item,
        languages,  # one translator to a language pair
        row["text1_tag"],
        row["text2_tag"],
        _CHOICES[row["choice"]],
        confidence="unsure" if row["difficult_choice"].startswith("YES") else "sure",
        comment=row["comment"] or "",
        book=row["book"],
        language=languages,
    )


def _document(rows: Sequence[Mapping[str, Any]], item: str) -> Document:
    outputs = {row[f"text{side}_tag"]: (row[f"text{side}"],) for row in rows for side in (1, 2)}
    first = rows[0]
    return Document(item, outputs, ((first["target"],),), (first["source"],), first["book"])


def score_versions(metric: Metric, corpora: Sequence[Corpus]) -> tuple[dict[tuple[str, str], float], str] | Unmeasured:
    """Scores by (passage, version) where the metric has one, and its signature; or why there are none."""
    scores: dict[tuple[str, str], float] = {}
    signature = ""
    reasons: dict[str, None] = {}
    for corpus in corpora:
        for system in corpus.systems:
            counted = _count_metric(metric, corpus, system)
            if isinstance(counted, Unmeasured):
                reasons[counted.why] = None
                continue
            signature = counted.signature
            for place, value in zip(counted.documents, counted.row_scores(), strict=True):
                scores[corpus.documents[place].id, system] = float(value)
    return (scores, signature) if scores else Unmeasured("; ".join(reasons) or "there is no corpus")


def _count_metric(metric: Metric, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
    """Counts for a language pair; an error for one pair does not affect the others."""
    try:
        return metric.count(corpus, system)
    except InputError as error:  # a package is missing
        return Unmeasured(str(error))


def measure_metric_agreement(
    data: KarpinskaVotes, names: Sequence[str] = METRICS, *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1
) -> Iterator[tuple[str, MetricAgreement | Unmeasured]]:
    """Agreement of each metric with the votes."""
    from eval.metrics.registry import create_metrics

    for metric in create_metrics(list(names)):
        found = score_versions(metric, data.corpora)
        if isinstance(found, Unmeasured):
            yield metric.name, found
            continue
        yield (
            metric.name,
            metric_agreement(
                data.votes,
                found[0],
                metric=metric.name,
                higher_is_better=metric.higher_is_better,
                signature=found[1],
                samples=samples,
                seed=seed,
            ),
        )


def agreement_by_level(
    votes: Sequence[Vote], scores: Mapping[tuple[str, str], float], *, higher_is_better: bool = True
) -> dict[str, tuple[float, int]]:
    """How often a metric prefers the version that people prefer, and of how many pairs, at three levels.

    A segment is a passage with one vote; a document is the ten passages of a book in a language pair; a system is a
    version of all passages. Where people are split evenly there is nothing to agree with; a metric's tie is half right.
    """
    groups: dict[str, dict[tuple[str, ...], list[tuple[int, float]]]] = {level: {} for level in LEVELS}
    for vote in votes:
        first, second = vote.pair
        ours = scores.get((vote.item, first)), scores.get((vote.item, second))
        if None in ours or any(math.isnan(one) for one in ours if one is not None):
            continue
        difference = (ours[0] or 0.0) - (ours[1] or 0.0)
        row = (1 if vote.winner == first else -1), difference if higher_is_better else -difference
        for level, key in zip(LEVELS, ((vote.item, vote.language), (vote.language,), ()), strict=True):
            groups[level].setdefault((*key, first, second), []).append(row)
    return {level: _accuracy_of_groups(found.values()) for level, found in groups.items()}


def _accuracy_of_groups(groups: Iterable[Sequence[tuple[int, float]]]) -> tuple[float, int]:
    signs = [(sum(vote for vote, _ in rows), sum(difference for _, difference in rows)) for rows in groups]
    right = [(1 + math.copysign(1, votes) * (ours > 0) - math.copysign(1, votes) * (ours < 0)) / 2
             for votes, ours in signs if votes]  # fmt: skip
    return (sum(right) / len(right) if right else math.nan), len(right)


def without_target_languages(data: KarpinskaVotes) -> KarpinskaVotes:
    """Remove the target languages: word metrics then count a Japanese clause as a word, as sacrebleu does."""
    return replace(data, corpora=tuple(replace(corpus, target_language="und") for corpus in data.corpora))


def level_lines(data: KarpinskaVotes, names: Sequence[str] = METRICS) -> Iterator[str]:
    """One line for each metric that has scores."""
    from eval.metrics.registry import create_metrics

    for metric in create_metrics(list(names)):
        found = score_versions(metric, data.corpora)
        if not isinstance(found, Unmeasured):
            levels = agreement_by_level(data.votes, found[0], higher_is_better=metric.higher_is_better)
            cells = "  ".join(f"{100 * value:5.1f} ({number})" for value, number in levels.values())
            yield f"{metric.name:<16}  {cells}"


def _format_row(name: str, found: MetricAgreement | Unmeasured) -> str:
    if isinstance(found, Unmeasured):
        return f"{name:<16}  not measured: {found.why}"
    return (
        f"{name:<16}  {found.votes:>5}  {found.metric_ties:>5}  {found.left_out:>8}  {_percent(found.accuracy):<20}  "
        f"{_number(found.tau):<21}  {found.signature}"
    )


def _percent(found: ConfidenceInterval | Unmeasured) -> str:
    if isinstance(found, Unmeasured):
        return "n/a"
    return f"{100 * found.value:.1f}% [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _number(found: ConfidenceInterval | Unmeasured) -> str:
    return "n/a" if isinstance(found, Unmeasured) else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def main() -> None:
    """Print the analysis and the table of metrics."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.karpinska", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument(
        "--metric", nargs="+", default=METRICS, help="metrics; all that score single passages by default"
    )
    parser.add_argument("--samples", type=int, default=BOOTSTRAP_SAMPLES)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        data = read_karpinska(given.data / KARPINSKA_FILE)
    except InputError as error:
        parser.error(str(error))
    print(format_analysis(analyse_votes(data.votes, samples=given.samples, seed=given.seed)))
    head = "metric            votes  equal  unscored  accuracy [95%]        τ-b [95%]              signature"
    print(f"\nAgreement of metrics with the votes\n{head}", flush=True)
    for name, found in measure_metric_agreement(data, given.metric, samples=given.samples, seed=given.seed):
        print(_format_row(name, found), flush=True)
    print(f"\nAccuracy by level: {', '.join(LEVELS)} (number of pairs)")
    for line in level_lines(data, given.metric):
        print(line, flush=True)
    for _, found in measure_metric_agreement(
        without_target_languages(data), ["chrf++"], samples=given.samples, seed=given.seed
    ):
        print(_format_row("chrf++, ja too", found), flush=True)


if __name__ == "__main__":
    main()
