"""Preference: what votes between two texts say, each result with its interval."""
