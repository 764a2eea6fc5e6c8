"""Choose, build and change the names of a job; a change costs no model call and loses no work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path

from ape.books.pairing.book_pairing import ParagraphPair
from ape.errors import InputError
from ape.files.hashing import hash_file, hash_json
from ape.jobs.book_names import BookNames, NameWindow, apply_again
from ape.jobs.counts import PlanChanges
from ape.jobs.job import Job, JobRecipe
from ape.jobs.job_paragraph import JobParagraph, PlannedParagraph
from ape.jobs.store import JobStore
from ape.ledger.build import build_ledger
from ape.ledger.entity import Ledger, LedgerParagraph
from ape.ledger.files.formats import read_names
from ape.ledger.files.json_ledger import ledger_to_json
from ape.passage.result import PostEdit

_BATCH = 200
NamesListener = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class NamesChoice:
    """Which names to use: "none", "auto" (built from the book), or those of a file."""

    kind: str
    path: Path | None = None

    @classmethod
    def parse(cls, text: str) -> NamesChoice:
        """Parse "auto", "none" or the path of a file."""
        if text in ("auto", "none"):
            return cls(text)
        path = Path(text)
        if not path.is_file():
            raise InputError(f"There is no file {path}. Give auto, none, or a file of names.", field="names")
        return cls("file", path)

    @property
    def given(self) -> str:
        """What identifies the choice: "none", "auto", or the hash of the file."""
        return hash_file(self.path) if self.path else self.kind

    def is_of(self, job: Job) -> bool:
        """Whether the job has these names already; an automatic ledger may have been changed by a person since."""
        names = BookNames.from_json(job.names)
        return (names.given if names else "none") == self.given or (self.kind == "auto" and names is not None)


def resolve_names(
    choice: NamesChoice,
    pairs: Callable[[], Iterable[ParagraphPair]],
    recipe: JobRecipe,
    *,
    known: BookNames | None = None,
    listen: NamesListener = lambda stage, done, total: None,
) -> BookNames | None:
    """The names of the choice for a book. `known` are those of an earlier version: what people vouched for is kept.

    A file that lists the variants of its names is used as it is. For others the variants are found in the book, but no
    names are added.
    """
    if choice.kind == "none":
        return None
    languages = {"source_language": recipe.source_language, "target_language": recipe.target_language}
    if choice.path is None:
        vouched = tuple(one for one in known.ledger.entities if one.vouched) if known else ()
        kept = replace(known.ledger, entities=vouched) if known and vouched else None
        return BookNames(build_ledger(_ledger_paragraphs(pairs()), known=kept, listen=listen, **languages), "auto")
    # Before it is read: a file changed from now on is another one, and applied by the next run.
    given = choice.given
    ledger = read_names(choice.path, **languages)
    if any(one.target and not one.variants for one in ledger.entities):
        ledger = complete_ledger(ledger, _ledger_paragraphs(pairs()), listen=listen)
    return BookNames(ledger, given)


def complete_ledger(
    ledger: Ledger, paragraphs: Iterable[LedgerParagraph], *, listen: NamesListener = lambda stage, done, total: None
) -> Ledger:
    """The ledger with variants, counts and genders found in the book; no entities are added."""
    built = build_ledger(
        paragraphs,
        source_language=ledger.source_language,
        target_language=ledger.target_language,
        known=ledger,
        listen=listen,
    )
    wanted = {one.id for one in ledger.entities}
    return replace(
        built,
        entities=tuple(one for one in built.entities if one.id in wanted),
        conflicts=tuple(one for one in built.conflicts if one.entity in wanted),
    )


def _ledger_paragraphs(pairs: Iterable[ParagraphPair]) -> list[LedgerParagraph]:
    return [LedgerParagraph(pair.id, pair.source, pair.mt) for pair in pairs if not pair.skip]


def with_fingerprints(
    planned: Iterable[PlannedParagraph], recipe: JobRecipe, names: BookNames | None
) -> Iterator[PlannedParagraph]:
    """The paragraphs, in order, each with the fingerprint of everything that decides its result."""
    for one, _ in _with_windows(planned, recipe, names):
        yield one


def _with_windows(
    planned: Iterable[PlannedParagraph], recipe: JobRecipe, names: BookNames | None
) -> Iterator[tuple[PlannedParagraph, tuple[PlannedParagraph, ...]]]:
    window = NameWindow(recipe.context)
    for one in planned:
        before = window.before(one.chapter)
        # Names change nothing for a paragraph that is skipped.
        touched = names.fingerprints(one.source, [each.source for each in before]) if names and not one.skip else []
        yield replace(one, fingerprint=recipe.fingerprint(one.source, one.mt, names=touched)), before
        window.add(one)


def change_names(store: JobStore, job: Job, names: BookNames | None) -> PlanChanges:
    """Give the job other names: finished paragraphs that they touch get new results, without a model.

    All other paragraphs keep theirs, and earlier results stay as history. Waiting ones wait. The output has to be
    written again.
    """
    old = BookNames.from_json(job.names)
    planned = list(with_fingerprints((row.planned for row in store.rows(job.id)), job.recipe, names))
    for batch in _batches(_applied(store.rows(job.id), job, names, old)):
        store.add_results(job.id, batch)
    text = names.to_json() if names else ""
    return store.plan(job.id, planned, job=lambda: replace(store.job(job.id), names=text))


def _applied(
    rows: Iterable[JobParagraph], job: Job, names: BookNames | None, old: BookNames | None
) -> Iterator[tuple[PlannedParagraph, PostEdit, float]]:
    """The new results of the finished paragraphs that the change touches, each with its new fingerprint."""
    recipe = job.recipe
    new = names or BookNames(Ledger(recipe.source_language, recipe.target_language))
    rows, same_rows = tee(rows)
    windows = _with_windows((row.planned for row in same_rows), recipe, names)
    for row, (planned, before) in zip(rows, windows, strict=True):
        if row.result and planned.fingerprint != row.planned.fingerprint:
            language = recipe.target_language
            yield planned, apply_again(row.result, planned, before, new, old, language), row.seconds


def _batches(
    found: Iterator[tuple[PlannedParagraph, PostEdit, float]],
) -> Iterator[Sequence[tuple[PlannedParagraph, PostEdit, float]]]:
    batch: list[tuple[PlannedParagraph, PostEdit, float]] = []
    for one in found:
        batch.append(one)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def names_from_ledger(ledger: Ledger) -> BookNames:
    """Names that a person sent, known by their content."""
    return BookNames(ledger, hash_json(ledger_to_json(ledger)))
