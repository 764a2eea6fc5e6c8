"""The texts we send to models, and the loader that renders and fingerprints them."""

from prompts.neutral import Neutral, neutralise
from prompts.render import Message, Prompt, Question, own_words, render_chat

__all__ = ["Message", "Neutral", "Prompt", "Question", "neutralise", "own_words", "render_chat"]
