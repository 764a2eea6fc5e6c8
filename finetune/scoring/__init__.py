"""Drafts of a tuned model on held-out examples, and their scores."""
