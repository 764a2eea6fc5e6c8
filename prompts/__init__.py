"""The texts that are sent to models: one object for each format, named by a hash of its content."""

from prompts.chat import CHAT
from prompts.escaping import EscapedText, escape_delimiters
from prompts.formats import DEFAULT_FORMAT, FORMATS, TUNED_FORMAT, prompt_format
from prompts.prompt import Message, Prompt, PromptFormat, Question
from prompts.sep import SEP

__all__ = [
    "CHAT",
    "DEFAULT_FORMAT",
    "FORMATS",
    "SEP",
    "TUNED_FORMAT",
    "EscapedText",
    "Message",
    "Prompt",
    "PromptFormat",
    "Question",
    "escape_delimiters",
    "prompt_format",
]
