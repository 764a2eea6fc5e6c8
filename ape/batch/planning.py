"""Plan a batch: read each book, pair it, and write its stretches; one book is in memory at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ape.batch.folder import PLAN, BatchFolder
from ape.batch.manifest import BatchBook, Manifest, ManifestProblem, book_to_json, refuse_problems
from ape.batch.models import ModelLookup
from ape.batch.rows import STRETCH_SCHEMA, BatchStretch, stretch_id
from ape.engines.protocol import Model
from ape.errors import ApeError, EngineError, InputError, StoreError
from ape.files.hashing import hash_input, hash_text
from ape.jobs.book_names import BookNames
from ape.jobs.job import JobRecipe
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.names_update import NamesChoice, resolve_names, with_fingerprints
from ape.jobs.output import check_output_suffix
from ape.jobs.planning import complete_recipe, open_files, planned_paragraphs
from ape.jobs.result_rows import count_words
from ape.jobs.run import describe_engine
from ape.settings import Settings

# Stretches in a file of the plan. Ray Data reads a file as one block, which an actor edits as a whole.
STRETCHES_PER_FILE = 16
_BOOK_TEXTS = ("key", "book", "recipe", "names", "engine", "source_hash", "mt_hash")
BOOK_SCHEMA = pa.schema([*((name, pa.string()) for name in _BOOK_TEXTS), ("stretches", pa.list_(pa.string()))])


@dataclass(slots=True)
class BatchPlan:
    """A plan in numbers. `problems` are the books that were left out."""

    version: str
    books: int = 0
    stretches: int = 0
    paragraphs: int = 0
    words: int = 0
    context: int = 0
    has_names: bool = False
    adapters: dict[str, int] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def stretch_folder(self) -> str:
        """Where its stretches are."""
        return f"plans/{self.version}/stretches"

    @property
    def book_file(self) -> str:
        """Where its books are."""
        return f"plans/{self.version}/books.parquet"


def read_plan(folder: BatchFolder) -> BatchPlan:
    """The current plan of a batch; InputError if there is none."""
    stored = folder.read_json(PLAN)
    if stored is None:
        raise InputError(f"{folder.place} has no plan. Make it first: ape batch plan MANIFEST -o {folder.place}")
    return BatchPlan(**stored)


async def plan_batch(
    folder: BatchFolder, manifest: Manifest, recipe: JobRecipe, settings: Settings, models: ModelLookup, *, skip: bool
) -> BatchPlan:
    """Write the plan of all books, and make it the current one. Results of earlier plans stay.

    A book that can't be edited is a problem of the manifest; without `skip` it makes the plan fail at its end.
    """
    plan = BatchPlan(uuid.uuid4().hex[:12], context=recipe.context)
    folder.create_folder(plan.stretch_folder)
    problems = list(manifest.problems)
    served: dict[str, Model | ApeError] = {}
    try:
        with _BookWriter(folder, plan) as books, _StretchWriter(folder, plan) as stretches:
            for book in manifest.books:
                try:
                    model = await _model(book.adapter, models, served)
                    planned = _plan_book(folder, book, recipe, model)
                    stretches.write(one for one in planned.stretches if _is_waiting(one))
                except (EngineError, StoreError):
                    raise
                except ApeError as error:
                    problems.append(ManifestProblem(book.line, str(error)))
                    continue
                books.write(book, planned, describe_engine(settings, book.adapter))
                plan.adapters[book.adapter] = plan.adapters.get(book.adapter, 0) + 1
        if not skip:
            refuse_problems(problems)
        plan.problems = [asdict(one) for one in problems]
        _make_current(folder, plan)
    except BaseException:
        folder.delete_folder(f"plans/{plan.version}")
        raise
    return plan


async def _model(name: str, models: ModelLookup, served: dict[str, Model | ApeError]) -> Model:
    """The model, looked up once; a refusal is remembered too."""
    if name not in served:
        try:
            served[name] = await models(name)
        except EngineError:
            raise
        except ApeError as error:
            served[name] = error
    found = served[name]
    if isinstance(found, ApeError):
        raise found
    return found


@dataclass(frozen=True, slots=True)
class _PlannedBook:
    recipe: JobRecipe
    names: str
    stretches: list[BatchStretch]


def _plan_book(folder: BatchFolder, book: BatchBook, choices: JobRecipe, model: Model) -> _PlannedBook:
    """The stretches of a book: the same as those of `ape book edit`."""
    opened = open_files(book.files, source_language=book.source_language, target_language=book.target_language)
    check_output_suffix(book.output, opened.mt)
    languages = {"source_language": opened.source_language, "target_language": opened.target_language}
    recipe = complete_recipe(choices, model, **languages)
    names = None
    if book.names:
        names = resolve_names(NamesChoice.parse(book.names), opened.pairing().pairs, recipe)
    ledger = _keep_names(folder, names)
    paragraphs = with_fingerprints(planned_paragraphs(opened.pairing().pairs(), recipe), recipe, names)
    stretches = []
    for group, before in _with_before(paragraphs, recipe.context):
        fingerprint = stretch_id(book.key, recipe, group, before)
        stretches.append(BatchStretch(fingerprint, book.key, book.adapter, recipe, ledger, group, before))
    return _PlannedBook(recipe, ledger, stretches)


def _keep_names(folder: BatchFolder, names: BookNames | None) -> str:
    """Write the ledger under its hash, once."""
    if names is None:
        return ""
    text = names.to_json()
    key = hash_text(text, length=32)
    folder.write_json(f"names/{key}.json", text)
    return key


def _with_before(
    paragraphs: Iterable[PlannedParagraph], count: int
) -> Iterator[tuple[tuple[PlannedParagraph, ...], tuple[PlannedParagraph, ...]]]:
    """The paragraphs of each stretch, and those just before it in its chapter that are not skipped."""
    earlier: list[PlannedParagraph] = []
    for _, group in groupby(paragraphs, key=lambda one: one.stretch):
        rows = tuple(group)
        yield rows, tuple(one for one in earlier if one.chapter == rows[0].chapter)
        earlier = [*earlier, *(one for one in rows if not one.skip)][-count:] if count else []


def _is_waiting(stretch: BatchStretch) -> bool:
    return any(not one.skip for one in stretch.paragraphs)


class _StretchWriter:
    """Writes stretches into files of a fixed number of rows; a book may end in another file than it begins in."""

    def __init__(self, folder: BatchFolder, plan: BatchPlan) -> None:
        self.folder, self.plan = folder, plan
        self._rows: list[dict[str, str]] = []
        self._files = 0

    def __enter__(self) -> _StretchWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._rows:
            self._flush()

    def write(self, stretches: Iterable[BatchStretch]) -> None:
        """Write the stretches of a book."""
        for stretch in stretches:
            waiting = [one for one in stretch.paragraphs if not one.skip]
            self.plan.stretches += 1
            self.plan.paragraphs += len(waiting)
            self.plan.words += sum(count_words(one.mt) for one in waiting)
            self._rows.append(stretch.to_row())
            if len(self._rows) == STRETCHES_PER_FILE:
                self._flush()

    def _flush(self) -> None:
        place = self.folder.path(f"{self.plan.stretch_folder}/{self._files:06}.parquet")
        table = pa.Table.from_pylist(self._rows, schema=STRETCH_SCHEMA)
        _write_table(table, place, self.folder)
        self._rows, self._files = [], self._files + 1


class _BookWriter:
    """Writes the books of a plan into one file."""

    def __init__(self, folder: BatchFolder, plan: BatchPlan) -> None:
        self.folder, self.plan = folder, plan
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> _BookWriter:
        path = self.folder.path(self.plan.book_file)
        self._writer = pq.ParquetWriter(path, BOOK_SCHEMA, filesystem=self.folder.files)
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, book: BatchBook, planned: _PlannedBook, engine: str) -> None:
        """Write a book with the ids of its stretches."""
        self.plan.books += 1
        self.plan.has_names |= bool(planned.names)
        self._rows.append(
            {
                "key": book.key,
                "book": book_to_json(book),
                "recipe": planned.recipe.to_json(),
                "names": planned.names,
                "engine": engine,
                "source_hash": hash_input(book.files.source),
                "mt_hash": hash_input(book.files.mt),
                "stretches": [one.id for one in planned.stretches if _is_waiting(one)],
            }
        )
        if len(self._rows) == 200:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=BOOK_SCHEMA))
            self._rows = []


def _write_table(table: pa.Table, path: str, folder: BatchFolder) -> None:
    try:
        pq.write_table(table, path, filesystem=folder.files)
    except OSError as error:
        raise StoreError(f"The plan can't be written into {folder.place}: {error}.") from error


def _make_current(folder: BatchFolder, plan: BatchPlan) -> None:
    """Switch to the plan, and delete the one before."""
    former = folder.read_json(PLAN)
    folder.write_json(PLAN, asdict(plan))
    if former:
        folder.delete_folder(f"plans/{former['version']}")
