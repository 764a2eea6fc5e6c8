"""What a field takes, in words, where a request, a file or a setting has something else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# By pydantic's type of the error; `{…}` are values of its context.
_SENTENCES: Mapping[str, str] = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "extra_forbidden": "there is no such field",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "missing": "required",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "path_type": "a path",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_type": "a text",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
    "tuple_type": "a list",
}
_ONE = {"at least 1 characters": "at least 1 character", "at least 1 items": "at least 1 item"}


def _plain(value: object) -> object:
    """2 for 2.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def describe_field_error(error: Mapping[str, Any]) -> str:
    """What the field of pydantic's error takes; its own sentence where there is no better one."""
    if error["type"] in ("literal_error", "enum"):
        return f"one of {', '.join(choices_in(error))}"
    sentence = _SENTENCES.get(str(error["type"]))
    if sentence is None:
        return str(error["msg"]).removeprefix("Value error, ")
    text = sentence.format_map({name: _plain(value) for name, value in error.get("ctx", {}).items()})
    return _ONE.get(text, text)


def choices_in(error: Mapping[str, Any]) -> list[str]:
    """The choices that pydantic's message names, such as "'book' or 'report'"."""
    expected = str(error["ctx"]["expected"])
    return re.findall(r"'([^']*)'", expected) or [expected]
