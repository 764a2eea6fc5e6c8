"""The folder of a batch, on a disk that all nodes see or in an object store, with what it holds.

plan.json                       the current plan: its version, engine and counts
plans/VERSION/books.parquet     the books
plans/VERSION/stretches/        the stretches, sorted by adapter and book
names/HASH.json                 ledgers of books
records/ID.json                 finished paragraphs of stretches that are not in the results yet
quarantine/ID.json              stretches with paragraphs that failed, and their finished ones
results/, checkpoint/           finished stretches and their ids, written by Ray Data
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq
from pyarrow import fs

from ape.errors import InputError, StoreError

PLAN = "plan.json"
RECORDS = "records"
QUARANTINE = "quarantine"
RESULTS = "results"
CHECKPOINT = "checkpoint"
_PENDING = ".pending.parquet"


class BatchFolder:
    """Files by names relative to the folder. Each is written whole or not at all."""

    def __init__(self, place: str) -> None:
        self.place = place if "://" in place else os.path.abspath(place)  # noqa: PTH100, URLs are no paths
        try:
            self.files, self.root = fs.FileSystem.from_uri(self.place)
        except (OSError, ValueError) as error:
            raise InputError(f"{place} can't be used as a folder: {error}.", field="folder") from error
        self._is_local = isinstance(self.files, fs.LocalFileSystem)

    def uri(self, name: str) -> str:
        """The address of a file or folder, for Ray Data."""
        prefix = "file://" if "://" not in self.place else ""
        return f"{prefix}{self.place}/{name}"

    def path(self, name: str) -> str:
        """The path of a file or folder on `files`."""
        return f"{self.root}/{name}"

    def write_json(self, name: str, content: Any) -> None:
        """Write a file; on a disk under a temporary name first, as object stores do by themselves."""
        path, data = self.path(name), json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        draft = f"{path}.{uuid.uuid4().hex}" if self._is_local else path
        try:
            if self._is_local:
                self.files.create_dir(path.rpartition("/")[0], recursive=True)
            with self.files.open_output_stream(draft) as stream:
                stream.write(data.encode("utf-8", "surrogatepass"))
            if draft != path:
                self.files.move(draft, path)
        except OSError as error:
            raise StoreError(f"{self.place}/{name} can't be written: {error}. What was finished is kept.") from error

    def read_json(self, name: str) -> Any | None:
        """The content of a file, or None if there is none."""
        try:
            with self.files.open_input_stream(self.path(name)) as stream:
                return json.loads(stream.read().decode("utf-8", "surrogatepass"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{self.place}/{name} can't be read: {error}.") from error

    def delete(self, name: str) -> None:
        """Delete a file, if there is one."""
        if self.files.get_file_info(self.path(name)).type is not fs.FileType.NotFound:
            self.files.delete_file(self.path(name))

    def delete_folder(self, name: str) -> None:
        """Delete a folder with all it holds, if there is one."""
        if self.files.get_file_info(self.path(name)).type is not fs.FileType.NotFound:
            self.files.delete_dir(self.path(name))

    def create_folder(self, name: str) -> None:
        """Make a folder."""
        self.files.create_dir(self.path(name), recursive=True)

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder, sorted."""
        found = self.files.get_file_info(fs.FileSelector(self.path(folder), allow_not_found=True))
        return sorted(one.base_name for one in found if one.type is fs.FileType.File)

    def ids(self, folder: str) -> list[str]:
        """The ids of the stretches with a file in this folder."""
        return [name.removesuffix(".json") for name in self.names(folder) if name.endswith(".json")]

    def committed_ids(self) -> set[str]:
        """The ids of the stretches that are in the results for good, as Ray Data's checkpoint has them."""
        return {one for name in self._committed_files() for one in self.column(f"{CHECKPOINT}/{name}", "id")}

    def committed_results(self) -> list[str]:
        """The files of the results whose writing was completed: those that have a checkpoint."""
        bases = {name.removesuffix(".parquet") for name in self._committed_files()}
        return [name for name in self.names(RESULTS) if _base(name) in bases]

    def _committed_files(self) -> Iterator[str]:
        return (name for name in self.names(CHECKPOINT) if name.endswith(".parquet") and not name.endswith(_PENDING))

    def column(self, name: str, column: str) -> list[str]:
        """One column of a Parquet file."""
        return list(pq.read_table(self.path(name), columns=[column], filesystem=self.files)[column].to_pylist())


def _base(name: str) -> str:
    """The name that a file of results shares with its checkpoint: Ray Data adds a number to it."""
    return name.removesuffix(".parquet").rpartition("-")[0]
