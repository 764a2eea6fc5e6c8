"""The texts we send to models: two formats, each rendered by one function and named by a hash of its content."""

from prompts.chat import example_words, own_words, render_chat
from prompts.formats import FORMATS, Format, fingerprint, render
from prompts.neutral import Neutral, neutralise
from prompts.prompt import Message, Prompt, Question
from prompts.sep import completion_sep, render_sep

__all__ = [
    "FORMATS",
    "Format",
    "Message",
    "Neutral",
    "Prompt",
    "Question",
    "completion_sep",
    "example_words",
    "fingerprint",
    "neutralise",
    "own_words",
    "render",
    "render_chat",
    "render_sep",
]
