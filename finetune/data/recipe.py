"""Data recipe: all thresholds of a build, from flags and a TOML file. The defaults are PAR3's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ape.errors import InputError
from ape.files.rows import describe_validation_error, read_toml

FilterName = Literal[
    "empty",
    "short",
    "language",
    "ratio",
    "bleu",
    "tokens",
    "duplicate",
    "near duplicate",
    "on both sides",
    "percentile",
    "edit rate",
    "book share",
]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class RawBook(BaseModel):
    """A book that is not aligned yet: files of source, MT and each human translation by name.

    Its languages are those of the flags where it does not say them itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    source: Path
    mt: Path
    humans: dict[str, Path] = Field(min_length=1)
    source_language: str | None = None
    target_language: str | None = None

    def resolve_paths(self, folder: Path) -> RawBook:
        """Resolve paths relative to this folder."""
        humans = {name: folder / path for name, path in self.humans.items()}
        paths = {"source": folder / self.source, "mt": folder / self.mt, "humans": humans}
        return self.model_copy(update=paths)


class DataRecipe(BaseModel):
    """Filters, sample sizes and split shares of a build."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 1
    off: tuple[FilterName, ...] = Field((), description="filters that are not to be used")
    short_tokens: Count = Field(4, description="a side with fewer is short")
    short_characters: Count = Field(20, description="so is one with fewer of these")
    ratio: float = Field(3.0, ge=1, description="most words of one side for each of another")
    bleu: float = Field(5.0, ge=0, le=100, description="least BLEU of the MT against the human version")
    tokens: Annotated[int, Field(ge=1)] = Field(
        2000, description="most tokens of source, MT and human version, to train on"
    )
    near: Share = Field(0.8, description="likeness of character shingles that makes a near-duplicate")
    percentiles: tuple[float, float] = Field((10, 90), description="of BLEU, by language pair; outside is dropped")
    edit_rate: float | None = Field(None, ge=0, description="most edits for each word of the MT")
    book_share: Share = Field(1.0, description="most of a book; PAR3 published one half")
    sample: Annotated[int, Field(ge=1)] = Field(30_000, description="most examples to train on")
    take: dict[str, Count] = Field({}, description='examples to train on by pair, as {"fr-en" = 2000}')
    take_dev: dict[str, Count] = Field({}, description="the same of dev")
    take_test: dict[str, Count] = Field({}, description="the same of test")
    identity_share: Annotated[float, Field(ge=0, lt=1)] = Field(0.15, description="no-edit examples in train")
    identity_edit_rate: float = Field(0.0, ge=0, description="up to here an MT is good as it is")
    stutter_share: Annotated[float, Field(ge=0, le=0.5)] = Field(
        0.0, description="of train, on top of take and sample: texts that were made to stutter"
    )
    shares: tuple[Share, Share, Share] = Field((0.8, 0.1, 0.1), description="of paragraphs: train, dev, test")
    rows_as_book: Annotated[int, Field(ge=1)] | None = Field(
        None, description="divide a file or raw book into books of this many rows or paragraphs"
    )
    select_held_out: bool = Field(
        False, description="choose dev and test as train is, by length, repeats, BLEU and edit rate"
    )
    fewest: Annotated[int, Field(ge=1)] = Field(1, description="fewer examples to train on are refused")
    books: tuple[RawBook, ...] = ()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        low, high = self.percentiles
        if not 0 <= low < high <= 100:
            raise ValueError("percentiles are two numbers from 0 to 100, the lower first")
        if self.shares[0] <= 0 or abs(sum(self.shares) - 1) > 1e-6:
            raise ValueError("shares are those of train, dev and test: they add up to 1, and train has some")
        return self

    def uses(self, name: FilterName) -> bool:
        """Whether a filter is on."""
        return name not in self.off


def make_data_recipe(flags: Mapping[str, Any], config: Path | None = None) -> DataRecipe:
    """Read the settings of a file; flags take precedence."""
    try:
        return DataRecipe.model_validate({**(_read(config) if config else {}), **flags})
    except ValidationError as error:
        where = f"{config.name}, or a flag" if config else "the flags"
        message = describe_validation_error(error, root="together")
        raise InputError(f"The settings ({where}) are not right: {message}.") from error


def _read(path: Path) -> dict[str, Any]:
    settings = read_toml(path, field="config")
    if isinstance(settings.get("books"), list):
        try:
            found = [RawBook.model_validate(book).resolve_paths(path.parent) for book in settings["books"]]
        except ValidationError as error:
            message = describe_validation_error(error)
            raise InputError(f"A book of {path.name} is not right: {message}.") from error
        settings["books"] = found
    return settings
