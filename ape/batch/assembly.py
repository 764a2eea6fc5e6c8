"""Put the books of a batch together from its results, and see what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow.compute as pc
import pyarrow.parquet as pq

from ape.batch.folder import QUARANTINE, RESULTS, BatchFolder
from ape.batch.manifest import BatchBook, book_from_json
from ape.batch.planning import BatchPlan
from ape.batch.records import StretchProgress
from ape.batch.rows import FinishedParagraph, recipe_from_json, results_from_json
from ape.errors import ApeError, Conflict
from ape.files.hashing import hash_input
from ape.jobs.batch_results import BookResults, store_results
from ape.jobs.job import JobRecipe
from ape.jobs.planning import open_files
from ape.jobs.run import EditBookRequest, finish_job
from ape.jobs.store import JobStore
from ape.jobs.summary import BookSummary, summarise_job


@dataclass(frozen=True, slots=True)
class PlannedBook:
    """A book of the plan, with the ids of its stretches."""

    key: str
    book: BatchBook
    recipe: JobRecipe
    names: str
    engine: str
    source_hash: str
    mt_hash: str
    stretches: tuple[str, ...]


@dataclass(slots=True)
class BookStatus:
    """How far a book is: stretches in the results, in quarantine, and neither."""

    book: PlannedBook
    finished: int = 0
    quarantined: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """Stretches that are not done yet."""
        return len(self.book.stretches) - self.finished - len(self.quarantined)


@dataclass(frozen=True, slots=True)
class AssembledBook:
    """A book that was written, or the reason why not."""

    book: PlannedBook
    summary: BookSummary | None = None
    problem: str = ""


def planned_books(folder: BatchFolder, plan: BatchPlan) -> Iterator[PlannedBook]:
    """The books of the plan."""
    file = pq.ParquetFile(folder.path(plan.book_file), filesystem=folder.files)
    for batch in file.iter_batches(batch_size=200):
        for row in batch.to_pylist():
            book, recipe = book_from_json(row.pop("book")), recipe_from_json(row.pop("recipe"))
            yield PlannedBook(book=book, recipe=recipe, **{**row, "stretches": tuple(row["stretches"])})


def book_statuses(folder: BatchFolder, plan: BatchPlan) -> Iterator[BookStatus]:
    """How far each book is."""
    committed, kept_apart = folder.committed_ids(), set(folder.ids(QUARANTINE))
    for book in planned_books(folder, plan):
        done = [one for one in book.stretches if one in committed]
        failed = [one for one in book.stretches if one in kept_apart and one not in committed]
        yield BookStatus(book, len(done), failed)


def assemble_books(
    folder: BatchFolder, plan: BatchPlan, store: JobStore, *, overwrite: bool = False
) -> Iterator[AssembledBook]:
    """Write each book whose stretches are all finished or in quarantine; the others are named with what is missing.

    The books become jobs of the store, so that they can be reviewed, reported and exported like any other.
    """
    files = _files_by_book(folder)
    for status in book_statuses(folder, plan):
        book = status.book
        if status.missing:
            count = f"{status.missing:,} of {len(book.stretches):,} stretches"
            yield AssembledBook(book, problem=f"{count} are not done. Run the batch again.")
            continue
        try:
            summary = _assemble(folder, status, files.get(book.key, ()), store, overwrite=overwrite)
        except ApeError as error:
            yield AssembledBook(book, problem=str(error))
        else:
            yield AssembledBook(book, summary)


def _files_by_book(folder: BatchFolder) -> Mapping[str, Sequence[str]]:
    """The files with results of each book; a book's stretches are next to each other, so they are few."""
    found = defaultdict[str, list[str]](list)
    for name in folder.committed_results():
        for key in dict.fromkeys(folder.column(f"{RESULTS}/{name}", "book")):
            found[key].append(name)
    return found


def _assemble(
    folder: BatchFolder, status: BookStatus, files: Sequence[str], store: JobStore, *, overwrite: bool
) -> BookSummary:
    planned = status.book
    book = planned.book
    if (hash_input(book.files.source), hash_input(book.files.mt)) != (planned.source_hash, planned.mt_hash):
        raise Conflict("Its files have changed since it was planned. Plan the batch again; what is the same is kept.")
    opened = open_files(book.files, source_language=book.source_language, target_language=book.target_language)
    names = str(folder.read_json(f"names/{planned.names}.json") or "") if planned.names else ""
    results = _results(folder, status, files)
    job = store_results(store, opened, planned.recipe, results, output=book.output, engine=planned.engine, names=names)
    request = EditBookRequest(book.files, book.output, planned.recipe, overwrite=overwrite)
    return summarise_job(store, finish_job(store, job, request), seconds=0.0)


def _results(folder: BatchFolder, status: BookStatus, files: Sequence[str]) -> BookResults:
    """The results of a book, and why paragraphs of it have none."""
    wanted, results = set(status.book.stretches), list[FinishedParagraph]()
    for name in files:
        table = pq.read_table(folder.path(f"{RESULTS}/{name}"), filesystem=folder.files)
        for row in table.filter(pc.field("book") == status.book.key).to_pylist():
            if row["id"] in wanted:
                wanted.discard(row["id"])
                results += results_from_json(row["results"])
    reasons: dict[str, str] = {}
    for stretch in status.quarantined:
        progress = StretchProgress.read(folder, f"{QUARANTINE}/{stretch}.json") or StretchProgress()
        results += progress.results.values()
        reasons |= progress.quarantined
    return BookResults({(one.id, one.fingerprint): (one.result, one.seconds) for one in results}, reasons)
