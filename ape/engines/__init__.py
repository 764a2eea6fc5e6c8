"""Engines: every model is reached through the OpenAI HTTP dialect."""

from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling

__all__ = ["Engine", "EngineHealth", "Model", "Reply", "Sampling"]
