"""Engines: every model is reached through the OpenAI HTTP dialect."""

from ape.engines.protocol import DEFAULT, Engine, Health, Model, Reply, Sampling

__all__ = ["DEFAULT", "Engine", "Health", "Model", "Reply", "Sampling"]
