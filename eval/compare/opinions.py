"""What a judge and what people say of the systems, beside the metrics and never mixed with them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
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
    "The votes name systems and no texts: without their test nobody knows that these texts were read."
)


class JudgeEngineOpener(Protocol):
    """Opens the engine that the settings name."""

    def __call__(self, settings: Settings, /) -> AbstractAsyncContextManager[Engine]:
        """Ready to be asked, for the length of the block."""


@dataclass(frozen=True, slots=True)
class OpinionSources:
    """Who is asked: a judge as typed, for so many paragraphs; and a file of votes, with the trial they were given in.

    With a trial the judge sees what the raters saw, and no other paragraphs: then its agreement with them is known.
    """

    judge: str = ""
    items: int = 50
    votes: Path | None = None
    trial: Path | None = None
    seed: int = 1

    @property
    def files(self) -> list[Path]:
        """All that are read."""
        return [path for path in (self.votes, self.trial) if path]

    def read(self, data: ComparisonSet, names: Sequence[str], ready: Iterable[System]) -> LoadedOpinions:
        """What was given, checked as far as it can be before any model is asked. Raises InputError.

        `names` are all systems that will be compared, and `ready` those whose texts are known by now.
        """
        known = tuple(dict.fromkeys((DO_NOTHING, *names, *reference_texts(data))))
        trial = self._trial(known)
        judge = model_settings(self.judge) if self.judge else None
        heard = LoadedOpinions(self, judge, trial, self._votes(known, trial))
        heard.refuse_other_texts(data, (do_nothing_system(data), *ready))
        return heard

    def _trial(self, names: Sequence[str]) -> Trial | None:
        from eval.human.trial_file import read_trial

        if self.trial is None:
            return None
        trial = read_trial(self.trial)
        if odd := set(trial.systems) - set(names):
            raise InputError(
                f"{self.trial.name} is a test of {min(odd)!r}, which is no system here. Here is: {', '.join(names)}.",
                field="trial",
            )
        return trial

    def _votes(self, names: Sequence[str], trial: Trial | None) -> list[Vote]:
        from eval.human.vote_reader import read_votes

        if self.votes is None:
            return []
        every = read_votes(self.votes, trial)
        known = {*names, SHUFFLED_SYSTEM}
        votes = [vote for vote in every if {vote.first, vote.second} <= known]
        if not select_pair_votes(votes):
            raise InputError(
                f"{self.votes.name} has no vote between two of these: {', '.join(names)}.", field="votes"
            )
        return votes


@dataclass(frozen=True, slots=True)
class LoadedOpinions:
    """The votes and their trial as they were read, and the settings of the judge."""

    asked: OpinionSources
    judge: Settings | None
    trial: Trial | None
    votes: Sequence[Vote]

    def refuse_other_texts(self, data: ComparisonSet, systems: Iterable[System]) -> None:
        """Raises InputError where the trial showed another text of one of these systems."""
        from eval.human.text_check import require_same_texts

        if self.trial is None or self.asked.trial is None:
            return
        said = reference_texts(data) | {one.name: one.texts for one in systems}
        texts = {name: dict(zip(data.ids, every, strict=True)) for name, every in said.items()}
        require_same_texts(self.trial, texts, file=self.asked.trial.name)

    def added(
        self, compared: SystemComparison, *, open_engine: JudgeEngineOpener, tell: Callable[[str], None]
    ) -> SystemComparison:
        """The comparison with what they say; the judge's agreement with the votes is always told with it."""
        # What models would say was not known when the trial was read.
        self.refuse_other_texts(compared.data, compared.systems)
        if self.votes:
            compared = replace(compared, voted=self._voted(compared))
            if self.trial is None:
                tell(f"{UNCHECKED_VOTES_NOTE} Name it with --trial.")
        if self.judge is None:
            return compared
        judged = asyncio.run(self._judged(compared, self.judge, open_engine)).beside(self.votes)
        tell(f"The judge: {judged.cost}. Beside people: {judged.agreement}.")
        # What it cost this time is not what it cost the first time, and no result.
        told = {key: value for key, value in judged.to_dict().items() if key != "cost"}
        return replace(compared, judged={"given": self.asked.judge, **told})

    def _voted(self, compared: SystemComparison) -> dict[str, Any]:
        from eval.compare.metric_agreement import metric_agreements
        from eval.human.analysis.analysis import analyse_votes
        from eval.judge import votes_by_passage

        placed = votes_by_passage(self.votes, self.trial) if self.trial else self.votes
        sided = metric_agreements(compared, placed, seed=self.asked.seed)
        beside = {"metrics": sided, "texts_checked": self.trial is not None}
        return analyse_votes(self.votes, seed=self.asked.seed).to_dict() | beside

    async def _judged(
        self, compared: SystemComparison, settings: Settings, open_engine: JudgeEngineOpener
    ) -> PairJudgements:
        from eval.judge import JudgeOptions, judge_pairs, pairs_from_trial
        from eval.judge.requests import server_identity

        asked = self.asked
        pairs = (
            pairs_from_trial(self.trial)
            if self.trial
            else sample_judge_pairs(compared, items=asked.items, seed=asked.seed)
        )
        async with open_engine(settings) as engine:
            return await judge_pairs(pairs, engine, asking=JudgeOptions(server=server_identity(settings)))


def reference_texts(data: ComparisonSet) -> dict[str, tuple[str, ...]]:
    """The translation that people may have read beside the systems, by its name in a trial, if the set has one."""
    documents = data.corpus.documents
    if not all(one.references for one in documents):
        return {}
    return {REFERENCE: tuple(text or "" for one in documents for text in one.references[0])}


def sample_judge_pairs(compared: SystemComparison, *, items: int, seed: int) -> list[JudgePair]:
    """Every two systems, in the same paragraphs: those drawn from where at least two of all say something else."""
    from eval.judge import pairs_from_corpus

    ids, texts = compared.data.ids, [system.texts for system in compared.systems]
    differing = [name for name, said in zip(ids, zip(*texts, strict=True), strict=True) if len(set(said)) > 1]
    if not differing:
        raise InputError("All systems say the same everywhere: there is nothing to judge.", field="judge")
    chosen = set(random.Random(seed).sample(differing, min(items, len(differing))))  # noqa: S311
    couples = list(combinations(compared.names, 2))
    every = pairs_from_corpus(compared.results.corpus, couples)
    # Several pairs to a paragraph, in the order of the corpus.
    names = (name for name in ids for _ in couples)
    return [pair for pair, name in zip(every, names, strict=True) if name in chosen]
