"""The review store: decisions on the edits of a book, each one a transaction with author and time.

A decision names the version of the paragraph that its author saw. Where the paragraph has changed since, nothing is
stored and ReviewConflict has the present state, so that two people, or a stale tab, never overwrite each other.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from ape.errors import Conflict, InputError, UnknownJob
from ape.jobs.job import Job
from ape.jobs.plan_update import lock_job, upsert
from ape.jobs.redo import replace_result, restore_result
from ape.jobs.store import JobStore
from ape.jobs.tables import DatabaseTime, jobs, paragraphs, reviews
from ape.passage.result import PostEdit
from ape.review import log
from ape.review.decisions import ReviewAction, ReviewDecision, next_state, refuse_skipped
from ape.review.filters import ReviewFilter
from ape.review.log import NewLogEntry, ReviewLogEntry
from ape.review.paragraph import ReviewConflict, ReviewParagraph, read_reviewed, select_reviewed
from ape.review.state import ReviewState

_BATCH = 500
MAX_NAME = 80
# How many paragraphs one decision may touch.
MAX_ITEMS = 20_000
# How much one step may add to the history, which has the state before and after each decision. Many short decisions on
# one long paragraph would take thousands of times their own length.
MAX_STEP_CHARACTERS = 4_000_000
MAX_STEP_CHARACTERS_OF_PARAGRAPH = 10_000


class ReviewStore:
    """The reviews of the jobs in a store. Safe to call from any thread."""

    def __init__(self, store: JobStore) -> None:
        self.jobs = store
        self._database = store.database

    # Looking.

    def paragraphs(
        self, job: str, wanted: ReviewFilter | None = None, *, after: int = -1, with_comments: bool = True
    ) -> Iterator[ReviewParagraph]:
        """Iterate over the paragraphs after a position that the filter lets pass, in book order, in batches."""
        wanted = wanted or ReviewFilter()
        query = select_reviewed(job).limit(_BATCH)
        if wanted.chapter is not None:
            query = query.where(paragraphs.c.chapter == wanted.chapter)
        while True:
            with self._database.read_transaction() as connection:
                rows = connection.execute(query.where(paragraphs.c.position > after)).mappings().all()
                found = [one for one in map(read_reviewed, rows) if wanted.lets_pass_row(one)]
                if with_comments:
                    found = _with_comments(connection, job, found)
            yield from (one for one in found if wanted.lets_pass(one))
            if len(rows) < _BATCH:
                return
            after = rows[-1]["position"]

    def paragraph(self, job: str, id: str) -> ReviewParagraph:
        """Read one paragraph."""
        with self._database.read_transaction() as connection:
            return _read(connection, job, [id])[id]

    def some_paragraphs(self, job: str, ids: Sequence[str]) -> list[ReviewParagraph]:
        """Read these paragraphs."""
        with self._database.read_transaction() as connection:
            return list(_read(connection, job, ids).values())

    def history(self, job: str, id: str) -> list[ReviewLogEntry]:
        """The decisions on a paragraph, newest first."""
        with self._database.read_transaction() as connection:
            return log.entries_of_paragraph(connection, job, id)

    def changes(self, job: str, *, after: int, limit: int = 1000) -> list[ReviewLogEntry]:
        """The decisions on a book after one, oldest first: what other people did meanwhile."""
        with self._database.read_transaction() as connection:
            return log.entries_after(connection, job, after, limit)

    def last_change(self, job: str) -> int:
        """The number of the last decision on a book, 0 if there is none."""
        with self._database.read_transaction() as connection:
            return log.last_entry(connection, job)

    # Deciding.

    def decide(self, job: Job, decisions: Sequence[ReviewDecision], *, author: str) -> tuple[ReviewParagraph, ...]:
        """Store decisions together: all of them, as one step to undo, or none.

        Raises ReviewConflict where a paragraph has changed since its version. A comment needs no version.
        """
        _check_author(author)
        if not decisions or len(decisions) > MAX_ITEMS:
            raise InputError(f"Send between 1 and {MAX_ITEMS:,} decisions.", field="decisions")
        ids = [one.paragraph for one in decisions]
        with self._database.read_transaction() as connection:
            known = _read(connection, job.id, ids)
        while True:
            refuse_stale(known, decisions)
            # Before the lock: comparing long texts takes seconds, and on SQLite every other writer would wait.
            step = _plan_step(known, decisions, job)
            with self._database.write_transaction() as connection:
                _lock(connection, job.id)
                present = _read(connection, job.id, ids)
                if all(present[name].version == one.version for name, one in known.items()):
                    _store(connection, job.id, author, known, step.states)
                    log.add_entries(connection, job.id, uuid.uuid4().hex, author, step.entries)
                    return tuple(_read(connection, job.id, list(known)).values())
            known = present  # somebody was quicker: a conflict, but for comments

    def undo(self, job: Job, *, author: str, batch: str | None = None) -> tuple[ReviewParagraph, ...]:
        """Undo the author's last step, or the one named.

        Raises Conflict where there is none, and ReviewConflict where somebody has changed its paragraphs since.
        """
        with self._database.write_transaction() as connection:
            lock_job(connection, job.id)
            entries = log.batch_to_undo(connection, job.id, author, batch)
            if not entries:
                raise Conflict("There is nothing of yours to undo.")
            known = _read(connection, job.id, [one.paragraph for one in entries])
            changing = [one for one in entries if one.action is not ReviewAction.COMMENT]
            _refuse_changed(known, changing)
            states = {name: one.state for name, one in known.items()}
            states |= {one.paragraph: ReviewState.from_json(one.before) for one in reversed(changing)}
            undone = [
                NewLogEntry(known[name], ReviewAction.UNDO, state, {"batch": entries[0].batch})
                for name, state in states.items()
            ]
            for one in entries:
                if one.action is ReviewAction.REDO:
                    restore_result(connection, job.id, one.paragraph, one.result)
            _store(connection, job.id, author, known, states)
            log.mark_undone(connection, job.id, entries[0].batch)
            log.add_entries(connection, job.id, uuid.uuid4().hex, author, undone)
            return tuple(_read(connection, job.id, list(known)).values())

    def redo(
        self, job: Job, id: str, version: str, result: PostEdit, *, author: str, instruction: str, seconds: float
    ) -> ReviewParagraph:
        """Give the paragraph a new result; the old one, and the decisions on it, stay as history.

        Raises ReviewConflict where somebody decided about the paragraph while the model worked.
        """
        _check_author(author)
        with self._database.write_transaction() as connection:
            lock_job(connection, job.id)
            known = _read(connection, job.id, [id])
            refuse_skipped(known[id])
            refuse_stale(known, [ReviewDecision(id, version, ReviewAction.REDO)])
            replace_result(connection, job.id, id, result, seconds=seconds)
            detail = {"instruction": instruction, "text": known[id].text, "result": result.id}
            _store(connection, job.id, author, known, {id: ReviewState()})
            entry = NewLogEntry(known[id], ReviewAction.REDO, ReviewState(), detail)
            log.add_entries(connection, job.id, uuid.uuid4().hex, author, [entry])
            return _read(connection, job.id, [id])[id]


@dataclass(frozen=True, slots=True)
class _Step:
    """What decisions that belong together change: the states after them, and their entries in the log."""

    states: dict[str, ReviewState]
    entries: list[NewLogEntry]


def _plan_step(known: dict[str, ReviewParagraph], decisions: Sequence[ReviewDecision], job: Job) -> _Step:
    step = _Step({name: one.state for name, one in known.items()}, [])
    room = MAX_STEP_CHARACTERS + MAX_STEP_CHARACTERS_OF_PARAGRAPH * len(known)
    for one in decisions:
        now = replace(known[one.paragraph], state=step.states[one.paragraph])
        after = next_state(now, one, job)
        step.states[one.paragraph] = after
        step.entries.append(NewLogEntry(now, one.action, after, _detail(now, one)))
        room -= step.entries[-1].length
        if room < 0:
            raise InputError(
                "So many decisions on long paragraphs can't be stored as one step. Send them in several.",
                field="decisions",
            )
    return step


def _check_author(author: str) -> None:
    if not author.strip() or len(author) > MAX_NAME or not author.isprintable():
        raise InputError(f"The name of a reviewer is 1 to {MAX_NAME} printable characters.", field="author")


def _lock(connection: Connection, job: str) -> None:
    """Let one person at a time write to the reviews of a job; workers are not held up."""
    query = select(jobs.c.id).where(jobs.c.id == job).with_for_update(key_share=True)
    if connection.scalar(query) is None:
        raise UnknownJob(f"There is no job {job!r}.")


def _read(connection: Connection, job: str, ids: Sequence[str]) -> dict[str, ReviewParagraph]:
    """The paragraphs by id, in the order of the ids."""
    found: dict[str, ReviewParagraph] = {}
    for start in range(0, len(ids), _BATCH):
        query = select_reviewed(job).where(paragraphs.c.id.in_(ids[start : start + _BATCH]))
        found |= {one.id: one for one in map(read_reviewed, connection.execute(query).mappings())}
    if missing := [name for name in ids if name not in found]:
        raise InputError(f"The book has no paragraph {missing[0]!r}.", field="paragraph")
    return {one.id: one for one in _with_comments(connection, job, [found[name] for name in dict.fromkeys(ids)])}


def _with_comments(connection: Connection, job: str, found: Sequence[ReviewParagraph]) -> list[ReviewParagraph]:
    comments = log.comments_of(connection, job, [one.id for one in found])
    return [replace(one, comments=tuple(comments[one.id])) if one.id in comments else one for one in found]


def refuse_stale(known: dict[str, ReviewParagraph], decisions: Iterable[ReviewDecision]) -> None:
    """Raise ReviewConflict where a decision speaks of an earlier version of its paragraph."""
    stale = {
        one.paragraph: one.version
        for one in decisions
        if one.action is not ReviewAction.COMMENT and one.version != known[one.paragraph].version
    }
    if not stale:
        return
    present = tuple(known[name] for name in stale)
    first = present[0]
    if stale[first.id].partition("-")[2] != first.version.partition("-")[2]:
        what = "was edited again by the model"
    else:
        what = f"was changed by {first.author} at {first.updated:%H:%M:%S} UTC"
    others = f" So were {len(present) - 1} others." if len(present) > 1 else ""
    raise ReviewConflict(
        f"This paragraph {what} after you read it.{others} Nothing was stored; look at it again, then decide.", present
    )


def _refuse_changed(known: dict[str, ReviewParagraph], entries: Sequence[ReviewLogEntry]) -> None:
    """Raise where a paragraph is no longer as the entries left it."""
    left = {one.paragraph: one for one in entries}
    changed = []
    for name, one in left.items():
        result = one.detail["result"] if one.action is ReviewAction.REDO else one.result
        if known[name].state.to_json() != one.after or known[name].result_id != result:
            changed.append(known[name])
    if changed:
        who = changed[0].author or "the model"
        raise ReviewConflict(f"{who} has changed a paragraph of that step since. It can't be undone.", tuple(changed))


def _store(
    connection: Connection, job: str, author: str, known: dict[str, ReviewParagraph], states: dict[str, ReviewState]
) -> None:
    """Write the states that changed, each with the next version."""
    rows = [
        {"job": job, "paragraph": name, "version": known[name].number + 1, "state": state.to_json(), "author": author}
        for name, state in states.items()
        if state != known[name].state
    ]
    if rows:
        entry = upsert(connection, reviews).values({"updated": DatabaseTime()})
        new = {name: entry.excluded[name] for name in ("version", "state", "author", "updated")}
        connection.execute(entry.on_conflict_do_update(index_elements=["job", "paragraph"], set_=new), rows)


def _detail(known: ReviewParagraph, decision: ReviewDecision) -> dict[str, object]:
    """What the decision was about, for readers of the history."""
    edits = known.edits
    detail: dict[str, object] = {}
    if decision.action in (ReviewAction.ACCEPT, ReviewAction.REJECT, ReviewAction.REOPEN, ReviewAction.CHANGE):
        numbers = decision.edits or (range(len(edits)) if decision.action is not ReviewAction.CHANGE else ())
        detail["edits"] = [
            {"kind": edits[n].edit.kind, "before": edits[n].edit.before, "after": edits[n].edit.after} for n in numbers
        ]
    if decision.text:
        detail["text"] = decision.text
    if decision.finding:
        detail["finding"] = decision.finding
    return detail
