"""Opinions on compared systems: a judge's verdicts and human votes, reported apart from the metrics."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.settings import Settings
from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING, ComparisonSet
from eval.compare.system import System, do_nothing_system
from eval.compare.system_spec import model_settings
from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.candidates import REFERENCE
from eval.human.vote import SHUFFLED_SYSTEM, Vote

if TYPE_CHECKING:
    from eval.human.trial import Trial
    from eval.judge import JudgePair, PairJudgements

UNCHECKED_VOTES_NOTE = (
    "The votes name systems but not texts: without their trial it is not known whether raters read these texts."
)


class JudgeEngineOpener(Protocol):
    """Opens an engine by settings."""

    def __call__(self, settings: Settings, /) -> AbstractAsyncContextManager[Engine]:
        """Context manager of an open engine."""


@dataclass(frozen=True, slots=True)
class OpinionSources:
    """A judge and its number of paragraphs, and a file of votes with their trial.

    With a trial the judge sees exactly the items of the raters, so that its agreement with them can be computed.
    """

    judge: str = ""
    items: int = 50
    votes: Path | None = None
    trial: Path | None = None
    seed: int = 1

    @property
    def files(self) -> list[Path]:
        """All input files."""
        return [path for path in (self.votes, self.trial) if path]

    def read(self, data: ComparisonSet, names: Sequence[str], ready: Iterable[System]) -> LoadedOpinions:
        """Read and check the files before any model runs. Raises InputError.

        `names` are all systems of the comparison, `ready` those whose texts are already known.
        """
        known = tuple(dict.fromkeys((DO_NOTHING, *names, *reference_texts(data))))
        trial = self._trial(known)
        judge = model_settings(self.judge) if self.judge else None
        opinions = LoadedOpinions(self, judge, trial, self._votes(known, trial))
        opinions.require_same_texts(data, (do_nothing_system(data), *ready))
        return opinions

    def _trial(self, names: Sequence[str]) -> Trial | None:
        from eval.human.trial_file import read_trial

        if self.trial is None:
            return None
        trial = read_trial(self.trial)
        if odd := set(trial.systems) - set(names):
            raise InputError(
                f"{self.trial.name} is a trial of {min(odd)!r}, which is not compared here. "
                f"Systems: {', '.join(names)}.",
                field="trial",
            )
        return trial

    def _votes(self, names: Sequence[str], trial: Trial | None) -> list[Vote]:
        from eval.human.vote_reader import read_votes

        if self.votes is None:
            return []
        all_votes = read_votes(self.votes, trial)
        known = {*names, SHUFFLED_SYSTEM}
        votes = [vote for vote in all_votes if {vote.first, vote.second} <= known]
        if not select_pair_votes(votes):
            raise InputError(f"{self.votes.name} has no vote between two of these: {', '.join(names)}.", field="votes")
        return votes


@dataclass(frozen=True, slots=True)
class LoadedOpinions:
    """Votes, their trial, and the settings of the judge."""

    sources: OpinionSources
    judge: Settings | None
    trial: Trial | None
    votes: Sequence[Vote]

    def require_same_texts(self, data: ComparisonSet, systems: Iterable[System]) -> None:
        """Raise InputError if the trial showed another text of one of these systems."""
        from eval.human.text_check import require_same_texts

        if self.trial is None or self.sources.trial is None:
            return
        by_system = reference_texts(data) | {system.name: system.texts for system in systems}
        texts = {name: dict(zip(data.ids, own, strict=True)) for name, own in by_system.items()}
        require_same_texts(self.trial, texts, file=self.sources.trial.name)

    async def add_to(
        self, compared: SystemComparison, *, open_engine: JudgeEngineOpener
    ) -> tuple[SystemComparison, list[str]]:
        """Add votes and verdicts to a comparison; return it with notes for the user."""
        # The texts of models were not known when the trial was read.
        self.require_same_texts(compared.data, compared.systems)
        notes = []
        if self.votes:
            compared = replace(compared, voted=self._analyse_votes(compared))
            if self.trial is None:
                notes.append(UNCHECKED_VOTES_NOTE)
        if self.judge is None:
            return compared, notes
        judged = (await self._judge(compared, self.judge, open_engine)).with_agreement(self.votes)
        notes.append(f"Judge: {judged.cost}. Agreement with raters: {judged.agreement}.")
        # The cost differs when answers are cached, so it is not part of the result.
        values = {key: value for key, value in judged.to_dict().items() if key != "cost"}
        return replace(compared, judged={"given": self.sources.judge, **values}), notes

    def _analyse_votes(self, compared: SystemComparison) -> dict[str, Any]:
        from eval.compare.metric_agreement import metric_agreements
        from eval.human.analysis.analysis import analyse_votes
        from eval.human.trial_index import votes_by_passage

        votes = votes_by_passage(self.votes, self.trial) if self.trial else self.votes
        return analyse_votes(self.votes, seed=self.sources.seed).to_dict() | {
            "metrics": metric_agreements(compared, votes, seed=self.sources.seed),
            "texts_checked": self.trial is not None,
        }

    async def _judge(
        self, compared: SystemComparison, settings: Settings, open_engine: JudgeEngineOpener
    ) -> PairJudgements:
        from eval.judge import JudgeOptions, judge_pairs, pairs_from_trial
        from eval.judge.requests import server_identity

        sources = self.sources
        pairs = (
            pairs_from_trial(self.trial)
            if self.trial
            else sample_judge_pairs(compared, items=sources.items, seed=sources.seed)
        )
        async with open_engine(settings) as engine:
            return await judge_pairs(pairs, engine, options=JudgeOptions(server=server_identity(settings)))


def reference_texts(data: ComparisonSet) -> dict[str, tuple[str, ...]]:
    """The first human translation under its name in a trial; empty if the set has none."""
    documents = data.corpus.documents
    if not all(document.references for document in documents):
        return {}
    return {REFERENCE: tuple(text or "" for document in documents for text in document.references[0])}


def sample_judge_pairs(compared: SystemComparison, *, items: int, seed: int) -> list[JudgePair]:
    """Sample paragraphs in which at least two systems differ, and pair all systems in each of them."""
    from eval.judge import pairs_from_corpus

    ids, texts = compared.data.ids, [system.texts for system in compared.systems]
    differing = [name for name, own in zip(ids, zip(*texts, strict=True), strict=True) if len(set(own)) > 1]
    if not differing:
        raise InputError("All systems have the same text everywhere: there is nothing to judge.", field="judge")
    chosen = set(random.Random(seed).sample(differing, min(items, len(differing))))  # noqa: S311
    couples = list(combinations(compared.names, 2))
    pairs = pairs_from_corpus(compared.results.corpus, couples)
    # Each paragraph has one pair for each couple, in the order of the corpus.
    names = (name for name in ids for _ in couples)
    return [pair for pair, name in zip(pairs, names, strict=True) if name in chosen]
