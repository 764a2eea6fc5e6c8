"""Drafts of a tuned model on held-out examples, and what they are worth."""
