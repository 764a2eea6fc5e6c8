"""Blind tests in the database of the job store: what is shown, who takes part, and their votes.

A vote is on the disk before anyone is told, and there is one for an item and rater. All of it may be called from any
thread, by many processes at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, func, select, update

from ape.errors import Conflict, InputError, UnknownTrial
from ape.jobs.database import Database
from ape.jobs.plan_update import upsert
from ape.jobs.schema import migrate
from ape.jobs.tables import DatabaseTime, raters, trials, votes
from eval.human.rater_links import is_complete_token, new_token, token_hash
from eval.human.trial import Trial
from eval.human.trial_file import trial_from_json, trial_to_json
from eval.human.trial_index import TrialIndex
from eval.human.vote import Vote

VoteSaveResult: TypeAlias = Literal["new", "same", "replaced"]
_KEPT = ("item", "rater", "first", "second", "choice", "comment", "at")


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """One who takes part, and how far."""

    name: str
    votes: int
    invited: bool
    """Whether there is a link for this rater."""


@dataclass(frozen=True, slots=True)
class RaterLink:
    """Whom a link is for."""

    trial: str
    rater: str


class TrialStore:
    """Trials, their raters and votes. `url` is a file, or "sqlite:///…", or "postgresql://…", as of the job store."""

    def __init__(self, url: str, *, patience: float = 30.0) -> None:
        self._database = Database(url, patience=patience)
        # They never change, and a vote is checked against its trial.
        self._known: dict[str, TrialIndex] = {}
        try:
            migrate(self._database)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Trials.

    def add(self, trial: Trial) -> None:
        """Keep the trial; one that is here already stays with its votes."""
        row = {"id": trial.id, "name": trial.name, "content": trial_to_json(trial), "created": DatabaseTime()}
        with self._database.writing() as connection:
            connection.execute(upsert(connection, trials).values(row).on_conflict_do_nothing())

    def trial(self, id: str) -> Trial:
        """The trial. Raises UnknownTrial where there is none."""
        return self._know(id).trial

    def trials(self) -> list[Trial]:
        """All of them, the newest first."""
        query = select(trials.c.id).order_by(trials.c.created.desc(), trials.c.id)
        with self._database.reading() as connection:
            ids = list(connection.scalars(query))
        return [self.trial(one) for one in ids]

    def remove(self, id: str) -> None:
        """Forget the trial with its raters and votes."""
        with self._database.writing() as connection:
            connection.execute(delete(trials).where(trials.c.id == id))
        self._known.pop(id, None)

    # Raters.

    def invite(self, trial: str, rater: str) -> str:
        """A new secret for the link of this rater. A link that there was before leads nowhere from now on."""
        self.trial(trial)
        if not rater.strip():
            raise InputError("A rater needs a name.", field="rater")
        token = new_token()
        with self._database.writing() as connection:
            _enter(connection, trial, rater)
            where = (raters.c.trial == trial) & (raters.c.name == rater)
            connection.execute(update(raters).where(where).values(token_hash=token_hash(token)))
        return token

    def link(self, token: str) -> RaterLink:
        """Whom the link is for. Raises UnknownTrial for one that we did not give, or not any more."""
        query = select(raters.c.trial, raters.c.name).where(raters.c.token_hash == token_hash(token))
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none() if is_complete_token(token) else None
        if row is None:
            raise UnknownTrial(
                "This link is not one that we gave, or a newer one has replaced it. Copy it whole, or ask for another.",
                field="link",
            )
        return RaterLink(*row)

    def raters(self, trial: str) -> list[RaterProgress]:
        """Those who were invited or have voted, in the order in which they came."""
        counted = func.count(votes.c.item)
        query = (
            select(raters.c.name, counted, raters.c.token_hash.is_not(None))
            .outerjoin(votes, (votes.c.trial == raters.c.trial) & (votes.c.rater == raters.c.name))
            .where(raters.c.trial == trial)
            .group_by(raters.c.name, raters.c.token_hash, raters.c.created)
            .order_by(raters.c.created, raters.c.name)
        )
        with self._database.reading() as connection:
            return [
                RaterProgress(name, count, bool(invited))
                for name, count, invited in connection.execute(query)
            ]

    # Votes.

    def save(self, trial: str, vote: Vote, *, replace: bool = False) -> Vote:
        """Keep the vote, and give back what is kept. The same vote again changes nothing.

        Raises InputError for an item that is not in the trial, and Conflict for another vote on the same item, unless
        it is to `replace` the first.
        """
        vote = self._know(trial).complete(vote)
        with self._database.writing() as connection:
            return self._keep(connection, trial, vote, replace=replace)[1]

    def save_all(
        self, trial: str, votes: Sequence[Vote], *, replace: bool = False, places: Sequence[str] = ()
    ) -> Counter[VoteSaveResult]:
        """Keep all of them or, where one can't be kept, none; and count what became of them.

        `places` are where each of them stands, for what is raised.
        """
        known = self._know(trial)
        whole = [known.complete(vote) for vote in votes]
        found: Counter[VoteSaveResult] = Counter()
        with self._database.writing() as connection:
            for vote, place in zip(whole, places or [""] * len(whole), strict=True):
                try:
                    found[self._keep(connection, trial, vote, replace=replace)[0]] += 1
                except Conflict as error:
                    raise Conflict(f"{place}: {error}" if place else str(error), field="item") from error
        return found

    def _keep(
        self, connection: Connection, trial: str, vote: Vote, *, replace: bool
    ) -> tuple[VoteSaveResult, Vote]:
        row = _columns(trial, vote)
        _enter(connection, trial, vote.rater)
        entry = upsert(connection, votes).values(row | {"created": DatabaseTime()}).on_conflict_do_nothing()
        if connection.scalar(entry.returning(votes.c.item)) is not None:
            return "new", vote
        there = self._of_row(connection.execute(select(votes).where(*_is(row))).mappings().one())
        if _says_the_same(there, vote):
            return "same", there
        if not replace:
            raise Conflict(
                f"{vote.rater} has voted on item {vote.item} already, and otherwise. To change a vote, say "
                "--replace: the last one counts.",
                field="item",
            )
        connection.execute(update(votes).where(*_is(row)).values(row | {"created": DatabaseTime()}))
        return "replaced", vote

    def votes(self, trial: str, *, rater: str | None = None) -> list[Vote]:
        """The votes in the order in which they were kept, of all or of one rater."""
        self.trial(trial)
        query = (
            select(votes).where(votes.c.trial == trial).order_by(votes.c.created, votes.c.rater, votes.c.item)
        )
        if rater is not None:
            query = query.where(votes.c.rater == rater)
        with self._database.reading() as connection:
            return [self._of_row(row) for row in connection.execute(query).mappings()]

    def _know(self, id: str) -> TrialIndex:
        if id not in self._known:
            with self._database.reading() as connection:
                content = connection.scalar(select(trials.c.content).where(trials.c.id == id))
            if content is None:
                raise UnknownTrial(f"There is no trial {id!r} here.", field="trial")
            self._known[id] = TrialIndex(trial_from_json(content, place=f"The trial {id}"))
        return self._known[id]

    def _of_row(self, row: RowMapping) -> Vote:
        vote = Vote(
            **{name: row[name] for name in _KEPT},
            confidence=row["confidence"] or None,
            believed_human=row["believed_human"] or None,
            errors={side: tuple(kinds) for side, kinds in json.loads(row["errors"]).items()},
        )
        return self._know(row["trial"]).complete(vote)


def _enter(connection: Connection, trial: str, rater: str) -> None:
    row = {"trial": trial, "name": rater, "created": DatabaseTime()}
    connection.execute(upsert(connection, raters).values(row).on_conflict_do_nothing())


def _columns(trial: str, vote: Vote) -> dict[str, Any]:
    return {
        "trial": trial,
        **{name: getattr(vote, name) for name in _KEPT},
        "confidence": vote.confidence or "",
        "believed_human": vote.believed_human or "",
        "errors": json.dumps({side: list(kinds) for side, kinds in vote.errors.items()}),
    }


def _is(row: Mapping[str, Any]) -> tuple[ColumnElement[bool], ...]:
    """The one vote of a rater on an item."""
    return tuple(column == row[column.name] for column in (votes.c.trial, votes.c.item, votes.c.rater))


def _says_the_same(one: Vote, other: Vote) -> bool:
    """Whether they differ in nothing but the time."""
    return replace(one, at="") == replace(other, at="")
