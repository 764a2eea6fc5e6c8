"""Read the names that a client sends, in a process of its own: to look thousands of them up in a book takes long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ape.errors import InputError
from ape.jobs.book_names import BookNames
from ape.jobs.job import Job
from ape.jobs.names_update import complete_ledger, names_from_ledger
from ape.jobs.store import JobStore
from ape.ledger.entity import LedgerParagraph
from ape.ledger.files.formats import parse_names
from ape.ledger.files.json_ledger import ledger_to_json
from ape.settings import Settings
from ape.text.characters import UNREADABLE_CHARACTER
from serve.scheduler.process_calls import OutOfMemory, ProcessCalls, ProcessLimits

# Lists of names read at once, of all owners; one of each owner.
MAX_PROCESSES = 2


class NamesReader:
    """Reads names for the jobs of a store, within the time and memory of planning a book."""

    def __init__(self, store_url: str, settings: Settings) -> None:
        self._store_url = store_url
        self._limits = ProcessLimits(settings.plan_seconds, settings.plan_memory)
        self._processes = ProcessCalls("names", at_once=MAX_PROCESSES)

    async def read(self, job: Job, text: str, name: str) -> BookNames:
        """Parse the text of a file of that name. Raises InputError, also where a limit is reached."""
        try:
            return await self._processes.call(job.owner, self._limits, _read, self._store_url, job, text, name)
        except (TimeoutError, OutOfMemory) as error:
            raise InputError(
                "The names take too long, or too much memory, to be looked up in the book. Send fewer.", field="names"
            ) from error

    def close(self) -> None:
        """Give up all lists that are being read: their calls are cancelled."""
        self._processes.close()


def _read(store_url: str, job: Job, text: str, name: str) -> BookNames:
    with JobStore(store_url) as store:
        return parse_job_names(store, job, text, name)


def parse_job_names(store: JobStore, job: Job, text: str, name: str) -> BookNames:
    """The names that were sent, completed from the job's paragraphs if they do not list their renderings."""
    recipe = job.recipe
    ledger = parse_names(
        text, name, source_language=recipe.source_language, target_language=recipe.target_language
    )  # fmt: skip
    if any(map(UNREADABLE_CHARACTER.search, _texts(ledger_to_json(ledger)))):
        raise InputError("The names contain characters that are not text.", field="names")
    if any(one.target and not one.variants for one in ledger.entities):
        rows = (row.planned for row in store.rows(job.id))
        ledger = complete_ledger(ledger, [LedgerParagraph(one.id, one.source, one.mt) for one in rows if not one.skip])
    return names_from_ledger(ledger)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)
