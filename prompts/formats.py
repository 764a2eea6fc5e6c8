"""The prompt formats by name. A model is queried only in the format that it was made for."""

from __future__ import annotations

from collections.abc import Mapping

from prompts.chat import CHAT, EXAMPLES
from prompts.prompt import PromptFormat
from prompts.sep import SEP

FORMATS: Mapping[str, PromptFormat] = {"chat": CHAT, "examples": EXAMPLES, "sep": SEP}
# For a model that declares no format.
DEFAULT_FORMAT: PromptFormat = CHAT
# For the models that we train.
TUNED_FORMAT: PromptFormat = SEP


def prompt_format(name: str) -> PromptFormat:
    """The format with this name; ValueError if there is none."""
    if name not in FORMATS:
        raise ValueError(f"unknown prompt format {name!r}; known formats: {', '.join(FORMATS)}")
    return FORMATS[name]
