"""Search a book in a process of its own: a regular expression may take endless time, or memory, or both."""

from __future__ import annotations

from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.review.replace import SEARCH_SECONDS, TextReplacement, TextSearch, preview
from ape.review.store import ReviewStore
from serve.scheduler.process_calls import OutOfMemory, ProcessCalls, ProcessLimits

# Searches at once, in all books; one of each book.
MAX_PROCESSES = 2
# The search counts the time of matching; the guards on thousands of places take longer, more so on a busy machine.
LIMITS = ProcessLimits(seconds=12 * SEARCH_SECONDS, bytes=1_000_000_000)
_REMEDY = "and was stopped. Use a simpler expression."


class BookSearch:
    """Searches the books of a store."""

    def __init__(self, store_url: str) -> None:
        self._store_url = store_url
        self._processes = ProcessCalls("search", at_once=MAX_PROCESSES)

    async def preview(self, job: Job, search: TextSearch) -> list[TextReplacement]:
        """The paragraphs whose text changes. Raises InputError where the search takes too much time or memory."""
        try:
            return await self._processes.call(job.id, LIMITS, _preview, self._store_url, job, search)
        except TimeoutError as error:
            raise InputError(
                f"The search took more than {LIMITS.seconds:.0f} seconds {_REMEDY}", field="find"
            ) from error
        except OutOfMemory as error:
            raise InputError(f"The search took too much memory {_REMEDY}", field="find") from error

    def close(self) -> None:
        """Give up all searches: their calls are cancelled."""
        self._processes.close()


def _preview(store_url: str, job: Job, search: TextSearch) -> list[TextReplacement]:
    with JobStore(store_url) as store:
        return preview(ReviewStore(store), job, search)
