"""Storage of trials, raters and votes in the job store's database.

A vote is durable when `save` returns, and there is one for each item and rater. Safe for concurrent threads and
processes.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, func, select, update

from ape.errors import Conflict, InputError, UnknownTrial
from ape.files.hashing import hash_text
from ape.jobs.database import Database
from ape.jobs.plan_update import upsert
from ape.jobs.schema import migrate
from ape.jobs.tables import DatabaseTime, raters, trials, votes
from eval.human.span import ErrorSpan
from eval.human.trial import Trial
from eval.human.trial_file import trial_from_json, trial_to_json
from eval.human.trial_index import TrialIndex
from eval.human.vote import Vote

VoteSaveResult: TypeAlias = Literal["new", "same", "replaced"]
# 22 letters, digits, - and _: 128 bits.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_COLUMNS = ("item", "rater", "first", "second", "choice", "comment", "at")


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """A rater and the number of votes so far."""

    name: str
    votes: int
    invited: bool
    """Whether the rater has a link."""


@dataclass(frozen=True, slots=True)
class RaterLink:
    """The trial and rater of a link."""

    trial: str
    rater: str


class TrialStore:
    """Trials, raters and votes. `url` is a file, "sqlite:///…" or "postgresql://…", as for the job store."""

    def __init__(self, url: str, *, timeout_seconds: float = 30.0) -> None:
        self._database = Database(url, timeout_seconds=timeout_seconds)
        # Trials never change, and each vote is checked against its trial.
        self._indices: dict[str, TrialIndex] = {}
        try:
            migrate(self._database)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Trials.

    def add(self, trial: Trial) -> None:
        """Store a trial; an existing one keeps its votes."""
        row = {"id": trial.id, "name": trial.name, "content": trial_to_json(trial), "created": DatabaseTime()}
        with self._database.write_transaction() as connection:
            connection.execute(upsert(connection, trials).values(row).on_conflict_do_nothing())

    def trial(self, id: str) -> Trial:
        """Load a trial. Raises UnknownTrial."""
        return self._index(id).trial

    def trials(self) -> list[Trial]:
        """All trials, newest first."""
        query = select(trials.c.id).order_by(trials.c.created.desc(), trials.c.id)
        with self._database.read_transaction() as connection:
            ids = list(connection.scalars(query))
        return [self.trial(trial_id) for trial_id in ids]

    def remove(self, id: str) -> None:
        """Delete a trial with its raters and votes."""
        with self._database.write_transaction() as connection:
            connection.execute(delete(trials).where(trials.c.id == id))
        self._indices.pop(id, None)

    # Raters.

    def invite(self, trial: str, rater: str) -> str:
        """Create the token of a new link for a rater; an earlier link becomes invalid."""
        self.trial(trial)
        if not rater.strip():
            raise InputError("A rater needs a name.", field="rater")
        token = secrets.token_urlsafe(16)
        with self._database.write_transaction() as connection:
            _add_rater(connection, trial, rater)
            where = (raters.c.trial == trial) & (raters.c.name == rater)
            connection.execute(update(raters).where(where).values(token_hash=_token_hash(token)))
        return token

    def find_link(self, token: str) -> RaterLink:
        """Find the trial and rater of a link. Raises UnknownTrial for an unknown or replaced link."""
        query = select(raters.c.trial, raters.c.name).where(raters.c.token_hash == _token_hash(token))
        with self._database.read_transaction() as connection:
            row = connection.execute(query).one_or_none() if _TOKEN.fullmatch(token) else None
        if row is None:
            raise UnknownTrial(
                "This link is unknown, or a newer one has replaced it. Copy the complete link, or ask for a new one.",
                field="link",
            )
        return RaterLink(*row)

    def raters(self, trial: str) -> list[RaterProgress]:
        """Raters who were invited or have voted, in order of creation."""
        counted = func.count(votes.c.item)
        query = (
            select(raters.c.name, counted, raters.c.token_hash.is_not(None))
            .outerjoin(votes, (votes.c.trial == raters.c.trial) & (votes.c.rater == raters.c.name))
            .where(raters.c.trial == trial)
            .group_by(raters.c.name, raters.c.token_hash, raters.c.created)
            .order_by(raters.c.created, raters.c.name)
        )
        with self._database.read_transaction() as connection:
            return [RaterProgress(name, count, bool(invited)) for name, count, invited in connection.execute(query)]

    # Votes.

    def save(self, trial: str, vote: Vote, *, replace: bool = False) -> Vote:
        """Store a vote and return the stored one; storing the same vote again changes nothing.

        Raises InputError for an unknown item, and Conflict for a different vote on the same item unless `replace`.
        """
        vote = self._index(trial).complete_vote(vote)
        with self._database.write_transaction() as connection:
            return self._store(connection, trial, vote, replace=replace)[1]

    def save_all(
        self, trial: str, votes: Sequence[Vote], *, replace: bool = False, places: Sequence[str] = ()
    ) -> Counter[VoteSaveResult]:
        """Store all votes or, if one can't be stored, none; count the results.

        `places` name the origin of each vote in errors.
        """
        index = self._index(trial)
        complete = [index.complete_vote(vote) for vote in votes]
        if any(vote.order == "unknown" for vote in complete):
            raise InputError(
                "Votes whose order of display is unknown can't be stored with a trial. Analyse their file directly.",
                field="votes",
            )
        results: Counter[VoteSaveResult] = Counter()
        with self._database.write_transaction() as connection:
            for vote, place in zip(complete, places or [""] * len(complete), strict=True):
                try:
                    results[self._store(connection, trial, vote, replace=replace)[0]] += 1
                except Conflict as error:
                    raise Conflict(f"{place}: {error}" if place else str(error), field=error.field) from error
        return results

    def _store(self, connection: Connection, trial: str, vote: Vote, *, replace: bool) -> tuple[VoteSaveResult, Vote]:
        row = _columns(trial, vote)
        _add_rater(connection, trial, vote.rater)
        entry = upsert(connection, votes).values(row | {"created": DatabaseTime()}).on_conflict_do_nothing()
        if connection.scalar(entry.returning(votes.c.item)) is not None:
            return "new", vote
        existing = self._vote_from_row(connection.execute(select(votes).where(*_matches(row))).mappings().one())
        if _same_answer(existing, vote):
            return "same", existing
        if not replace:
            raise Conflict(
                f"{vote.rater} has already voted differently on item {vote.item}. Replace the earlier vote "
                "explicitly to change it.",
                field="replace",
            )
        connection.execute(update(votes).where(*_matches(row)).values(row | {"created": DatabaseTime()}))
        return "replaced", vote

    def votes(self, trial: str, *, rater: str | None = None) -> list[Vote]:
        """The votes of all raters or of one, in the order of storage; those of one millisecond by rater and item."""
        self.trial(trial)
        query = select(votes).where(votes.c.trial == trial).order_by(votes.c.created, votes.c.rater, votes.c.item)
        if rater is not None:
            query = query.where(votes.c.rater == rater)
        with self._database.read_transaction() as connection:
            return [self._vote_from_row(row) for row in connection.execute(query).mappings()]

    def _index(self, id: str) -> TrialIndex:
        if id not in self._indices:
            with self._database.read_transaction() as connection:
                content = connection.scalar(select(trials.c.content).where(trials.c.id == id))
            if content is None:
                raise UnknownTrial(f"There is no trial {id!r}.", field="trial")
            self._indices[id] = TrialIndex(trial_from_json(content, place=f"The trial {id}"))
        return self._indices[id]

    def _vote_from_row(self, row: RowMapping) -> Vote:
        vote = Vote(
            **{name: row[name] for name in _COLUMNS},
            confidence=row["confidence"] or None,
            believed_human=row["believed_human"] or None,
            errors={side: tuple(kinds) for side, kinds in json.loads(row["errors"]).items()},
            scores=json.loads(row["scores"]),
            spans={
                side: tuple(ErrorSpan(**span) for span in spans) for side, spans in json.loads(row["spans"]).items()
            },
        )
        return self._index(row["trial"]).complete_vote(vote)


def _token_hash(token: str) -> str:
    """Hash of a link's token; the token itself is not stored. It is random, so it needs no salt and no slow hash."""
    return hash_text(token, errors="surrogatepass")


def _add_rater(connection: Connection, trial: str, rater: str) -> None:
    row = {"trial": trial, "name": rater, "created": DatabaseTime()}
    connection.execute(upsert(connection, raters).values(row).on_conflict_do_nothing())


def _columns(trial: str, vote: Vote) -> dict[str, Any]:
    return {
        "trial": trial,
        **{name: getattr(vote, name) for name in _COLUMNS},
        "confidence": vote.confidence or "",
        "believed_human": vote.believed_human or "",
        "errors": json.dumps({side: list(kinds) for side, kinds in vote.errors.items()}),
        "scores": json.dumps(dict(vote.scores)),
        "spans": json.dumps({side: [asdict(span) for span in spans] for side, spans in vote.spans.items()}),
    }


def _matches(row: Mapping[str, Any]) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the vote of a rater on an item."""
    return tuple(column == row[column.name] for column in (votes.c.trial, votes.c.item, votes.c.rater))


def _same_answer(one: Vote, other: Vote) -> bool:
    """Whether two votes differ at most in their time."""
    return replace(one, at="") == replace(other, at="")
