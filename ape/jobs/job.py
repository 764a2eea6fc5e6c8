"""A job: one book, one recipe, one owner."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum

from ape.files.hashing import hash_json
from ape.passage.options import (
    DEFAULT_CONTEXT_SIZE,
    ContextSize,
    Glossary,
    Instructions,
    Options,
    SharedOptions,
    option_values,
)

# Fields that every stored recipe has. A later one is left out at its default, so that no fingerprint changes.
FIRST_FIELDS = frozenset(
    ("model", "revision", "prompt", "source_language", "target_language", "context", "glossary", "instructions")
) | {"temperature", "top_p", "seed", "max_attempts", "candidates"}


class JobState(StrEnum):
    """The state of a job: as requested, or how it ended."""

    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobRecipe(SharedOptions):
    """Everything apart from the two texts that decides a result.

    `revision` is the content hash of the model (and adapter) where it is known. `prompt` is the fingerprint of the
    prompt format. `context` is how many earlier paragraphs the model is given.
    """

    model: str = ""
    revision: str = ""
    prompt: str = ""
    source_language: str = ""
    target_language: str = ""
    context: ContextSize = DEFAULT_CONTEXT_SIZE
    glossary: Glossary = ()
    instructions: Instructions = ""

    def options(self) -> Options:
        """The options for each paragraph."""
        return Options(model=self.model, **option_values(self))

    @property
    def choices(self) -> JobRecipe:
        """The recipe without what is filled in when a job begins: the model and the languages."""
        return replace(self, model="", revision="", prompt="", source_language="", target_language="")

    def to_json(self) -> str:
        """The recipe in canonical JSON."""
        values = asdict(self)
        for field in fields(self):
            if field.name not in FIRST_FIELDS and values[field.name] == field.default:
                del values[field.name]
        return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def fingerprint(self, source: str, mt: str, *, names: Sequence[str] = ()) -> str:
        """Hash of everything that decides the result for a paragraph.

        `names` are the fingerprints of the entities of the book's ledger that touch it.
        """
        decisive = [self.to_json(), source, mt, *([list(names)] if names else [])]
        return hash_json(decisive, length=32, errors="replace")


@dataclass(frozen=True, slots=True)
class UnpairedSource:
    """Source paragraphs without an MT: how many, and the first of them as (id, beginning)."""

    count: int = 0
    first: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """As stored with the job; empty where there are none."""
        return json.dumps(asdict(self), ensure_ascii=False) if self.count else ""

    @classmethod
    def from_json(cls, text: str) -> UnpairedSource:
        """Parse the stored JSON."""
        if not text:
            return cls()
        kept = json.loads(text)
        return cls(kept["count"], tuple((name, beginning) for name, beginning in kept["first"]))


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to open the files, apart from their encoding. None means: detect it.

    The same options open a file when it is planned and when it is written. Detected values would not do: a file that is
    declared bilingual is read differently from one that is detected as such.
    """

    format: str | None = None
    source_language: str | None = None
    target_language: str | None = None

    def to_json(self) -> str:
        """As stored with the job."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Job:
    """One book to post-edit. Paths are as given; files are identified by the SHA-256 of their content.

    `source` is empty for a bilingual file. `owner` is the hash of the owner's API key, empty on the command line.
    `note` is the reason of a failure. `encoding` is set where the user named one. `engine` is the engine and model as
    configured. In JSON: `outcome` describes the output that was written, `unpaired` the source without MT, `names` the
    ledger of the book if it has one, and `file_options_json` the file options, which jobs of older versions lack.
    """

    id: str
    owner: str
    name: str
    source: str
    source_hash: str
    mt: str
    mt_hash: str
    output: str
    format: str
    recipe: JobRecipe
    state: JobState
    created: datetime
    updated: datetime
    note: str = ""
    output_hash: str = ""
    encoding: str = ""
    engine: str = ""
    outcome: str = ""
    unpaired: str = ""
    file_options_json: str = ""
    names: str = ""

    def is_finished_by(self, engine: str, choices: JobRecipe) -> bool:
        """Whether the job is done, by that engine and with those choices."""
        return self.state is JobState.DONE and self.engine == engine and self.recipe.choices == choices

    @property
    def file_options(self) -> FileOptions:
        """How to open its files; jobs of older versions use what was detected."""
        if self.file_options_json:
            return FileOptions(**json.loads(self.file_options_json))
        return FileOptions(self.format, self.recipe.source_language, self.recipe.target_language)

    @property
    def unpaired_source(self) -> UnpairedSource:
        """The source paragraphs without an MT."""
        return UnpairedSource.from_json(self.unpaired)
