"""Commands whose help reads well at 80 columns, and which accept the earlier spellings of their options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ape.passage.options import SharedOptions

# Earlier spellings, each with the options that it may stand for: the one that a command has is meant.
EARLIER: Mapping[str, Sequence[str]] = {
    "--force": ("--overwrite",),
    "--format": ("--to", "--prompt-format"),
    "--items": ("--number",),
    "--lanes": ("--concurrency",),
    "--monolingual": ("--no-source",),
    "--n": ("--number",),
    "--names": ("--entities",),
    "--out": ("--output",),
    "--page": ("--html",),
    "--replace": ("--overwrite",),
    "--report": ("--html",),
    "--sample": ("--limit",),
}
# Options that are listed apart, since they mean the same in every command that has them.
_PANELS: Mapping[str, frozenset[str]] = {
    "Engine and model": frozenset({"engine", "url", "model", "adapter", "use"}),
    "Drafts": frozenset({"context", "n", *(field.name for field in fields(SharedOptions))}),
    "Languages and files": frozenset({"source_language", "target_language", "encoding", "format"}),
}
_FEWEST_IN_PANEL = 3
_WORDS: Mapping[str, str] = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT", "Path": "PATH", "bool": ""}


class Command(TyperCommand):
    """A command with types in words, options in groups, and earlier spellings."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            _describe(parameter)
        options: list[Any] = [one for one in self.params if one.param_type_name == "option"]
        for title, names in _PANELS.items():
            members = [one for one in options if one.name in names]
            if len(members) >= _FEWEST_IN_PANEL:
                for one in members:
                    one.rich_help_panel = title

    def get_help_option(self, ctx: Any) -> Any:
        """The option that prints the help."""
        return _without_type(super().get_help_option(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with earlier spellings replaced."""
        return super().parse_args(ctx, list(self._current(args)))

    def _current(self, args: Sequence[str]) -> Iterator[str]:
        known = {spelling for one in self.params for spelling in one.opts}
        for position, argument in enumerate(args):
            if argument == "--":
                yield from args[position:]
                return
            flag, sign, value = argument.partition("=")
            current = [one for one in EARLIER.get(flag, ()) if one in known and flag not in known]
            yield f"{current[0]}{sign}{value}" if current else argument


class _Group(TyperGroup):
    """The parser of a group, whose options are flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options, with those that typer adds for completion and help."""
        return [_without_type(option) for option in super().get_params(ctx)]


class CommandGroup(typer.Typer):
    """A group of commands that prints its help without arguments."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(no_args_is_help=True, **{"cls": _Group, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Register a command."""
        return super().command(name, **{"cls": Command, **settings})


def _without_type(option: Any) -> Any:
    if option is not None:
        option.display_type_rich = lambda ctx: ""
    return option


def _describe(parameter: Any) -> None:
    """Show the type in a word, and its choices or bounds at the end of the help.

    `parameter` is a click parameter, whose types typer keeps private.
    """
    kind = parameter.type_descriptor
    limits = ""
    if kind.is_choice:
        choices = [str(getattr(one, "value", one)) for one in kind.choices or ()]
        named = (parameter.help or "").lower()
        limits = "" if all(one in named for one in choices) else ", ".join(choices)
    elif kind.is_ranged:
        limits = _bounds(parameter.min, parameter.max)
    word = parameter.metavar if parameter.param_type_name == "option" else None
    if word is None:
        word = "CHOICE" if kind.is_choice else _word(parameter)
    parameter.display_type_rich = lambda ctx: word
    parameter._get_number_range_help_str = lambda: None
    if limits and parameter.help:
        parameter.help = f"{parameter.help.rstrip('.')} ({limits})."


def _word(parameter: Any) -> str:
    return next((word for name, word in _WORDS.items() if name in parameter.bare_type().replace("path", "Path")), "")


def _bounds(least: float | None, most: float | None) -> str:
    if most is None:
        return f"at least {least}"
    return f"at most {most}" if least is None else f"{least} to {most}"
