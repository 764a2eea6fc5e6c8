"""Measuring: what the guards refuse and what they let through."""
