"""Engines: models behind the OpenAI HTTP API."""

from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling

__all__ = ["Engine", "EngineHealth", "Model", "Reply", "Sampling"]
