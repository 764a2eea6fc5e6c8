"""The texts we send to models: two formats, each rendered by one function and named by a hash of its content."""

from prompts.chat import example_words, prompt_words, render_chat
from prompts.escaping import EscapedText, escape_delimiters
from prompts.formats import FORMATS, FormatName, fingerprint, render
from prompts.prompt import Message, Prompt, Question
from prompts.sep import completion_sep, render_sep

__all__ = [
    "FORMATS",
    "EscapedText",
    "FormatName",
    "Message",
    "Prompt",
    "Question",
    "completion_sep",
    "escape_delimiters",
    "example_words",
    "fingerprint",
    "prompt_words",
    "render",
    "render_chat",
    "render_sep",
]
