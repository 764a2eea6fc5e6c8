"""The options of a post-edit: defaults, bounds and descriptions, declared once.

The HTTP schemas, the flags of the command line, the recipes of jobs and the requests to engines derive from the
dataclasses below, so that an option has the same bounds and the same description everywhere. Pydantic reads the
constraints as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, MaxLen, MinLen

from ape.errors import InputError

DEFAULT_MODEL_NAME = "default"


@dataclass(frozen=True, slots=True)
class Description:
    """The description of an option, for its readers and for JSON schemas."""

    text: str

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        """Add the description to the JSON schema of the annotated type."""
        return {**handler(schema), "description": self.text}


@dataclass(frozen=True, slots=True)
class Alias:
    """The name of an option in JSON and as a flag, if it is not that of its field."""

    name: str


Temperature = Annotated[float, Ge(0), Le(2), Description("Sampling temperature; 0 takes the most likely tokens.")]
TopP = Annotated[float, Gt(0), Le(1), Description("Share of the probability mass to sample from.")]
Seed = Annotated[int, Ge(0), Le(2**31 - 1), Description("Seed of the first draft.")]
MaxAttempts = Annotated[int, Ge(1), Le(10), Description("Attempts before the MT is kept.")]
Candidates = Annotated[
    int, Ge(1), Le(8), Description("Drafts requested in each attempt; the best one is taken."), Alias("n")
]
MaxTokens = Annotated[int, Ge(1), Le(32_768), Description("Longest draft in tokens; derived from the MT if absent.")]
StopText = Annotated[str, MinLen(1), MaxLen(100)]
MAX_STOPS = MaxLen(3)
STOPS_DESCRIPTION = Description("Strings that end a draft, in addition to those of the prompt format.")
ContextSize = Annotated[int, Ge(0), Le(20), Description("Preceding paragraphs shown to the model.")]
DEFAULT_CONTEXT_SIZE = 2
MAX_CONTEXT = MaxLen(20)
MAX_TERMS = MaxLen(2_000)
# To look for longer terms takes seconds, each time.
MAX_GLOSSARY_CHARACTERS = 100_000
GLOSSARY_DESCRIPTION = Description("Source terms and the wording to use.")
Glossary = Annotated[tuple[tuple[str, str], ...], MAX_TERMS, GLOSSARY_DESCRIPTION]
Instructions = Annotated[str, MaxLen(4_000), Description("Style instructions.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """Options that are sent to the engine under their names, unless they are None.

    A `top_p` of 0.2 is what PAR3 decoded with.
    """

    temperature: Temperature = 0.0
    top_p: TopP = 0.2
    seed: Seed = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOptions(SamplingOptions):
    """Options that passages, books and comparisons share. HTTP, the command line and recipes have a field for each."""

    max_attempts: MaxAttempts = 2
    candidates: Candidates = 1


@dataclass(frozen=True, slots=True)
class Options(SharedOptions):
    """How a passage is post-edited."""

    model: str = DEFAULT_MODEL_NAME
    max_tokens: MaxTokens | None = None
    stop: Annotated[tuple[StopText, ...], MAX_STOPS, STOPS_DESCRIPTION] = ()


DEFAULT_OPTIONS = Options()


def refuse_long_glossary(glossary: Iterable[tuple[str, str]]) -> None:
    """Raise InputError if the entries of a glossary are too long to be looked for in each passage."""
    length = sum(len(term) + len(wording) for term, wording in glossary)
    if length > MAX_GLOSSARY_CHARACTERS:
        raise InputError(
            f"glossary has {length:,} characters; at most {MAX_GLOSSARY_CHARACTERS:,} are allowed.", field="glossary"
        )


def option_values(value: object, owner: type[SamplingOptions] = SharedOptions) -> dict[str, Any]:
    """The values of the fields that `owner` declares, by name."""
    return {field.name: getattr(value, field.name) for field in fields(owner)}


def option_name(field: str) -> str:
    """The name of a shared option in JSON and as a flag."""
    metadata = get_args(annotated_fields(SharedOptions)[field])
    return next((one.name for one in metadata if isinstance(one, Alias)), field)


def check_bounds(value: object) -> None:
    """Raise InputError, naming the field, if a field of the dataclass is out of the bounds that it declares."""
    owner: Any = type(value)
    for name, hint in annotated_fields(owner).items():
        if (content := getattr(value, name)) is not None:
            for sentence in _violations(content, hint):
                raise InputError(f"{name} {sentence}.", field=name)


@lru_cache
def annotated_fields(owner: Any) -> dict[str, Any]:
    """The fields of a dataclass that declare bounds, `X | None` as X."""
    found = {}
    for name, hint in get_type_hints(owner, include_extras=True).items():
        options = [hint, *get_args(hint)] if get_origin(hint) is not Annotated else [hint]
        found[name] = next((one for one in options if get_origin(one) is Annotated), None)
    return {name: hint for name, hint in found.items() if hint is not None}


def _violations(content: Any, hint: Any) -> Iterator[str]:
    kind, *constraints = get_args(hint)
    for constraint in constraints:
        match constraint:
            case Ge(least) if not content >= least:
                yield f"must be at least {least}, not {content}"
            case Gt(least) if not content > least:
                yield f"must be greater than {least}, not {content}"
            case Le(most) if not content <= most:
                yield f"must be at most {most}, not {content}"
            case MinLen(least) if len(content) < least:
                yield "is empty"
            case MaxLen(most) if len(content) > most:
                unit = "characters" if isinstance(content, str) else "entries"
                yield f"has {len(content):,} {unit}; at most {most:,} are allowed"
    item = next(iter(get_args(kind)), None)
    if isinstance(content, tuple) and get_origin(item) is Annotated:
        for one in content:
            yield from _violations(one, item)
