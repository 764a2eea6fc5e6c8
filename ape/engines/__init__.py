"""Engines: every model is reached through the OpenAI HTTP dialect."""
