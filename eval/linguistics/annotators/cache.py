"""Cache of annotations by content: each annotator annotates a text once.

One SQLite file, and the texts used last in memory, as every metric asks for the same ones. A row is keyed by a digest
of the name of the annotator and the text. Several processes may fill the file at once, as they write equal rows. SQLite
errors (a full disk, a damaged file) cost time but never fail a request.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from ape.files.cache import ContentCache, cache_folder, cache_key, open_cache
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.linguistics.annotators.serialization import pack_annotation, unpack_annotation

DATABASE_FILE = "annotations-2.sqlite"
# Texts looked up, annotated and written together.
BATCH = 512
# The smallest number of texts for worker processes.
_WORTH_A_PROCESS = 256
_SHARE = 32

AnnotateCallable: TypeAlias = Callable[[Sequence[str]], Iterable[Annotation]]
_folder: ContextVar[Path | None] = ContextVar("folder of annotations", default=None)


def default_annotation_folder() -> Path:
    """The default folder of the cache."""
    return cache_folder("annotations")


@contextmanager
def use_annotation_cache(folder: Path) -> Iterator[None]:
    """Use the cache in this folder for all annotators created in the context."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def current_annotation_folder() -> Path | None:
    """The folder of the enclosing `use_annotation_cache`."""
    return _folder.get()


@dataclass(frozen=True, slots=True)
class CachedAnnotator:
    """An annotator with a cache.

    A slow annotator spreads new texts over `processes` (default: the number of processors).
    """

    annotator: Annotator
    folder: Path
    processes: int | None = None

    @property
    def name(self) -> str:
        """The annotator's name, as the cache changes no result."""
        return self.annotator.name

    @property
    def language(self) -> str:
        """The annotator's language."""
        return self.annotator.language

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        name = self.annotator.name
        rest = iter(texts)
        found: list[Annotation] = []
        with _open(self.folder) as cache, self._work(len(texts)) as work:
            while batch := list(islice(rest, BATCH)):
                found += self._annotate_batch(batch, name, cache, work)
        return found

    def _annotate_batch(
        self, texts: Sequence[str], name: str, cache: ContentCache[bytes], work: AnnotateCallable
    ) -> list[Annotation]:
        keys = [cache_key(f"{name}\0{text}") for text in texts]
        known = {key: one for key in keys if (one := _RECENT.get((self.folder, key))) is not None}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if unknown:
            packed = cache.read(unknown)
            known |= {key: unpack_annotation(one, unknown[key]) for key, one in packed.items()}
            new = {key: text for key, text in unknown.items() if key not in packed}
            fresh = dict(zip(new, work(list(new.values())) if new else (), strict=True))
            cache.write({key: pack_annotation(one) for key, one in fresh.items()})
            known |= fresh
            for key, text in unknown.items():
                _RECENT.put((self.folder, key), known[key], len(text))
        return [known[key] for key in keys]

    @contextmanager
    def _work(self, number: int) -> Iterator[AnnotateCallable]:
        """The annotator, or copies of it in worker processes, which start on first use."""
        workers = min(self.processes or os.cpu_count() or 1, number // _WORTH_A_PROCESS)
        if workers < 2 or not getattr(self.annotator, "slow", False):
            yield self.annotator.annotate
            return
        with ExitStack() as stack:
            pools: list[ProcessPoolExecutor] = []

            def shared(texts: Sequence[str]) -> Iterator[Annotation]:
                if not pools:
                    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start_worker, (self.annotator,))
                    pools.append(stack.enter_context(pool))
                shares = [texts[start : start + _SHARE] for start in range(0, len(texts), _SHARE)]
                return (one for share in pools[0].map(_annotate, shares) for one in share)

            yield shared


_Key: TypeAlias = tuple[Path, bytes]
"""The folder of a cache, and a key in it."""


class _RecentAnnotations:
    """The annotations used last, by key, up to a number of characters of text."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._found: OrderedDict[_Key, tuple[Annotation, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> Annotation | None:
        """The annotation, if it is kept."""
        with self._lock:
            if (found := self._found.get(key)) is None:
                return None
            self._found.move_to_end(key)
            return found[0]

    def put(self, key: _Key, annotation: Annotation, size: int) -> None:
        """Keep one, and forget the oldest ones beyond the limit."""
        with self._lock:
            if size <= self._most and key not in self._found:
                self._found[key] = annotation, size
                self._size += size
                while self._size > self._most:
                    self._size -= self._found.popitem(last=False)[1][1]


# Some 60 bytes a character.
_RECENT = _RecentAnnotations(2_000_000)

_worker_annotator: list[Annotator] = []
"""The annotator of a worker process."""


def _start_worker(annotator: Annotator) -> None:
    _worker_annotator[:] = [annotator]


def _annotate(texts: Sequence[str]) -> list[Annotation]:
    return _worker_annotator[0].annotate(texts)


def _open(folder: Path) -> AbstractContextManager[ContentCache[bytes]]:
    return open_cache(folder / DATABASE_FILE, bytes, table="annotations", column="packed")
