"""Every command: one name for each option, earlier spellings accepted, help that reads well at 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from ape.cli.command import EARLIER
from ape.cli.main import app
from tests.ape.cli.conftest import Run


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands of the parser, with the words to type."""
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from commands(child, (*words, name))
    else:
        yield words, command


COMMANDS = dict(commands(get_command(app)))
# What options are for, by words of their help, and their one name.
MEANINGS = {
    r"^(Output (file|path)|File to write;|Directory to write|JSON file to write)": "--output",
    r"^Replace (an|earlier)": "--overwrite",
    r"HTML report|^Page to write": "--html",
    r"^Hide the source": "--no-source",
    r"^(Export format|Format of the file:|Format: )": "--to",
    r"^Seed ": "--seed",
    r"edited concurrently": "--concurrency",
}


@pytest.mark.parametrize("meaning", MEANINGS)
def test_an_option_has_the_same_name_in_all_commands(meaning: str) -> None:
    names = {
        max(option.opts, key=len)
        for command in COMMANDS.values()
        for option in command.params
        if option.param_type_name == "option" and re.search(meaning, option.help or "")
    }
    assert names == {MEANINGS[meaning]}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_80_columns_with_types_in_words(here: Run, words: tuple[str, ...]) -> None:
    done = here(*words, "--help", COLUMNS="80", TERM="dumb")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not re.search(r"<(bool|str|int|float|path|list)|range>|<=x|x>=", done.stdout)
    assert all(max(one.opts, key=len) in done.stdout for one in COMMANDS[words].params if hasattr(one, "is_flag"))


@pytest.mark.parametrize("words", sorted({words[:-1] for words in COMMANDS}), ids=" ".join)
def test_help_of_a_group_has_types_in_words(here: Run, words: tuple[str, ...]) -> None:
    done = here(*words, "--help", COLUMNS="80", TERM="dumb")
    assert done.returncode == 0
    assert not re.search(r"<(bool|str|int|float|path|list)", done.stdout)


def test_every_earlier_spelling_stands_for_an_option_of_some_command() -> None:
    known = {spelling for command in COMMANDS.values() for option in command.params for spelling in option.opts}
    assert {name for current in EARLIER.values() for name in current} <= known


@pytest.mark.parametrize(
    ("words", "earlier", "current"),
    [
        ("finetune train", "--out", "--output"),
        ("finetune build", "--sample", "--limit"),
        ("eval mine", "--replace", "--overwrite"),
        ("models card", "--force", "--overwrite"),
        ("models card", "--format", "--prompt-format"),
        ("book export", "--format", "--to"),
        ("ab export", "--format", "--to"),
        ("book edit", "--report", "--html"),
        ("book edit", "--lanes", "--concurrency"),
        ("book edit", "--n", "--number"),
        ("demo", "--page", "--html"),
        ("ab make", "--items", "--number"),
        ("ab make", "--monolingual", "--no-source"),
        ("eval score", "--names", "--entities"),
    ],
)
def test_an_earlier_spelling_is_read_as_the_current_one(words: str, earlier: str, current: str) -> None:
    command = COMMANDS[tuple(words.split())]
    assert list(command._current([earlier, "x", f"{earlier}=x", "--", earlier])) == [
        current, "x", f"{current}=x", "--", earlier,
    ]  # fmt: skip


def test_an_option_that_a_command_has_is_not_taken_for_an_earlier_spelling() -> None:
    typed = ["--format", "markdown", "--names", "auto"]
    assert list(COMMANDS["book", "edit"]._current(typed)) == typed
