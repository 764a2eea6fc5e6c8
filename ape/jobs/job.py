"""A job: one book, one recipe, one owner."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum

from ape.files.hashing import hash_json
from ape.passage.options import (
    DEFAULT_CONTEXT_SIZE,
    DEFAULT_OPTIONS,
    Candidates,
    ContextSize,
    Glossary,
    Instructions,
    MaxAttempts,
    Options,
    Seed,
    Temperature,
    TopP,
)


class JobState(StrEnum):
    """What is wanted of a job, or that it is over."""

    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobRecipe:
    """Everything besides the two texts that decides a result.

    `revision` is the content hash of the model (and adapter) where it can be known. `prompt` is the fingerprint of the
    prompt format. `context` is how many earlier paragraphs are shown.
    """

    model: str = ""
    revision: str = ""
    prompt: str = ""
    source_language: str = ""
    target_language: str = ""
    temperature: Temperature = DEFAULT_OPTIONS.temperature
    top_p: TopP = DEFAULT_OPTIONS.top_p
    seed: Seed = DEFAULT_OPTIONS.seed
    max_attempts: MaxAttempts = DEFAULT_OPTIONS.max_attempts
    candidates: Candidates = DEFAULT_OPTIONS.candidates
    context: ContextSize = DEFAULT_CONTEXT_SIZE
    glossary: Glossary = ()
    instructions: Instructions = ""

    def options(self) -> Options:
        """The options for each paragraph."""
        shared = {field.name for field in fields(self)} & {field.name for field in fields(Options)}
        return Options(**{name: getattr(self, name) for name in shared})

    @property
    def choices(self) -> JobRecipe:
        """The user's choices alone, without the model and the languages that were found."""
        return replace(self, model="", revision="", prompt="", source_language="", target_language="")

    def to_json(self) -> str:
        """In one canonical form."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def fingerprint(self, source: str, mt: str) -> str:
        """The name of the result that this recipe gives for a paragraph."""
        return hash_json([self.to_json(), source, mt], length=32, errors="replace")


@dataclass(frozen=True, slots=True)
class UnpairedSource:
    """Paragraphs of a source that are not in the MT: how many, and the first of them as (id, how it begins)."""

    count: int = 0
    first: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """To be kept with the job; nothing where there are none."""
        return json.dumps(asdict(self), ensure_ascii=False) if self.count else ""

    @classmethod
    def from_json(cls, text: str) -> UnpairedSource:
        """As it was kept."""
        if not text:
            return cls()
        kept = json.loads(text)
        return cls(kept["count"], tuple((name, beginning) for name, beginning in kept["first"]))


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What the user told of the files, besides their encoding: what was left out is found out from them.

    A file is opened by the same words when it is planned and when it is written. What was found out would not do in
    their place: a file that is surely bilingual is read otherwise than one that seems to be.
    """

    format: str | None = None
    source_language: str | None = None
    target_language: str | None = None

    def to_json(self) -> str:
        """To be kept with the job."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Job:
    """One book under repair. Paths are as given, files are known by the SHA-256 of their content.

    `source` is empty for a bilingual file. `owner` is the hash of the key of whoever began it, and empty on the command
    line. `note` says why it failed. `encoding` is what the user said the files are in, where they were asked.
    `engine` is the engine and model as the user named them. `outcome` tells of the output that was written, and
    `unpaired` of the source that has no MT, both in JSON; so is `told`, which jobs of older versions do not have.
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
    told: str = ""

    def is_finished_by(self, engine: str, choices: JobRecipe) -> bool:
        """Whether the job is done, by that engine and with those choices of the user."""
        return self.state is JobState.DONE and self.engine == engine and self.recipe.choices == choices

    @property
    def file_options(self) -> FileOptions:
        """By which words its files are opened; where they were not kept, by what was found out."""
        if self.told:
            return FileOptions(**json.loads(self.told))
        return FileOptions(self.format, self.recipe.source_language, self.recipe.target_language)

    @property
    def unpaired_source(self) -> UnpairedSource:
        """The paragraphs of the source that no MT came from."""
        return UnpairedSource.from_json(self.unpaired)
