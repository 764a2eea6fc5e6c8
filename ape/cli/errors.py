"""Errors as the command line prints them: the library's sentence, and the flag to change.

The library names the field that an error is about; here the field becomes the flag of the command that was typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ape.errors import ApeError, InputError

# Fields whose parameter has another name.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "adapters": ("adapter",),
    "candidates": ("n",),
    "language": ("target_language",),
    "n": ("candidates",),
    "out": ("output",),
    "output": ("out",),
    "references": ("reference",),
    "systems": ("system",),
    "vllm_flags": ("flags",),
}
# Commands that create what an adapter directory lacks.
_COMMANDS: Mapping[str, str] = {"card": "ape models card", "gguf": "ape finetune export"}
PACKAGES = ("ape", "eval", "finetune", "prompts", "serve")


def describe_error(error: ApeError, command: Any, arguments: Sequence[str]) -> str:
    """The message of an error, followed by the command or flag for its field, unless the message names a flag.

    `command` is a click command, whose types typer keeps private.
    """
    message = str(error)
    if not isinstance(error, InputError):
        return message
    if remedy := _COMMANDS.get(error.field or ""):
        return f"{message} Run `{remedy}`."
    flag = _find_flag(error.field, _find_command(command, arguments))
    return f"{message} See {flag}." if flag and "--" not in message else message


def _find_command(command: Any, arguments: Sequence[str]) -> Any:
    """The command that was typed, for instance `ape book edit`."""
    for argument in arguments:
        commands: Mapping[str, Any] = getattr(command, "commands", {})
        if argument not in commands:
            break
        command = commands[argument]
    return command


def _find_flag(field: str | None, command: Any) -> str:
    if not field:
        return ""
    names = (field, *_PARAMETERS.get(field, ()))
    for parameter in command.params:
        if parameter.name in names and parameter.param_type_name == "option":
            return str(max(parameter.opts, key=len))
    return ""


def describe_package_conflict() -> str | None:
    """The sentence for another distribution that provides one of our packages, or None.

    Import names are not reserved on the package index, and names like `eval` are short.
    """
    root = Path(__file__).parents[2]
    for package in PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None or Path(spec.origin).parents[1] != root:
            from importlib.metadata import packages_distributions

            others = [name for name in packages_distributions().get(package, ()) if name != "ape-books"]
            owner = f"the distribution {others[0]}" if others else "another project"
            place = f" in {Path(spec.origin).parent}" if spec and spec.origin else ""
            return (
                f"The package `{package}`{place} belongs to {owner} and hides that of ape-books. Uninstall it, or "
                "install ape-books in a separate environment."
            )
    return None
