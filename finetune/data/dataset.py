"""Examples on disk: a Hugging Face dataset with a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from ape.errors import InputError
from ape.files.hashing import hash_bytes
from finetune.data.example import SPLITS, Example

MANIFEST_FILE = "manifest.json"
COLUMNS = tuple(field.name for field in fields(Example))


@dataclass(frozen=True, slots=True)
class ExampleDataset:
    """The examples of a directory by split, read from disk on access."""

    directory: Path
    manifest: Mapping[str, Any]
    manifest_hash: str
    _splits: Mapping[str, Any]

    def __getitem__(self, split: str) -> Sequence[Example]:
        return _Rows(self._splits[split]) if split in self._splits else ()

    def require(self, split: str) -> list[Example]:
        """The examples of a split; InputError if it does not exist."""
        if split not in self._splits:
            there = ", ".join(self._splits)
            raise InputError(f"{self.directory} has no examples for {split!r}. There is: {there}.")
        return list(self[split])

    @property
    def languages(self) -> tuple[str, ...]:
        """Language pairs of the train split, as "fr-en"."""
        rows = self._splits["train"]
        pairs = zip(rows["source_language"], rows["target_language"], strict=True)
        return tuple(sorted({f"{source}-{target}" for source, target in pairs}))


@dataclass(frozen=True, slots=True)
class _Rows(Sequence[Example]):
    """A split as a sequence of examples."""

    table: Any

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        return Example(**self.table[place])

    def __iter__(self) -> Iterator[Example]:
        return (Example(**row) for row in self.table)


def write_dataset(directory: Path, splits: Mapping[str, Sequence[Example]], manifest: Mapping[str, Any]) -> None:
    """Write the examples, and the manifest last: a directory with a manifest is complete."""
    from datasets import Dataset, DatasetDict, Features, Value

    features = Features({name: Value("string") for name in COLUMNS})
    tables = {
        split: Dataset.from_list([asdict(example) for example in splits[split]], features=features)
        for split in SPLITS
        if splits.get(split)
    }
    DatasetDict(tables).save_to_disk(str(directory))
    text = json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True)
    (directory / MANIFEST_FILE).write_text(text + "\n", encoding="utf-8")


def read_dataset(directory: Path) -> ExampleDataset:
    """Read a dataset that `write_dataset` wrote."""
    from datasets import load_from_disk

    try:
        content = (directory / MANIFEST_FILE).read_bytes()
        manifest = json.loads(content)
        splits = load_from_disk(str(directory))
    except FileNotFoundError as error:
        raise InputError(
            f"{directory} holds no examples: it has no {MANIFEST_FILE}. Build a training set first.", field="data"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"The examples in {directory} can't be read: {error}") from error
    missing = set(COLUMNS) - set(splits["train"].column_names) if "train" in splits else {"train"}
    if missing:
        raise InputError(f"The examples in {directory} have no {', '.join(sorted(missing))}. Build them again.")
    digest = hash_bytes(content, length=16)
    return ExampleDataset(directory, cast(Mapping[str, Any], manifest), f"data@{digest}", dict(splits))
