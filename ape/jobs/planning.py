"""Plan a job from two files: begin it, or resume it. Equal files and output mean the same job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from ape.books.book import Book
from ape.books.formats import open_book
from ape.books.pairing.book_pairing import (
    BookLanguages,
    BookPairing,
    ParagraphPair,
    UnpairedCounter,
    check_languages,
    pair_books,
)
from ape.engines.protocol import Model
from ape.errors import Conflict, InputError, UnknownJob
from ape.files.hashing import hash_input
from ape.jobs.book_names import BookNames
from ape.jobs.job import FileOptions, Job, JobRecipe, JobState, UnpairedSource
from ape.jobs.job_files import JobFiles
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.names_update import NamesChoice, change_names, resolve_names, with_fingerprints
from ape.jobs.store import JobStore, PlanChanges
from ape.jobs.stretches import split_into_stretches
from ape.passage.options import refuse_long_glossary
from prompts import prompt_format

# Paragraphs that one worker does in order. Shorter keeps more workers busy, longer keeps more edited text in view.
STRETCH_LENGTH = 20
# Values of `redo` that name all paragraphs in a state.
REDO_GROUPS = ("rejected", "quarantined")
# Characters of a paragraph, on either side. Guards take seconds at this length, and minutes beyond.
MAX_PARAGRAPH_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class OpenedFiles:
    """Opened files, checked to be a pair."""

    files: JobFiles
    source: Book | None
    mt: Book
    source_language: str
    target_language: str
    file_options: FileOptions

    def pairing(self) -> BookPairing:
        """Pair the paragraphs of both books."""
        languages = BookLanguages(self.source_language, self.target_language)
        return pair_books(self.source, self.mt, languages=languages)


class PairSource(Protocol):
    """Paragraph pairs to plan a job from. `unpaired_source` is complete once `pairs` is exhausted."""

    unpaired_source: UnpairedCounter

    def pairs(self) -> Iterator[ParagraphPair]:
        """Every MT paragraph once, in order."""
        ...


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that is ready for work. `replanned` counts the changes where it was planned just now."""

    job: Job
    replanned: PlanChanges | None = None
    resumed: bool = False


def open_files(
    files: JobFiles, *, source_language: str | None = None, target_language: str | None = None
) -> OpenedFiles:
    """Open both files and check that they may be a pair; raises InputError where they can't be."""

    def opened(path: Path, field: str, format: str | None = None) -> Book:
        try:
            return open_book(
                path,
                format=format,
                encoding=files.encoding,
                source_language=source_language,
                target_language=target_language,
            )
        except InputError as error:
            error.field = field if error.field == "path" else error.field
            raise

    if files.source and hash_input(files.source) == hash_input(files.mt):
        raise InputError(
            f"{files.source.name} and {files.mt.name} are the same file. Give the source and its MT.", field="mt"
        )
    mt = opened(files.mt, "mt", files.format)
    if files.source is None and not mt.bilingual:
        raise InputError(
            f"{files.mt.name} has no source text next to the translation. Give both files, source and MT.", field="mt"
        )
    source = opened(files.source, "source") if files.source else None
    languages = check_languages(source, mt, source_language=source_language, target_language=target_language)
    options = FileOptions(files.format, source_language, target_language)
    return OpenedFiles(files, source, mt, languages.source, languages.target, options)


def skip_too_long(pairs: Iterable[ParagraphPair]) -> Iterator[ParagraphPair]:
    """The same pairs, with a skip reason for those that are too long for models and guards."""
    for pair in pairs:
        if not pair.skip and max(len(pair.mt), len(pair.source)) > MAX_PARAGRAPH_CHARACTERS:
            yield replace(pair, skip=f"longer than {MAX_PARAGRAPH_CHARACTERS:,} characters")
        else:
            yield pair


def complete_recipe(choices: JobRecipe, model: Model, *, source_language: str, target_language: str) -> JobRecipe:
    """The user's choices, completed with the model as served and the languages of the texts."""
    refuse_long_glossary(choices.glossary)
    return replace(
        choices,
        model=model.name,
        revision=model.revision,
        prompt=prompt_format(model.format).fingerprint,
        source_language=source_language,
        target_language=target_language,
    )


def plan_job(
    store: JobStore,
    opened: OpenedFiles,
    recipe: JobRecipe,
    *,
    id: str,
    output: str,
    name: str = "",
    owner: str = "",
    engine: str = "",
    restart: bool = False,
    redo: Sequence[str] = (),
    names: NamesChoice | None = None,
) -> StartedJob:
    """Begin or resume the job of that id. Raises Conflict where it was begun with another recipe.

    `restart` redoes all of it under the new recipe; earlier results stay in the store. `redo` names paragraphs to do
    again: ids, "rejected" or "quarantined". Without a choice of `names`, a job keeps those it has.
    """
    job = new_job(opened, recipe, id=id, output=output, name=name, owner=owner, engine=engine)
    started = plan_pairs(store, job, opened.pairing, restart=restart, names=names)
    if not redo:
        return started
    store.redo(
        id,
        paragraphs=tuple(name for name in redo if name not in REDO_GROUPS),
        rejected="rejected" in redo,
        quarantined="quarantined" in redo,
    )
    return replace(started, job=store.update(id, state=JobState.RUNNING))


def plan_pairs(
    store: JobStore,
    job: Job,
    pairing: Callable[[], PairSource],
    *,
    restart: bool = False,
    names: NamesChoice | None = None,
) -> StartedJob:
    """Begin the job with the paragraphs of `pairing`, or resume it; see `plan_job`."""
    try:
        known = store.job(job.id, owner=job.owner)
    except UnknownJob:
        return _begin_new(store, job, pairing, restart=restart, names=names)
    return _resume(store, known, job, pairing, restart=restart, names=names)


def _begin_new(
    store: JobStore, wanted: Job, pairing: Callable[[], PairSource], *, restart: bool, names: NamesChoice | None
) -> StartedJob:
    """Add and plan a new job; it is removed again where its book can't be paired."""
    try:
        store.add(wanted)
    except Conflict:  # another process was quicker
        known = store.job(wanted.id, owner=wanted.owner)
        return _resume(store, known, wanted, pairing, restart=restart, names=names)
    return StartedJob(*store_plan(store, wanted, pairing, names), resumed=False)


def _resume(
    store: JobStore,
    job: Job,
    wanted: Job,
    pairing: Callable[[], PairSource],
    *,
    restart: bool,
    names: NamesChoice | None,
) -> StartedJob:
    """Resume a job; plan it again where its files changed or planning was interrupted."""
    if not store.counts(job.id).total:
        return StartedJob(*store_plan(store, wanted, pairing, names), resumed=False)
    if job.recipe != wanted.recipe and not restart:
        raise Conflict(_other_recipe(job.recipe, wanted.recipe), field="restart")
    if _plan_inputs(job) != _plan_inputs(wanted):
        return StartedJob(*store_plan(store, replace(wanted, names=job.names), pairing, names), resumed=True)
    changed = None
    if names and not names.is_of(job):
        known = BookNames.from_json(job.names)
        changed = change_names(store, job, resolve_names(names, pairing().pairs, job.recipe, known=known))
    done = job.state is JobState.DONE and changed is None
    job = store.update(
        job.id,
        state=JobState.DONE if done else JobState.RUNNING,
        source=wanted.source,
        mt=wanted.mt,
        output=wanted.output,
        engine=wanted.engine,
        outcome=job.outcome if done else "",
        note="",
    )
    return StartedJob(job, changed, resumed=True)


def _plan_inputs(job: Job) -> tuple[object, ...]:
    """Everything that decides the content of a plan."""
    return job.recipe, job.source_hash, job.mt_hash, job.encoding, job.format, job.file_options_json


def store_plan(
    store: JobStore, wanted: Job, pairing: Callable[[], PairSource], choice: NamesChoice | None = None
) -> tuple[Job, PlanChanges]:
    """Store the job together with its paragraphs, so that a kill leaves no half plan.

    With names, the book is read twice: memory holds its texts while they are found, and no longer.
    """

    def with_unpaired() -> Job:
        counted = source.unpaired_source
        return replace(named, unpaired=UnpairedSource(counted.count, tuple(counted.first)).to_json())

    try:
        names = BookNames.from_json(wanted.names)
        if choice:
            names = resolve_names(choice, pairing().pairs, wanted.recipe, known=names)
        named = replace(wanted, names=names.to_json() if names else "")
        source = pairing()
        planned = with_fingerprints(planned_paragraphs(source.pairs(), wanted.recipe), wanted.recipe, names)
        replanned = store.plan(wanted.id, planned, job=with_unpaired)
    except BaseException:
        store.remove_unplanned(wanted.id)
        raise
    return store.job(wanted.id), replanned


def new_job(
    opened: OpenedFiles, recipe: JobRecipe, *, id: str, output: str, name: str = "", owner: str = "", engine: str = ""
) -> Job:
    """The job of these files, not in a store yet."""
    files, now = opened.files, datetime.now(UTC)
    return Job(
        id=id,
        owner=owner,
        name=name or files.mt.name,
        source=str(files.source.resolve()) if files.source else "",
        source_hash=hash_input(files.source),
        mt=str(files.mt.resolve()),
        mt_hash=hash_input(files.mt),
        output=output,
        format=opened.mt.format,
        recipe=recipe,
        state=JobState.RUNNING,
        created=now,
        updated=now,
        encoding=files.encoding or "",
        file_options_json=opened.file_options.to_json(),
        engine=engine,
    )


def planned_paragraphs(pairs: Iterable[ParagraphPair], recipe: JobRecipe) -> Iterator[PlannedParagraph]:
    """The paragraphs of a book in their stretches, without fingerprints."""
    longest = STRETCH_LENGTH if recipe.context else 1
    stretches = split_into_stretches(skip_too_long(pairs), longest=longest)
    for position, (pair, stretch) in enumerate(stretches):
        yield PlannedParagraph(
            id=pair.id,
            position=position,
            chapter=pair.chapter,
            title=pair.title,
            stretch=stretch,
            source=pair.source,
            mt=pair.mt,
            how=pair.how,
            confidence=pair.confidence,
            skip=pair.skip,
        )


def _other_recipe(old: JobRecipe, new: JobRecipe) -> str:
    before, now = asdict(old), asdict(new)
    changed = "; ".join(
        f"{name} was {_short(before[name])} and is {_short(now[name])}" for name in before if before[name] != now[name]
    )
    return (
        f"This book was begun with other settings: {changed}. Use the same settings to resume it, or restart it to "
        "redo all of it with the new ones; earlier results stay in the store."
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
