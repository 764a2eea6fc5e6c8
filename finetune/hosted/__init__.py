"""Hosted fine-tuning with OpenAI's API: chat rows, validation, price estimate, jobs that are paid for once.

Only the `chat` format is supported: hosted models are chat models.
"""
