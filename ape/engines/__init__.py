"""Engines: every model is reached through the OpenAI HTTP dialect."""

from ape.engines.protocol import DEFAULT, Engine, Model, Reply, Sampling

__all__ = ["DEFAULT", "Engine", "Model", "Reply", "Sampling"]
