"""Begin a job, or go on with it: the same files and output are the same job, and nothing is mixed silently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ape.books.book import Book
from ape.books.formats import open_book
from ape.books.pairing.pair import Languages, Pair, Pairing, check_pair, pair_books
from ape.books.stretches import cut_stretches
from ape.engines.protocol import Model
from ape.errors import Conflict, InputError, UnknownJob
from ape.jobs.files import Files, hash_of
from ape.jobs.job import Job, JobState, Recipe, Told, Unpaired
from ape.jobs.row import Planned
from ape.jobs.store import Replanned, Store
from prompts import fingerprint

# Paragraphs that one worker does in order. Shorter keeps more workers busy, longer keeps more edited text in view.
STRETCH = 20
# Characters of a paragraph, on either side. Guards take seconds at this length, and minutes beyond.
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Opened:
    """Files that were looked at and may be paired."""

    files: Files
    source: Book | None
    mt: Book
    source_language: str
    target_language: str
    told: Told

    def pairing(self) -> Pairing:
        """Which paragraphs belong together."""
        languages = Languages(self.source_language, self.target_language)
        return pair_books(self.source, self.mt, languages=languages)


@dataclass(frozen=True, slots=True)
class Begun:
    """A job that can be worked on. `replanned` tells what is new where it was planned just now."""

    job: Job
    replanned: Replanned | None = None
    resumed: bool = False


def open_files(
    files: Files, *, source_language: str | None = None, target_language: str | None = None
) -> Opened:
    """Open both files and see that they may be a pair; raises InputError where they can't be."""

    def opened(path: Path, format: str | None) -> Book:
        return open_book(
            path,
            format=format,
            encoding=files.encoding,
            source_language=source_language,
            target_language=target_language,
        )

    if files.source and hash_of(files.source) == hash_of(files.mt):
        raise InputError(
            f"{files.source} and {files.mt} are the same file. Give the source and its MT.", field="mt"
        )
    mt = opened(files.mt, files.format)
    if files.source is None and not mt.bilingual:
        raise InputError(
            f"{files.mt} has no source beside the translation. Give both files: SRC and MT.", field="mt"
        )
    source = opened(files.source, None) if files.source else None
    languages = check_pair(source, mt, source_language=source_language, target_language=target_language)
    told = Told(files.format, source_language, target_language)
    return Opened(files, source, mt, languages.source, languages.target, told)


def workable(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The same pairs; those that no model and no guard could take in are not to be edited."""
    for pair in pairs:
        if not pair.skip and max(len(pair.mt), len(pair.source)) > LONGEST:
            yield replace(pair, skip=f"longer than {LONGEST:,} characters")
        else:
            yield pair


def recipe_for(opened: Opened, model: Model, wishes: Recipe) -> Recipe:
    """The wishes, with the model as it is now and the languages as they were found."""
    return replace(
        wishes,
        model=model.name,
        revision=model.revision,
        prompt=fingerprint(model.format),
        source_language=opened.source_language,
        target_language=opened.target_language,
    )


def begin(
    store: Store,
    opened: Opened,
    recipe: Recipe,
    *,
    id: str,
    output: str,
    name: str = "",
    owner: str = "",
    engine: str = "",
    again: bool = False,
) -> Begun:
    """The job of that id: new, or as it was left. Raises Conflict where it was begun by another recipe.

    `again` does all of it under the new recipe; what was made under the old one stays in the store.
    """
    wanted = _job(opened, recipe, id=id, output=output, name=name, owner=owner, engine=engine)
    try:
        job = store.job(id, owner=owner)
    except UnknownJob:
        return _begin_new(store, wanted, opened, again=again)
    return _go_on(store, job, wanted, opened, again=again)


def _begin_new(store: Store, wanted: Job, opened: Opened, *, again: bool) -> Begun:
    """A new job, or none at all where its book can't be paired."""
    try:
        store.add(wanted)
    except Conflict:  # somebody else was quicker
        return _go_on(store, store.job(wanted.id, owner=wanted.owner), wanted, opened, again=again)
    return Begun(*_plan(store, wanted, opened), resumed=False)


def _go_on(store: Store, job: Job, wanted: Job, opened: Opened, *, again: bool) -> Begun:
    """The job as it was left, planned anew where it was of other files, or was never planned to its end."""
    if not store.counts(job.id).total:
        return Begun(*_plan(store, wanted, opened), resumed=False)
    if job.recipe != wanted.recipe and not again:
        raise Conflict(_other_recipe(job.recipe, wanted.recipe))
    if _made_of(job) != _made_of(wanted):
        return Begun(*_plan(store, wanted, opened), resumed=True)
    done = job.state is JobState.DONE
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
    return Begun(job, None, resumed=True)


def _made_of(job: Job) -> tuple[object, ...]:
    """All that decides what a plan has in it."""
    return job.recipe, job.source_hash, job.mt_hash, job.encoding, job.format, job.told


def _plan(store: Store, wanted: Job, opened: Opened) -> tuple[Job, Replanned]:
    """The job with its paragraphs: both at once, so that whoever is killed here leaves none, or what was there."""
    try:
        pairing = opened.pairing()
        replanned = store.plan(
            wanted.id, _planned(pairing, wanted.recipe), job=lambda: _with_unpaired(wanted, pairing)
        )
    except BaseException:
        store.remove_unplanned(wanted.id)
        raise
    return store.job(wanted.id), replanned


def _with_unpaired(job: Job, pairing: Pairing) -> Job:
    found = pairing.unpaired_source
    return replace(job, unpaired=Unpaired(found.count, tuple(found.first)).to_json())


def _job(opened: Opened, recipe: Recipe, *, id: str, output: str, name: str, owner: str, engine: str) -> Job:
    files, now = opened.files, datetime.now(UTC)
    return Job(
        id=id,
        owner=owner,
        name=name or files.mt.name,
        source=str(files.source.resolve()) if files.source else "",
        source_hash=hash_of(files.source),
        mt=str(files.mt.resolve()),
        mt_hash=hash_of(files.mt),
        output=output,
        format=opened.mt.format,
        recipe=recipe,
        state=JobState.RUNNING,
        created=now,
        updated=now,
        encoding=files.encoding or "",
        told=opened.told.to_json(),
        engine=engine,
    )


def _planned(pairing: Pairing, recipe: Recipe) -> Iterator[Planned]:
    longest = STRETCH if recipe.context else 1
    for position, (pair, stretch) in enumerate(cut_stretches(workable(pairing.pairs()), longest=longest)):
        yield Planned(
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
            fingerprint=recipe.fingerprint(pair.source, pair.mt),
        )


def _other_recipe(old: Recipe, new: Recipe) -> str:
    before, now = asdict(old), asdict(new)
    changed = "; ".join(
        f"{name} was {_short(before[name])} and is {_short(now[name])}"
        for name in before
        if before[name] != now[name]
    )
    return (
        f"This book was begun with other settings: {changed}. Give the same ones to go on, or say --again to do all "
        "of it under the new ones; what was done before stays in the store."
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
