"""What a judge and what people say of the systems, beside the metrics and never mixed with them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.settings import Settings
from eval.compare.asked import settings_of
from eval.compare.compared import Compared
from eval.preference.vote import SHUFFLED, Vote

if TYPE_CHECKING:
    from eval.ab.trial import Trial
    from eval.judge import Judged, Pair

UNCHECKED = "The votes name systems and no texts: without their test nobody knows that these texts were read."


class Opener(Protocol):
    """Opens the engine that the settings name."""

    def __call__(self, settings: Settings, /) -> AbstractAsyncContextManager[Engine]:
        """Ready to be asked, for the length of the block."""


@dataclass(frozen=True, slots=True)
class Opinions:
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

    def added(self, compared: Compared, *, open_engine: Opener, tell: Callable[[str], None]) -> Compared:
        """The comparison with what they say; the judge's agreement with the votes is always told with it."""
        trial = self._trial(compared)
        votes = self._votes(compared, trial)
        if votes:
            from eval.compare.siding import siding
            from eval.judge import by_passage
            from eval.preference.analysis import analyse

            placed = by_passage(votes, trial) if trial else votes
            beside = {"metrics": siding(compared, placed, seed=self.seed), "texts_checked": trial is not None}
            compared = replace(compared, voted=analyse(votes, seed=self.seed).to_dict() | beside)
            if trial is None:
                tell(f"{UNCHECKED} Name it with --trial.")
        if not self.judge:
            return compared
        judged = asyncio.run(self._judged(compared, trial, open_engine)).beside(votes)
        tell(f"The judge: {judged.cost}. Beside people: {judged.agreement}.")
        # What it cost this time is not what it cost the first time, and no result.
        told = {key: value for key, value in judged.to_dict().items() if key != "cost"}
        return replace(compared, judged={"given": self.judge, **told})

    def _trial(self, compared: Compared) -> Trial | None:
        from eval.ab.file import read_trial
        from eval.ab.shown import refuse_other_texts

        if self.trial is None:
            return None
        trial = read_trial(self.trial)
        if odd := set(trial.systems) - set(compared.names):
            raise InputError(
                f"{self.trial.name} is a test of {min(odd)!r}, which is no system here. Here is: "
                f"{', '.join(compared.names)}.",
                field="trial",
            )
        ids = compared.data.ids
        texts = {one.name: dict(zip(ids, one.texts, strict=True)) for one in compared.systems}
        refuse_other_texts(trial, texts, file=self.trial.name)
        return trial

    def _votes(self, compared: Compared, trial: Trial | None) -> list[Vote]:
        from eval.ab.exchange import read_votes

        if self.votes is None:
            return []
        every = read_votes(self.votes, trial)
        known = {*compared.names, SHUFFLED}
        votes = [vote for vote in every if {vote.first, vote.second} <= known]
        if not votes:
            raise InputError(
                f"{self.votes.name} has no vote between two of these: {', '.join(compared.names)}.",
                field="votes",
            )
        return votes

    async def _judged(self, compared: Compared, trial: Trial | None, open_engine: Opener) -> Judged:
        from eval.judge import Asking, judge_pairs, pairs_in
        from eval.judge.asking import server_of

        settings = settings_of(self.judge)
        pairs = pairs_in(trial) if trial else drawn(compared, items=self.items, seed=self.seed)
        async with open_engine(settings) as engine:
            return await judge_pairs(pairs, engine, asking=Asking(server=server_of(settings)))


def drawn(compared: Compared, *, items: int, seed: int) -> list[Pair]:
    """Every two systems, in the same paragraphs: those drawn from where at least two of all say something else."""
    from eval.judge import pairs_of

    ids, texts = compared.data.ids, [system.texts for system in compared.systems]
    differing = [name for name, said in zip(ids, zip(*texts, strict=True), strict=True) if len(set(said)) > 1]
    if not differing:
        raise InputError("All systems say the same everywhere: there is nothing to judge.", field="judge")
    chosen = set(random.Random(seed).sample(differing, min(items, len(differing))))  # noqa: S311
    couples = list(combinations(compared.names, 2))
    every = pairs_of(compared.results.corpus, couples)
    # Several pairs to a paragraph, in the order of the corpus.
    names = (name for name in ids for _ in couples)
    return [pair for pair, name in zip(every, names, strict=True) if name in chosen]
