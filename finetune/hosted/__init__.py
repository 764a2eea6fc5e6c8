"""Hosted fine-tuning with OpenAI's API: chat rows, validation, price estimate, jobs that are paid for once.

Only the `chat` format: the models that are hosted are chat models, and `ape edit --engine url` asks them as such.
"""
