"""The texts we send to models, and the loader that renders and fingerprints them."""

from prompts.neutral import Neutral, neutralise
from prompts.render import Message, Prompt, Question, example_words, own_words, render_chat

__all__ = [
    "Message",
    "Neutral",
    "Prompt",
    "Question",
    "example_words",
    "neutralise",
    "own_words",
    "render_chat",
]
