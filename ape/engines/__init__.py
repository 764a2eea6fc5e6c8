"""Engines: every model is reached through the OpenAI HTTP dialect."""

from ape.engines.protocol import DEFAULT_MODEL_NAME, Engine, EngineHealth, Model, Reply, Sampling

__all__ = ["DEFAULT_MODEL_NAME", "Engine", "EngineHealth", "Model", "Reply", "Sampling"]
